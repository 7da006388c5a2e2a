"""What is finished is kept whole, or not at all; and never taken for something else."""

import errno
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.tables.batch.journal import Journal, require_suffix, sole_writer, write_rows
from closecall.tables.batch.rows import UnitRows

ABOUT = {"data": "files:1:abc", "truth": "'label'"}
FIRST = UnitRows("a.parquet:0", pa.table({"f1": [0.5, None], "series": ["x", "y"]}))
SECOND = UnitRows("b/../c d:1", pa.table({"f1": [1.0], "series": ["z"]}), pa.table({"event": [7]}))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results.parquet"


def parts(journal):
    return {part.key: part for part in journal.finished()}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_units_come_back_as_they_were(out):
    journal = Journal.open(out, ABOUT)
    for part in (FIRST, SECOND):
        journal.write(part)
    found = parts(Journal.open(out, ABOUT, resume=True))
    assert found == {FIRST.key: FIRST, SECOND.key: SECOND}
    assert not out.exists()


def test_a_unit_that_is_written_again_is_there_once(out):
    journal = Journal.open(out, ABOUT)
    journal.write(SECOND)
    newer = UnitRows(SECOND.key, pa.table({"f1": [0.25]}))
    journal.write(newer)
    assert list(journal.finished()) == [newer]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:0],
        lambda content: content[:10],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: b"{}\n" + content.partition(b"\n")[2],
        lambda content: b"[1]\n" + content[:0],
        lambda content: content.replace(b"a.parquet:0", b"b.parquet:0"),
        lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    ],
)
def test_damaged_units_are_left_out(out, damage):
    journal = Journal.open(out, ABOUT)
    journal.write(FIRST)
    (path,) = journal.folder.glob("*.unit")
    path.write_bytes(damage(path.read_bytes()))
    journal.write(SECOND)
    assert list(journal.finished()) == [SECOND]


def test_what_was_being_written_is_left_out(out):
    journal = Journal.open(out, ABOUT)
    journal.write(FIRST)
    (path,) = journal.folder.glob("*.unit")
    path.rename(f"{path}.tmp")
    assert list(journal.finished()) == []
    journal.complete(FIRST.rows)
    assert names(out.parent) == ["results.parquet"]


def test_the_output_appears_with_its_events_and_nothing_else(out):
    journal = Journal.open(out, ABOUT)
    journal.write(SECOND)
    journal.note("thresholds", {"a": 0.1})
    assert names(out.parent) == ["results.parquet.partial"]
    journal.complete(SECOND.rows, SECOND.events)
    assert names(out.parent) == ["results.events.parquet", "results.parquet"]
    assert pq.read_table(out) == SECOND.rows
    assert pq.read_table(journal.events_out) == SECOND.events


def test_csv(tmp_path):
    journal = Journal.open(tmp_path / "results.csv", ABOUT)
    journal.complete(FIRST.rows, SECOND.events)
    assert (tmp_path / "results.csv").read_text() == 'f1,series\n0.5,"x"\n,"y"\n'
    assert (tmp_path / "results.events.csv").read_text() == "event\n7\n"


def test_a_crash_between_the_two_files_can_be_resumed(out, monkeypatch):
    journal = Journal.open(out, ABOUT)
    journal.write(SECOND)
    journal._place(SECOND.events, journal.events_out)  # and then the power fails
    again = Journal.open(out, ABOUT, resume=True)
    assert list(again.finished()) == [SECOND]
    again.complete(SECOND.rows, SECOND.events)
    assert names(out.parent) == ["results.events.parquet", "results.parquet"]


def test_a_crash_before_the_folder_is_gone_can_be_resumed(out):
    journal = Journal.open(out, ABOUT)
    journal.write(FIRST)
    journal._place(FIRST.rows, out)
    with pytest.raises(InputError, match="no unfinished batch at"):
        Journal.open(out, ABOUT)
    again = Journal.open(out, ABOUT, resume=True)
    again.complete(FIRST.rows)
    assert names(out.parent) == ["results.parquet"]


def test_notes(out):
    journal = Journal.open(out, ABOUT)
    assert journal.noted("thresholds") is None
    journal.note("thresholds", {"a": 0.1, "b": 1e300})
    assert Journal.open(out, ABOUT, resume=True).noted("thresholds") == {"a": 0.1, "b": 1e300}


def test_resume_begins_where_nothing_was_begun(out):
    assert list(Journal.open(out, ABOUT, resume=True).finished()) == []


def test_overwriting_keeps_the_old_output_until_there_is_a_new_one(out):
    Journal.open(out, ABOUT).complete(FIRST.rows, SECOND.events)
    journal = Journal.open(out, {**ABOUT, "truth": "'other'"}, overwrite=True)
    assert pq.read_table(out) == FIRST.rows
    journal.complete(SECOND.rows)
    assert pq.read_table(out) == SECOND.rows
    assert names(out.parent) == ["results.parquet"]  # the events were those of the old one


def test_overwriting_drops_what_was_begun(out):
    Journal.open(out, ABOUT).write(FIRST)
    journal = Journal.open(out, {"data": "other"}, overwrite=True)
    assert list(journal.finished()) == []


def test_files_of_others_are_not_removed(out):
    journal = Journal.open(out, ABOUT)
    (journal.folder / "thesis.doc").write_text("years of work")
    with pytest.raises(InputError, match="to hold only what a batch put there, got other files"):
        journal.complete(FIRST.rows)
    assert (journal.folder / "thesis.doc").read_text() == "years of work"
    assert pq.read_table(out) == FIRST.rows


def message(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_an_unfinished_batch_is_in_the_way(out):
    Journal.open(out, ABOUT).write(FIRST)
    assert message(lambda: Journal.open(out, ABOUT)) == (
        f"Expected no unfinished batch at {out}.partial, got one.\n\nHint: Go on with it with "
        "`resume=True` (`--resume`), or drop it with `overwrite=True` (`--overwrite`)."
    )


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"overwrite": True}])
def test_a_batch_that_finished_nothing_is_not_in_the_way(out, options):
    Journal.open(out, ABOUT)
    Journal.open(out, {"data": "other"}, **options).complete(FIRST.rows)
    assert names(out.parent) == ["results.parquet"]


@pytest.mark.parametrize("name", ["results.parquet", "results.events.parquet"])
def test_a_finished_output_is_in_the_way(out, name):
    out.with_name(name).write_text("precious")
    assert message(lambda: Journal.open(out, ABOUT)).startswith(
        f"Expected no file at {out.with_name(name)}, got one.\n\nHint: Replace it with"
    )
    assert names(out.parent) == [name]


def test_rows_of_events_are_not_replaced_by_resuming_nothing(out):
    events = out.with_name("results.events.parquet")
    events.write_text("precious")
    text = message(lambda: Journal.open(out, ABOUT, resume=True))
    assert text.startswith(f"Expected no file at {events}, got one.")
    assert events.read_text() == "precious"


def test_rows_of_events_of_a_batch_that_stopped_at_the_very_end_are_replaced(out):
    Journal.open(out, ABOUT).write(SECOND)
    events = out.with_name("results.events.parquet")
    events.write_text("half of the output")
    Journal.open(out, ABOUT, resume=True).complete(SECOND.rows, SECOND.events)
    assert pq.read_table(events).equals(SECOND.events)


def test_a_finished_output_is_not_resumed(out):
    Journal.open(out, ABOUT).complete(FIRST.rows)
    text = message(lambda: Journal.open(out, ABOUT, resume=True))
    assert text.startswith(f"Expected {out} to be unfinished, got a finished output.")


@pytest.mark.parametrize(
    ("other", "got"),
    [
        ({"truth": "'event'"}, "`truth` 'event', which was 'label'"),
        ({"data": "files:1:abd"}, "other data"),
        ({"new": "1"}, "`new` 1, which was none"),
    ],
)
def test_another_question_is_not_mixed_in(out, other, got):
    Journal.open(out, ABOUT).write(FIRST)
    text = message(lambda: Journal.open(out, {**ABOUT, **other}, resume=True))
    assert text.startswith(f"Expected to resume what {out}.partial was begun with, got {got}.")
    assert [part.key for part in Journal.open(out, ABOUT, resume=True).finished()] == [FIRST.key]


@pytest.mark.parametrize("content", [None, b"", b"[1"])
def test_a_folder_without_a_manifest_is_not_taken_for_a_batch(out, content):
    journal = Journal.open(out, ABOUT)
    journal.write(FIRST)
    (journal.folder / "manifest.json").unlink()
    if content is not None:
        (journal.folder / "manifest.json").write_bytes(content)
    text = message(lambda: Journal.open(out, ABOUT, resume=True))
    assert "to be of a batch, got no manifest in it" in text


def test_refused_places(tmp_path):
    assert "`out` to end in .parquet or .csv" in message(lambda: Journal.open("results.xls", ABOUT))
    assert message(lambda: Journal.open(tmp_path / "no" / "r.csv", ABOUT)) == (
        f"Expected a folder at {tmp_path / 'no'}, got none."
    )
    both = {"resume": True, "overwrite": True}
    assert "either `resume` or `overwrite`, got both" in message(
        lambda: Journal.open(tmp_path / "r.csv", ABOUT, **both)
    )


def test_a_full_disk_names_the_file_of_a_unit(out):
    journal = Journal.open(out, ABOUT)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"results\.parquet\.partial") as caught:
            journal.write(UnitRows("large", pa.table({"f1": range(100_000)})))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename.startswith(str(journal.folder))


ROWS = pa.table({"f1": [0.5, 1.0]})


def test_parquet_and_csv(tmp_path, capfdbinary):
    for name in ("rows.parquet", "rows.pq"):
        write_rows(ROWS, tmp_path / name)
        assert pq.read_table(tmp_path / name).equals(ROWS)
    write_rows(ROWS, str(tmp_path / "rows.csv"))
    assert (tmp_path / "rows.csv").read_text() == "f1\n0.5\n1\n"


def test_nothing_else(tmp_path):
    with pytest.raises(
        InputError, match=r"Expected `path` to end in .parquet or .csv, got '.*xlsx'"
    ):
        write_rows(ROWS, tmp_path / "rows.xlsx")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="Expected `out` to end"):
        require_suffix("rows", "out")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_lengths_of_time_are_seconds_in_text_only(tmp_path, capfd, unit):
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    lengths = pa.array([90 * ticks, None, -ticks], pa.duration(unit))
    table = pa.table({"early": lengths, "f1": [0.5, 1.0, 0.0]})
    write_rows(table, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "early,f1\n90,0.5\n,1\n-1,0\n"
    write_rows(table, tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").equals(table)
    write_rows(table, "-")
    assert capfd.readouterr().out.startswith("early,f1\n90,0.5\n")


def test_parts_of_seconds_have_the_digits_of_a_float(tmp_path):
    lengths = np.array([1, 2**53 + 1, 123_456_789_012], dtype="m8[ns]")
    write_rows(pa.table({"early": lengths}), tmp_path / "rows.csv")
    written = (tmp_path / "rows.csv").read_text().split()[1:]
    assert [float(text) for text in written] == (lengths / np.timedelta64(1, "s")).tolist()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_full_disk_names_the_file(tmp_path, name):
    table = pa.table({"f1": np.random.default_rng(0).random(20_000)})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"rows\.") as caught:
            write_rows(table, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename == str(tmp_path / name)


HOLD = (
    "import sys, time; from closecall.tables.batch.journal import sole_writer\n"
    "with sole_writer(sys.argv[1]):\n"
    "    print('held', flush=True); time.sleep(60)"
)


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
    monkeypatch.setattr("closecall.tables.batch.journal._locked", lambda _: lock.unlink() is None)
    with pytest.raises(InputError, match="no other batch"), sole_writer(out):
        pass


def test_a_place_that_is_not_there_is_left_to_the_writer(tmp_path):
    entered = False
    with sole_writer(tmp_path / "missing" / "results.parquet"):
        entered = True
    assert entered
