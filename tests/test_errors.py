"""The wording that every message shares, and what the classes can be caught as."""

import pytest

from closecall.errors import (
    ClosecallError,
    InputError,
    InputTypeError,
    MissingExtraError,
    UndefinedMetricError,
    expected,
    renamed,
)


def test_message_with_a_hint():
    assert expected("`end` to be 7", "3", "Pass 7.") == (
        "Expected `end` to be 7, got 3.\n\nHint: Pass 7."
    )


def test_message_without_a_hint():
    assert expected("`end` to be 7", "3") == "Expected `end` to be 7, got 3."


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
        "This needs rich, which is not installed.\n\nHint: run `pip install 'closecall[cli]'`."
    )


def test_renamed_arguments_keep_the_class_and_the_hint():
    with (
        pytest.raises(UndefinedMetricError) as caught,
        renamed({"truth": "labels", "predicted": "pred"}),
    ):
        raise UndefinedMetricError("Expected `truth` beside `predicted`.\n\nHint: Mend truth.")
    assert str(caught.value) == "Expected `labels` beside `pred`.\n\nHint: Mend truth."
    with pytest.raises(MissingExtraError, match="needs `truth`"), renamed({"truth": "labels"}):
        raise MissingExtraError("`truth`")
