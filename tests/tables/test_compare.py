"""Several columns of detectors in, the library's own comparison out."""

import pyarrow as pa
import pytest

import closecall as cc
from closecall.compare import compare
from closecall.errors import InputError, InputTypeError
from closecall.tables import compare_files, compare_tables

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
MINE = [0, 0, 0, 1, 1, 0, 0, 1, 0, 0]
THEIRS = [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
SCORE = [0, 1, 5, 9, 2, 0, 3, 0, 8, 1]
TABLE = pa.table({"truth": TRUTH, "mine": MINE, "theirs": THEIRS, "score": SCORE})
NAMES = ("a.csv", "b.csv")
COLUMNS = "The columns of a.csv are: truth, mine, theirs, score."


def same(compared, expected):
    assert compared.to_dict() == expected.to_dict()


def test_labels_and_scores_of_one_table():
    options = {"thresholds": {"score": 5}, "decimals": 1}
    same(
        compare_tables(TABLE, predicted=["mine", "theirs"], scores=["score"], **options),
        compare(TRUTH, {"mine": MINE, "theirs": THEIRS}, scores={"score": SCORE}, **options),
    )


def test_two_tables_with_times_in_either():
    times = list(range(5, 55, 5))
    expected = compare(TRUTH, {"mine": MINE, "theirs": THEIRS}, times=times)
    truth, detectors = TABLE.select(["truth"]), TABLE.select(["mine", "theirs"])
    for tables in (
        (truth.append_column("t", pa.array(times)), detectors),
        (truth, detectors.append_column("t", pa.array(times))),
    ):
        same(compare_tables(*tables, predicted=["mine", "theirs"], time="t"), expected)


def test_an_event_list_against_scores_and_labels():
    incidents = pa.table({"from": [2, 8], "to": [4, 9]})
    detectors = TABLE.append_column("t", pa.array(range(10)))
    compared = compare_tables(
        *(incidents, detectors), truth="from,to", predicted=["mine"], scores=["score"], time="t"
    )
    expected = compare(
        cc.Events([(2, 4), (8, 9)]), {"mine": MINE}, scores={"score": SCORE}, times=range(10)
    )
    same(compared, expected)


def test_files(tmp_path):
    rows = "".join(f"{t},{a},{b}\n" for t, a, b in zip(TRUTH, MINE, THEIRS, strict=True))
    (tmp_path / "results.csv").write_text(f"label,mine,theirs\n{rows}")
    compared = compare_files(
        tmp_path / "results.csv", truth="label", predicted=["mine", "theirs"], span=(0, 20)
    )
    same(compared, compare(TRUTH, {"mine": MINE, "theirs": THEIRS}, span=(0, 20)))


REFUSED = {
    "none": (
        {},
        f"Expected columns of at least two detectors to compare, got none.\n\nHint: {COLUMNS}",
    ),
    "one": (
        {"scores": ["score"]},
        (
            "Expected columns of at least two detectors to compare, got only 'score'.\n\n"
            f"Hint: {COLUMNS}"
        ),
    ),
    "twice": (
        {"predicted": ["mine"], "scores": ["mine"]},
        (
            "Expected each detector's column to be named once, got 'mine' 2 times.\n\n"
            f"Hint: {COLUMNS}"
        ),
    ),
    "misspelt": (
        {"predicted": ["mine", "their"]},
        (
            "Expected `predicted` to name a column of a.csv, got 'their'.\n\nHint: Did you mean "
            "'theirs'? Its columns are: truth, mine, theirs, score."
        ),
    ),
}


@pytest.mark.parametrize(("columns", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_columns(columns, message):
    with pytest.raises(InputError) as caught:
        compare_tables(TABLE, **columns, names=NAMES)
    assert str(caught.value) == message


def test_event_lists_need_times():
    incidents = pa.table({"start": [2], "stop": [4]})
    with pytest.raises(InputTypeError, match="`time` beside a list of events, got none"):
        compare_tables(incidents, TABLE, predicted=["mine", "theirs"])


def test_standard_input_only_once():
    with pytest.raises(InputError, match="standard input to be read once"):
        compare_files("-", "-", predicted=["mine", "theirs"])
