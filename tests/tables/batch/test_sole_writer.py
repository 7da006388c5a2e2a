"""Only one batch at a time writes to an output."""

import subprocess
import sys

import pytest

from closecall.errors import InputError
from closecall.tables.batch.sole_writer import sole_writer

HOLD = (
    "import sys, time; from closecall.tables.batch.sole_writer import sole_writer\n"
    "with sole_writer(sys.argv[1]):\n"
    "    print('held', flush=True); time.sleep(60)"
)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results.parquet"


def test_another_process_is_refused_until_the_first_is_dead(out):
    with subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, "-c", HOLD, str(out)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(InputError) as caught, sole_writer(out):
            pass
        assert str(caught.value) == (
            f"Expected no other batch to be writing to {out}, got one.\n\n"
            "Hint: Wait for it, or choose another output."
        )
        process.kill()
    assert out.with_name("results.parquet.lock").exists()  # it had no time to remove it
    with sole_writer(out):
        pass
    assert list(out.parent.iterdir()) == []


def test_it_is_free_again_after_an_error(out):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), sole_writer(out):
            _ = 1 / 0
    assert list(out.parent.iterdir()) == []


def test_other_outputs_are_free(out):
    with sole_writer(out), sole_writer(out.with_name("others.parquet")):
        pass


def test_a_lock_that_its_owner_removed_meanwhile_is_not_taken(out, monkeypatch):
    lock = out.with_name("results.parquet.lock")
    monkeypatch.setattr(
        "closecall.tables.batch.sole_writer._locked", lambda _: lock.unlink() is None
    )
    with pytest.raises(InputError, match="no other batch"), sole_writer(out):
        pass


def test_a_place_that_is_not_there_is_left_to_the_writer(tmp_path):
    entered = False
    with sole_writer(tmp_path / "missing" / "results.parquet"):
        entered = True
    assert entered
