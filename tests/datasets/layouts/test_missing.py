"""Which series are read when files of scores are missing, or are too many."""

from pathlib import Path

import pytest

from closecall.datasets.layouts.missing import detector_folders, series_to_read
from closecall.errors import InputError


def files(**detectors):
    return {
        name: {series: Path(name) / series for series in own} for name, own in detectors.items()
    }


def refusal(*arguments):
    with pytest.raises(InputError) as caught:
        series_to_read(*arguments)
    return str(caught.value)


def test_names_are_sorted_and_need_no_detector():
    assert series_to_read({"b": 1, "c": 2, "a": 3}, {}, "error") == ["a", "b", "c"]
    assert series_to_read("ba", files(x="ab", y="ab"), "error") == ["a", "b"]


def test_gaps_are_counted():
    assert "none of the detector 'y' for the series 'a' (nor for 2 more)." in refusal(
        "abcd", files(x="abcd", y="b"), "error"
    )
    assert series_to_read("abcd", files(x="abcd", y="b"), "nan") == ["a", "b", "c", "d"]
    assert series_to_read("abcd", files(x="abd", y="bd"), "drop") == ["b", "d"]


def test_scores_without_a_series_are_only_dropped():
    for missing in ("error", "nan"):
        assert refusal("a", files(x="az"), missing) == (
            "Expected a series in the data for each file of scores, such as x/z, got none that is "
            "called 'z'.\n\nHint: `missing=\"drop\"` (`--missing drop`) reads only what is in both."
        )
    assert series_to_read("a", files(x="az"), "drop") == ["a"]


def test_nothing_is_left():
    assert refusal("ab", files(x="a", y="b"), "drop") == (
        "Expected a series that every detector has scores for, got none among 2.\n\n"
        'Hint: `missing="nan"` (`--missing nan`) keeps every series.'
    )


def test_a_detector_without_any_scores():
    for missing in ("error", "drop"):
        assert refusal("a", files(x="a", y=""), missing) == (
            "Expected scores of every detector, got none of the detector 'y'.\n\nHint: Remove its "
            'folder, or keep it with nan as its scores: `missing="nan"` (`--missing nan`).'
        )
    assert series_to_read("a", files(x="a", y=""), "nan") == ["a"]


def test_folders_of_detectors(tmp_path):
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "c").write_text("")
    assert detector_folders(tmp_path) == [tmp_path / "a", tmp_path / "b"]


def test_names_and_options_that_cannot_be():
    assert refusal("a", files(label="a"), "error") == (
        "Expected no detector to be called series, timestamp or label, got 'label'.\n\n"
        "Hint: Those are the table's own columns: rename its folder."
    )
    assert refusal("a", {}, "skip") == (
        'Expected `missing` to be "error", "nan" or "drop", got \'skip\'.'
    )
