"""What is wrong with a series, in a word and a line."""

from __future__ import annotations

import pytest

from closecall.errors import InputError
from closecall.tables.batch.status import one_line
from closecall.tables.series import with_status


def test_only_the_reason_is_kept_and_bugs_name_their_kind():
    assert one_line(InputError("a", "b", hint="c.")) == "Expected a, got b."
    assert one_line(KeyError("x")) == "KeyError: 'x'"
    assert one_line(MemoryError()) == "MemoryError"


def test_errors_get_a_status_and_bugs_pass():
    with pytest.raises(InputError) as caught, with_status("bad_times"):
        raise InputError("a", "b")
    assert caught.value.status == "bad_times"
    with pytest.raises(ZeroDivisionError), with_status("bad_times"):
        _ = 1 / 0


def test_the_first_status_stays():
    with pytest.raises(InputError) as caught, with_status("bad_scores"), with_status("nan_score"):
        raise InputError("a", "nan")
    assert caught.value.status == "nan_score"
