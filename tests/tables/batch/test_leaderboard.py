"""Ranks by hand: ties share the mean rank, what is undefined is last."""

from __future__ import annotations

from math import nan

import numpy as np
import pyarrow as pa
import pytest

from closecall.tables.batch.leaderboard import higher_is_better, rank_detectors, values_by_series
from closecall.tables.batch.question import Question

QUESTION = Question.ask(by="series", truth="label", predicted=["x", "y", "z"])
VALUES = {
    "s1": (0.9, 0.9, 0.1),
    "s2": (0.8, nan, 0.4),
    "s3": (nan, nan, nan),
    "s4": (0.2, 0.6, 0.7),
}


def rows(values=VALUES, columns=("affiliation_f1",)):
    table = [
        {"series": name, "detector": detector, **dict.fromkeys(columns, value)}
        for name, own in values.items()
        for detector, value in zip("xyz", own, strict=True)
    ]
    return pa.Table.from_pylist(table)


def test_ranks_by_hand():
    board = rank_detectors(rows(), QUESTION, "affiliation_f1").to_pylist()
    assert [line["detector"] for line in board] == ["y", "x", "z"]
    by_name = {line["detector"]: line for line in board}
    assert by_name["y"]["mean_affiliation_f1"] == pytest.approx((0.9 + 0.6) / 2)
    assert by_name["x"]["mean_affiliation_f1"] == pytest.approx((0.9 + 0.8 + 0.2) / 3)
    # Ranks on s1: 1.5, 1.5, 3; on s2: 1, 3 (undefined), 2; on s4: 3, 2, 1; s3 has none.
    assert by_name["x"]["mean_rank"] == pytest.approx((1.5 + 1 + 3) / 3)
    assert by_name["y"]["mean_rank"] == pytest.approx((1.5 + 3 + 2) / 3)
    assert by_name["z"]["mean_rank"] == pytest.approx((3 + 2 + 1) / 3)
    assert {name: line["best_on"] for name, line in by_name.items()} == {"x": 2, "y": 1, "z": 1}
    assert {name: line["undefined"] for name, line in by_name.items()} == {"x": 1, "y": 2, "z": 1}
    assert {line["series"] for line in board} == {4}


def test_nobody_has_a_value():
    board = rank_detectors(rows({"s": (nan, nan, nan)}), QUESTION, "affiliation_f1").to_pylist()
    assert all(np.isnan(line["rank"]) for line in board)
    assert all(np.isnan(line["mean_rank"]) and line["best_on"] == 0 for line in board)


def test_distances_are_better_when_they_are_short():
    question = Question.ask(
        by="series", truth="label", predicted=["x", "y", "z"], metrics=["hausdorff", "affiliation"]
    )
    assert not higher_is_better("hausdorff", question)
    assert higher_is_better("affiliation_f1", question)
    assert higher_is_better("chance_f1", question)
    scored = Question.ask(by="series", truth="label", score=["x"])
    assert higher_is_better("chance_average_precision", scored)
    board = rank_detectors(rows({"s": (3.0, 1.0, 2.0)}, ("hausdorff",)), question, "hausdorff")
    assert board["detector"].to_pylist() == ["y", "z", "x"]


def test_values_are_laid_out_by_detector_and_series():
    series, detectors, values = values_by_series(rows(), QUESTION, "affiliation_f1")
    assert (series, detectors) == (["s1", "s2", "s3", "s4"], ["x", "y", "z"])
    np.testing.assert_array_equal(values.T, list(VALUES.values()))


def test_a_detector_without_a_value_has_no_rank_and_comes_last():
    board = rank_detectors(rows({"s": (nan, 0.5, 0.75)}), QUESTION, "affiliation_f1").to_pylist()
    assert [line["detector"] for line in board] == ["z", "y", "x"]
    assert [line["rank"] for line in board[:2]] == [1.0, 2.0]
    assert np.isnan(board[2]["rank"])
