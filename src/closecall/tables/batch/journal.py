"""What a batch has finished, kept beside its output until all of it is there.

For ``results.parquet`` there is a folder ``results.parquet.partial`` with a manifest that says what
was asked of which data, and one file for each finished unit. A file is named by the hash of the
manifest and of its own content, so that one that was damaged, changed or put there by somebody else
is noticed, and its unit is evaluated again. It is a line of JSON with the key of the unit, followed
by the unit's tables as Arrow streams: nothing in it is ever executed. Every file is written under
another name first, so that it is whole or not there. The output itself appears in one step, at the
end, and the folder is removed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from hashlib import sha256
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closecall.errors import InputError
from closecall.files import UNFINISHED, flush, require_apart, whole_file
from closecall.parameters import read_path
from closecall.tables.batch.options import DETECTOR, SIGNATURE
from closecall.tables.batch.rows import row_types
from closecall.tables.grouping import from_streams, to_stream
from closecall.tables.reading import arrow, read_table, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions

_SUFFIXES = (".parquet", ".pq", ".csv")
_FORMAT = "closecall journal 4"
_MANIFEST = "manifest.json"
_NAME = re.compile(rf"[0-9a-f]{{64}}\.unit|manifest\.json|{UNFINISHED.pattern}", re.DOTALL)


@dataclass(frozen=True)
class Journal:
    """The finished units of one batch, on disk."""

    out: Path
    """The file that rows go to in the end."""

    def __post_init__(self) -> None:
        require_suffix(self.out, "out")

    @classmethod
    def open(
        cls,
        out: str | PathLike[str],
        about: Mapping[str, str],
        *,
        inputs: Iterable[str] = (),
        resume: bool = False,
        overwrite: bool = False,
    ) -> Journal:
        """Begin a batch, or go on with one; raise if another one, or an output, is in the way."""
        journal, manifest = cls(Path(out)), {"format": _FORMAT, **about}
        journal._check_place(inputs, resume=resume, overwrite=overwrite)
        if overwrite or not journal._is_begun():
            journal._remove()
        if journal.folder.exists():
            journal._require_same(manifest)
        else:
            journal.folder.mkdir()
            journal._write(_MANIFEST, json.dumps(manifest).encode())
        return journal

    @property
    def folder(self) -> Path:
        """Where finished units are."""
        return self.out.with_name(f"{self.out.name}.partial")

    @property
    def events_out(self) -> Path:
        """The file that rows of events go to: ``results.events.parquet``."""
        return self.out.with_name(f"{self.out.stem}.events{self.out.suffix}")

    def keep(self, key: str, tables: Sequence[pa.Table]) -> None:
        """Keep the tables of one finished unit."""
        head = json.dumps({"format": _FORMAT, "key": key}).encode()
        content = b"\n".join([head, b"".join(map(to_stream, tables))])
        self._write(self._name(content), content)

    def kept(self) -> dict[str, list[pa.Table]]:
        """Return the tables of the units that were kept, by key; damaged files are left out."""
        found = {}
        for path in sorted(self.folder.glob("[!.]*.unit")):
            with suppress(Exception):  # whatever is wrong with it, the unit is evaluated again
                content = path.read_bytes()
                if self._name(content) == path.name:
                    head, _, streams = content.partition(b"\n")
                    found[str(json.loads(head)["key"])] = from_streams(streams)
        return found

    def complete(self, rows: pa.Table, events: pa.Table | None = None) -> None:
        """Put the output in its place, in one step, and remove what led to it."""
        beside = nullcontext() if events is None else self._placed(events, self.events_out)
        with self._placed(rows, self.out), beside:  # both are written before one is in its place
            if events is None and self.events_out.is_file():
                # Those of an earlier batch would be taken for those of this one.
                self.events_out.unlink()
        flush(self.out.parent)
        self._remove()

    def finished(self, options: BatchOptions) -> tuple[pa.Table, pa.Table | None] | None:
        """Return the rows and events of an output that is finished and holds what is asked."""
        paths = (self.out, self.events_out)[: 1 + options.per_event]
        if self._is_begun() or not all(path.is_file() for path in paths):
            return None
        types, pyarrow, compute = row_types(options), arrow("pyarrow"), arrow("pyarrow.compute")
        try:
            rows, *events = (read_table(path) for path in paths)
            if rows.column_names[-1:] == [SIGNATURE]:
                rows = rows.drop_columns(SIGNATURE)
            if rows.column_names != [*options.by, *types]:
                return None
            for place, (name, kind) in enumerate(types.items(), len(options.by)):
                column = rows.column(place).cast(kind)
                # CSV knows neither what is missing nor what is undefined.
                if kind == "double":
                    column = column.fill_null(nan)
                elif kind == "string":
                    blank = compute.equal(column, "")
                    column = compute.if_else(blank, pyarrow.scalar(None, kind), column)
                rows = rows.set_column(place, name, column)
        except (InputError, ValueError):  # damaged, or somebody else's
            return None
        known = options.is_long or set(rows.column(DETECTOR).to_pylist()) == {*options.detectors}
        if not known:
            return None
        with suppress(InputError, OSError):  # what is left where a batch was killed at its very end
            self._remove()
        return rows, events[0] if events else None

    def _name(self, content: bytes) -> str:
        """Name a file by its content, and by the question that it answers."""
        return f"{sha256(self._manifest + content).hexdigest()}.unit"

    @property
    def _manifest(self) -> bytes:
        return (self.folder / _MANIFEST).read_bytes()

    def _write(self, name: str, content: bytes) -> None:
        with whole_file(self.folder / name) as new:
            new.write_bytes(content)

    @contextmanager
    def _placed(self, table: pa.Table, path: Path) -> Iterator[None]:
        """Write a table, which is in its place afterwards."""
        with whole_file(path, self.folder) as new:
            write_table(_columns(table, path.suffix), new)
            yield

    def _check_place(self, inputs: Iterable[str], *, resume: bool, overwrite: bool) -> None:
        if not self.out.parent.is_dir():
            raise InputError(f"a folder at {self.out.parent}", "none")
        if resume and overwrite:
            raise InputError("either `resume` or `overwrite`", "both")
        require_apart("out", (self.out, self.events_out), inputs)
        if self.folder.exists() and not self._is_ours():
            raise self._foreign()
        if overwrite or (resume and self._is_begun()):
            return
        if resume and self.out.exists():
            raise _in_the_way(f"{self.out} to be unfinished", "a finished output")
        if self._is_begun():
            raise InputError(
                f"no unfinished batch at {self.folder}",
                "one",
                hint="Go on with it with `resume=True`, or drop it with `overwrite=True`.",
            )
        for path in (self.out, self.events_out):
            if path.exists():
                raise _in_the_way(f"no file at {path}", "one")

    def _is_ours(self) -> bool:
        """Whether the folder holds only files, and those are called as a batch calls them."""
        return self.folder.is_dir() and all(
            _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            for entry in list(os.scandir(self.folder))  # which closes it
        )

    def _is_begun(self) -> bool:
        """Whether there is anything to lose: a batch that was refused at once left nothing."""
        return any(self.folder.glob("[!.]*.unit"))

    def _require_same(self, manifest: Mapping[str, str]) -> None:
        """Raise if what was begun asks something else, and tell what differs."""
        try:
            begun = dict(json.loads(self._manifest))
        except (OSError, ValueError, TypeError, RecursionError):
            raise _in_the_way(f"{self.folder} to be of a batch", "no manifest in it") from None
        for name in dict.fromkeys((*begun, *manifest)):
            then, now = begun.get(name, "none"), manifest.get(name, "none")
            if then != now:
                # A fingerprint tells a reader nothing.
                got = "other data" if name == "data" else f"`{name}` {now}, which was {then}"
                raise InputError(
                    f"to resume what {self.folder} was begun with",
                    got,
                    hint="Ask the same of the same data, or start afresh with `overwrite=True` "
                    "(`--overwrite`).",
                )

    def _remove(self) -> None:
        """Remove the folder, but no file in it that a batch would call otherwise."""
        if not self.folder.is_dir():
            return
        # The manifest goes last: units without it could not be resumed after a kill.
        for path in sorted(self.folder.iterdir(), key=lambda path: path.name == _MANIFEST):
            if _NAME.fullmatch(path.name):
                path.unlink()
        try:
            self.folder.rmdir()
        except OSError:
            raise self._foreign() from None

    def _foreign(self) -> InputError:
        rule = f"{self.folder} to hold only what a batch put there"
        return InputError(rule, "other files", hint="Move them elsewhere.")


@contextmanager
def sole_writer(out: str | PathLike[str]) -> Iterator[None]:
    """Hold the lock of an output, ``results.parquet.lock``; the system drops it if we die."""
    path = Path(f"{read_path(out, 'out')}.lock")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)
    except OSError:  # the place itself is wrong, and who writes there says how
        yield
        return
    with os.fdopen(handle):
        if not _locked(handle, path):
            hint = "Wait for it, or choose another output."
            raise InputError(f"no other batch to be writing to {out}", "one", hint=hint)
        try:
            yield
        finally:
            if not os.fstat(handle).st_size:  # ours is empty
                with suppress(OSError):  # Windows removes no open file
                    path.unlink()


def _locked(handle: int, path: Path) -> bool:
    """Lock a file unless somebody else has, or had and has removed it since it was opened."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a disk that knows no locks: nobody can be kept out
        return True
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def require_suffix(path: str | PathLike[str], argument: str) -> None:
    """Raise for a name that says neither Parquet nor CSV."""
    if read_path(path, argument).suffix not in _SUFFIXES:
        rule = "to end in .parquet or .csv"
        raise InputError(rule, f"{os.fspath(path)!r}", argument=argument)


def write_rows(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write a table, whole or not at all; ``-`` is standard output, as CSV."""
    place = read_path(path, "path")
    if str(path) == "-" or (place.exists() and not place.is_file()):  # pipes cannot be replaced
        write_table(_columns(table, ".csv"), path)
        return
    require_suffix(path, "path")
    write_table(_columns(table, place.suffix), path)


def _columns(table: pa.Table, suffix: str) -> dict[str, pa.ChunkedArray | pa.Array]:
    """Return the columns as they are written: lengths of time are seconds in a text."""
    pyarrow = arrow("pyarrow")
    columns = {name: table.column(name) for name in table.column_names}
    for name, column in columns.items() if suffix == ".csv" else ():
        if pyarrow.types.is_duration(column.type):
            seconds = column.to_numpy() / np.timedelta64(1, "s")
            columns[name] = pyarrow.array(seconds, from_pandas=True)
    return columns


def _in_the_way(rule: str, got: str) -> InputError:
    return InputError(rule, got, hint="Replace it with `overwrite=True`.")
