"""What is finished is kept whole, or not at all; and never taken for something else."""

import errno
import json
import pickle
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.tables.batch.journal import Journal, require_suffix, sole_writer, write_rows
from closecall.tables.batch.rows import EVENT_COLUMNS, UnitRows
from tests.conftest import full_disk

ABOUT = {"data": "files:1:abc", "truth": "'label'"}
EVENTS = pa.table({name: [7] for name in EVENT_COLUMNS})
FIRST = UnitRows("a.parquet:0", pa.table({"f1": [0.5, None], "series": ["x", "y"]}))
SECOND = UnitRows("b/../c d:1", pa.table({"f1": [1.0], "series": ["z"]}), EVENTS)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results.parquet"


def keep(journal, part):
    journal.keep(part.key, part.tables)


def finished(journal):
    return [UnitRows(key, *tables) for key, tables in journal.kept().items()]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_units_come_back_as_they_were(out):
    journal = Journal.open(out, ABOUT)
    for part in (FIRST, SECOND):
        keep(journal, part)
    found = finished(Journal.open(out, ABOUT, resume=True))
    assert sorted(found, key=lambda part: part.key) == [FIRST, SECOND]
    assert not out.exists()


def test_a_unit_that_is_written_again_is_there_once(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, SECOND)
    keep(journal, SECOND)
    assert finished(journal) == [SECOND]
    assert len(list(journal.folder.glob("*.unit"))) == 1


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
    keep(journal, FIRST)
    (path,) = journal.folder.glob("*.unit")
    path.write_bytes(damage(path.read_bytes()))
    keep(journal, SECOND)
    assert finished(journal) == [SECOND]


def test_what_was_being_written_is_left_out(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    (path,) = journal.folder.glob("*.unit")
    path.rename(path.with_name(f".closecall-{'0f' * 16}.unit"))
    (path.parent / f".closecall-{'1e' * 16}.parquet").write_bytes(b"PAR1")
    assert finished(journal) == []
    journal.complete(FIRST.rows)
    assert names(out.parent) == ["results.parquet"]


def test_the_output_appears_with_its_events_and_nothing_else(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, SECOND)
    keep(journal, FIRST)
    assert names(out.parent) == ["results.parquet.partial"]
    journal.complete(SECOND.rows, SECOND.events)
    assert names(out.parent) == ["results.events.parquet", "results.parquet"]
    assert pq.read_table(out) == SECOND.rows
    assert pq.read_table(journal.events_out) == SECOND.events


def test_csv(tmp_path):
    journal = Journal.open(tmp_path / "results.csv", ABOUT)
    journal.complete(FIRST.rows, SECOND.events)
    assert (tmp_path / "results.csv").read_text() == 'f1,series\n0.5,"x"\n,"y"\n'
    assert (tmp_path / "results.events.csv").read_text().startswith("event,first_sample,")


def test_a_crash_between_the_two_files_can_be_resumed(out, monkeypatch):
    journal = Journal.open(out, ABOUT)
    keep(journal, SECOND)
    with journal._placed(SECOND.events, journal.events_out):
        pass  # and then the power fails
    again = Journal.open(out, ABOUT, resume=True)
    assert finished(again) == [SECOND]
    again.complete(SECOND.rows, SECOND.events)
    assert names(out.parent) == ["results.events.parquet", "results.parquet"]


def test_a_crash_before_the_folder_is_gone_can_be_resumed(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    with journal._placed(FIRST.rows, out):
        pass
    with pytest.raises(InputError, match="no unfinished batch at"):
        Journal.open(out, ABOUT)
    again = Journal.open(out, ABOUT, resume=True)
    again.complete(FIRST.rows)
    assert names(out.parent) == ["results.parquet"]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("removed", [0, 1, 2])
def test_a_crash_while_the_folder_goes_can_be_resumed(out, monkeypatch, removed, backwards):
    """Whatever the order in which the disk lists files."""
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    keep(journal, SECOND)
    unlink, listed, gone = Path.unlink, Path.iterdir, []

    def killed(path, **options):
        if path.parent == journal.folder:
            if len(gone) == removed:
                raise KeyboardInterrupt
            gone.append(path.name)
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", lambda path: sorted(listed(path), reverse=backwards))
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            journal.complete(FIRST.rows)
    assert len(gone) == removed
    if journal._is_begun():
        Journal.open(out, ABOUT, resume=True).complete(FIRST.rows)
        assert names(out.parent) == ["results.parquet"]
    assert pq.read_table(out) == FIRST.rows


def test_resume_begins_where_nothing_was_begun(out):
    assert finished(Journal.open(out, ABOUT, resume=True)) == []


def test_overwriting_keeps_the_old_output_until_there_is_a_new_one(out):
    Journal.open(out, ABOUT).complete(FIRST.rows, SECOND.events)
    journal = Journal.open(out, {**ABOUT, "truth": "'other'"}, overwrite=True)
    assert pq.read_table(out) == FIRST.rows
    journal.complete(SECOND.rows)
    assert pq.read_table(out) == SECOND.rows
    assert names(out.parent) == ["results.parquet"]  # the events were those of the old one


def test_overwriting_drops_what_was_begun(out):
    keep(Journal.open(out, ABOUT), FIRST)
    journal = Journal.open(out, {"data": "other"}, overwrite=True)
    assert finished(journal) == []


def test_files_of_others_are_not_removed(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    (journal.folder / "thesis.doc").write_text("years of work")
    with pytest.raises(InputError, match="to hold only what a batch put there, got other files"):
        journal.complete(FIRST.rows)
    assert names(journal.folder) == ["thesis.doc"]
    assert pq.read_table(out) == FIRST.rows


def message(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_an_unfinished_batch_is_in_the_way(out):
    keep(Journal.open(out, ABOUT), FIRST)
    assert message(lambda: Journal.open(out, ABOUT)) == (
        f"Expected no unfinished batch at {out}.partial, got one.\n\nHint: Go on with it with "
        "`resume=True`, or drop it with `overwrite=True`."
    )


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"overwrite": True}])
def test_a_batch_that_finished_nothing_is_not_in_the_way(out, options):
    journal = Journal.open(out, ABOUT)
    (journal.folder / f".closecall-{'0f' * 16}.unit").write_bytes(b"half of a unit")
    Journal.open(out, {"data": "other"}, **options).complete(FIRST.rows)
    assert names(out.parent) == ["results.parquet"]


@pytest.mark.parametrize("name", ["results.parquet", "results.events.parquet"])
def test_a_finished_output_is_in_the_way(out, name):
    pq.write_table(EVENTS, out.with_name(name))
    assert message(lambda: Journal.open(out, ABOUT)).startswith(
        f"Expected no file at {out.with_name(name)}, got one.\n\nHint: Replace it with"
    )
    assert names(out.parent) == [name]


def test_rows_of_events_of_a_batch_that_stopped_at_the_very_end_are_replaced(out):
    keep(Journal.open(out, ABOUT), SECOND)
    events = out.with_name("results.events.parquet")
    pq.write_table(EVENTS, events)
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
    keep(Journal.open(out, ABOUT), FIRST)
    text = message(lambda: Journal.open(out, {**ABOUT, **other}, resume=True))
    assert text.startswith(f"Expected to resume what {out}.partial was begun with, got {got}.")
    assert list(Journal.open(out, ABOUT, resume=True).kept()) == [FIRST.key]


@pytest.mark.parametrize("content", [None, b"", b"[1"])
def test_a_folder_without_a_manifest_is_not_taken_for_a_batch(out, content):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
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
    with full_disk(20_000), pytest.raises(OSError, match=r"results\.parquet\.partial") as caught:
        journal.keep("large", [pa.table({"f1": range(100_000)})])
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
    with full_disk(50_000), pytest.raises(OSError, match=r"rows\.") as caught:
        write_rows(table, tmp_path / name)
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
    monkeypatch.setattr("fcntl.flock", lambda *_: lock.unlink())
    with pytest.raises(InputError, match="no other batch"), sole_writer(out):
        pass


def test_a_place_that_is_not_there_is_left_to_the_writer(tmp_path):
    entered = False
    with sole_writer(tmp_path / "missing" / "results.parquet"):
        entered = True
    assert entered


TAMPERED = {
    "rows changed": lambda head, body: (head, body.replace(b"x", b"q", 1)),
    "a key of another unit": lambda head, body: ({**head, "key": "other"}, body),
    "more after the end": lambda head, body: (head, body + b" "),
    "no key": lambda head, body: ({"format": head["format"]}, body),
    "a pickle": lambda head, _: (head, pickle.dumps(Bomb())),
}


class Bomb:
    """What a file of somebody else's might hold."""

    def __reduce__(self):
        return pytest.fail, ("the journal was executed",)


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_what_was_tampered_with_is_noticed_and_never_executed(out, tamper, renamed):
    """Also under the name that its content alone would have."""
    journal = Journal.open(out, ABOUT)
    journal.keep("a", [FIRST.rows])
    (path,) = journal.folder.glob("*.unit")
    head, _, body = path.read_bytes().partition(b"\n")
    head, body = tamper(json.loads(head), body)
    content = json.dumps(head).encode() + b"\n" + body
    path.write_bytes(content)
    if renamed:
        path.rename(path.with_name(f"{sha256(content).hexdigest()}.unit"))
    assert Journal.open(out, ABOUT, resume=True).kept() == {}


def test_a_unit_of_another_batch_and_a_copy_under_another_name_are_noticed(out):
    journal, other = Journal.open(out, ABOUT), Journal.open(out.with_name("b.csv"), {"data": "b"})
    keep(journal, FIRST)
    keep(other, SECOND)
    (path,) = other.folder.glob("*.unit")
    shutil.copy(path, journal.folder)
    (own,) = (one for one in journal.folder.glob("*.unit") if one.name != path.name)
    shutil.copy(own, journal.folder / f"{'0' * 64}.unit")
    assert finished(journal) == [FIRST]


def test_a_manifest_that_was_changed_to_fit_another_question(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    manifest = journal.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("label", "other"))
    other = {**ABOUT, "truth": "'other'"}
    assert Journal.open(out, other, resume=True).kept() == {}


def test_a_folder_of_an_older_version_is_told_so(out):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    (journal.folder / "manifest.json").write_text('{"format": "closecall journal 3"}')
    text = message(lambda: Journal.open(out, ABOUT, resume=True))
    assert "got `format` closecall journal 4, which was closecall journal 3" in text
    assert names(Journal.open(out, ABOUT, overwrite=True).folder) == ["manifest.json"]


@pytest.mark.parametrize("way", [{"resume": True}, {"overwrite": True}, {}])
def test_files_of_others_in_the_folder_are_told_before_a_batch_begins(out, way):
    journal = Journal.open(out, ABOUT)
    keep(journal, FIRST)
    before = [*names(journal.folder), "thesis.doc"]
    (journal.folder / "thesis.doc").write_text("years of work")
    with pytest.raises(InputError, match="to hold only what a batch put there, got other files"):
        Journal.open(out, ABOUT, **way)
    assert sorted(names(journal.folder)) == sorted(before)


def test_a_file_in_the_place_of_the_folder_is_refused(out):
    out.with_name("results.parquet.partial").write_text("years of work")
    for options in ({}, {"resume": True}, {"overwrite": True}):
        text = message(lambda options=options: Journal.open(out, ABOUT, **options))
        assert text.startswith(f"Expected {out}.partial to hold only what a batch put there, got")
    assert out.with_name("results.parquet.partial").read_text() == "years of work"


def test_a_lock_of_somebody_else_is_neither_removed_nor_changed(out):
    lock = out.with_name("results.parquet.lock")
    lock.write_text("lock of mine")
    with sole_writer(out), pytest.raises(InputError, match="no other batch"), sole_writer(out):
        pass
    assert lock.read_text() == "lock of mine"


def test_where_a_disk_knows_no_locks_nobody_is_kept_out(out, monkeypatch):
    def unlocked(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", unlocked)
    with sole_writer(out), sole_writer(out):
        pass
    assert names(out.parent) == []


def test_a_lock_of_another_user_is_respected(out, as_anybody):
    """Who may not write to it can still see that it is held."""
    with sole_writer(out):
        out.with_name("results.parquet.lock").chmod(0o444)
        with as_anybody(), pytest.raises(InputError, match="no other batch"), sole_writer(out):
            pass


@pytest.mark.parametrize("name", ["data.parquet", "data.events.parquet", "link.parquet"])
@pytest.mark.parametrize("hard", [False, True])
def test_an_output_that_is_an_input_is_refused(tmp_path, name, hard):
    """Also under another name, and as the file of events that nobody named."""
    data = tmp_path / name
    if name == "link.parquet":
        data = tmp_path / "other.parquet"
    pq.write_table(EVENTS, data)
    if name == "link.parquet":
        link = tmp_path / name
        link.hardlink_to(data) if hard else link.symlink_to(data)
    out = tmp_path / ("link.parquet" if name == "link.parquet" else "data.parquet")
    before = data.read_bytes()
    for options in ({}, {"resume": True}, {"overwrite": True}):
        text = message(
            lambda options=options: Journal.open(out, ABOUT, inputs=[str(data)], **options)
        )
        assert text.startswith("Expected `out` to write to none of the files that are read, got ")
    assert data.read_bytes() == before


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_events_are_replaced_or_removed_only_on_demand(tmp_path, suffix):
    out, events = tmp_path / f"rows{suffix}", tmp_path / f"rows.events{suffix}"
    events.write_text("precious")
    for options in ({}, {"resume": True}):
        text = message(lambda options=options: Journal.open(out, ABOUT, **options))
        assert text.startswith(f"Expected no file at {events}, got one.")
    assert events.read_text() == "precious"
    Journal.open(out, ABOUT, overwrite=True).complete(FIRST.rows)
    assert names(tmp_path) == [out.name]


@pytest.mark.parametrize("large", ["rows", "events"])
def test_rows_and_events_are_replaced_together_or_not_at_all(out, large):
    Journal.open(out, ABOUT).complete(FIRST.rows, SECOND.events)
    journal = Journal.open(out, ABOUT, overwrite=True)
    before = {path: path.read_bytes() for path in (out, journal.events_out)}
    much = pa.table({"f1": np.random.default_rng(0).random(20_000)})
    tables = {"rows": SECOND.rows, "events": SECOND.events} | {large: much}
    with full_disk(50_000), pytest.raises(OSError, match="File too large"):
        journal.complete(**tables)
    assert {path: path.read_bytes() for path in before} == before
    assert names(journal.folder) == ["manifest.json"]
