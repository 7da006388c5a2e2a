"""What is wrong with a series, in a word and a line."""

from __future__ import annotations

import pytest

from closecall.errors import InputError
from closecall.tables.batch.status import SeriesError, one_line, with_status


def test_only_the_first_line_is_kept_and_bugs_name_their_kind():
    assert one_line(InputError("Expected a, got b.\n\nHint: c.")) == "Expected a, got b."
    assert one_line(KeyError("x")) == "KeyError: 'x'"
    assert one_line(MemoryError()) == "MemoryError"


def test_what_can_be_mended_is_blamed_and_the_rest_passes():
    with pytest.raises(SeriesError, match="too long") as caught, with_status("bad_times"):
        raise InputError("too long\n\nHint: cut it.")
    assert (caught.value.status, caught.value.reason) == ("bad_times", "too long")
    with pytest.raises(ZeroDivisionError), with_status("bad_times"):
        _ = 1 / 0


def test_the_first_to_blame_wins():
    with pytest.raises(SeriesError) as caught, with_status("bad_scores"), with_status("nan_score"):
        raise InputError("nan")
    assert caught.value.status == "nan_score"
