"""The wording that every message shares, and what the classes can be caught as."""

import pickle

import pytest

from closecall.errors import (
    ClosecallError,
    InputError,
    InputTypeError,
    MissingExtraError,
    UndefinedMetricError,
    UnevenTimesError,
    reason,
    with_names,
    worded,
)


def test_a_message_is_made_from_the_fields():
    error = InputError("labels to be 0 or 1", "2", argument="truth", index=3, hint="Pass 0 or 1.")
    assert str(error) == (
        "Expected `truth` labels to be 0 or 1, got 2 at index 3.\n\nHint: Pass 0 or 1."
    )
    assert reason(error) == "Expected `truth` labels to be 0 or 1, got 2 at index 3."


def test_a_rule_without_anything_got_is_a_sentence():
    assert str(InputError("All time is ignored.")) == "All time is ignored."


def test_the_command_line_has_names_and_hints_of_its_own():
    error = InputError(
        "to lie before `until`", "`since`", argument="since", hint="Python's.", code="x", by=4
    )
    assert worded(
        error, {"since": "--from", "until": "--until"}.__getitem__, {"x": "By {by}."}
    ) == ("Expected `--from` to lie before `--until`, got `--from`.\n\nHint: By 4.")
    assert worded(error, hints={"y": "another"}).endswith("Hint: Python's.")


def test_fields_survive_a_process():
    error = UnevenTimesError("for uneven times", "none", argument="end", code="uneven", end=7)
    error.status = "bad_times"
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
    missing = pickle.loads(pickle.dumps(MissingExtraError("rich", "cli")))  # noqa: S301
    assert "closecall[cli]" in str(missing)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InputError, ValueError),
        (InputTypeError, TypeError),
        (UndefinedMetricError, ValueError),
        (MissingExtraError, ImportError),
    ],
)
def test_each_error_is_also_the_builtin_one(error, builtin):
    assert issubclass(error, builtin)
    assert issubclass(error, ClosecallError)


def test_undefined_is_told_apart_from_malformed():
    assert issubclass(UndefinedMetricError, InputError)
    assert not issubclass(InputError, UndefinedMetricError)


def test_missing_extra_names_the_install_command():
    assert str(MissingExtraError("rich", "cli")) == (
        "This needs rich, which is not installed.\n\nHint: Run `pip install 'closecall[cli]'`."
    )


def test_callers_name_the_arguments_that_they_pass_on():
    with (
        pytest.raises(UndefinedMetricError) as caught,
        with_names({"labels": "y_true"}),
        with_names({"truth": "labels", "predicted": "pred"}),
    ):
        raise UndefinedMetricError(
            "beside `predicted`", "`end=3`", argument="truth", hint="`truth`"
        )
    assert str(caught.value) == "Expected `y_true` beside `pred`, got `end=3`.\n\nHint: `y_true`"
