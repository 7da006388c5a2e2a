"""What a batch has finished, kept beside its output until all of it is there.

For ``results.parquet`` there is a folder ``results.parquet.partial`` with one file for each
finished unit and a manifest that says what was asked of which data. Every file is written under
another name first, so that it is whole or not there; a check sum finds those that were damaged
later. The output itself appears in one step, at the end, and the folder goes.
"""

from __future__ import annotations

import json
import os
import pickle
import zlib
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected
from closecall.tables.batch.written import naming, require_suffix, write_rows
from closecall.tables.reading import arrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    import pyarrow as pa

    from closecall.tables.batch.series_part import SeriesPart
    from closecall.tables.batch.unit import UnitRows

_MANIFEST = "manifest.json"
_UNIT, _PART, _TEMPORARY, _NOTE = ".unit", ".part", ".tmp", ".note"
_UNREADABLE = {"data"}  # a fingerprint tells a reader nothing


@dataclass(frozen=True)
class Journal:
    """The finished units of one batch, on disk.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> from closecall.tables.batch.unit import UnitRows
    >>> out = Path(tempfile.mkdtemp()) / "results.parquet"
    >>> journal = Journal.open(out, {"data": "one file"})
    >>> journal.write(UnitRows("first", pa.table({"f1": [0.5]})))
    >>> again = Journal.open(out, {"data": "one file"}, resume=True)
    >>> [part.key for part in again.finished()]
    ['first']
    >>> again.complete(pa.table({"f1": [0.5, 0.75]}))
    >>> [path.name for path in out.parent.iterdir()]
    ['results.parquet']
    """

    out: Path
    """The file that rows go to in the end."""

    @classmethod
    def open(
        cls,
        out: str | PathLike[str],
        about: Mapping[str, str],
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> Journal:
        """Begin a batch, or go on with one; refuse to mix it with another, or to replace one.

        Parameters
        ----------
        out
            Where the rows go: Parquet or CSV.
        about
            What is asked of which data, as `closecall.tables.batch.description.describe` says it.
        resume
            Go on with what is there, if it answers the same question; begin if nothing is.
        overwrite
            Drop what was begun before, and replace a finished output, in the end.
        """
        journal = cls(Path(out))
        journal._refuse_place(resume=resume, overwrite=overwrite)
        if overwrite or not journal._is_begun():
            journal._remove()
        if journal.folder.exists():
            journal._require_same(about)
        else:
            journal.folder.mkdir()
            journal._put(_MANIFEST, json.dumps(dict(about), indent=1).encode())
        return journal

    @property
    def folder(self) -> Path:
        """Where finished units are."""
        return self.out.with_name(f"{self.out.name}.partial")

    @property
    def events_out(self) -> Path:
        """The file that rows of events go to: ``results.events.parquet``."""
        return self.out.with_name(f"{self.out.stem}.events{self.out.suffix}")

    def write(self, part: UnitRows) -> None:
        """Keep what came of one unit."""
        tables = [table for table in (part.rows, part.events) if table is not None]
        self._keep(part.key, _UNIT, [_stream(table) for table in tables])

    def finished(self) -> Iterator[UnitRows]:
        """Yield the units that were kept, but none that is torn or damaged."""
        from closecall.tables.batch.unit import UnitRows

        for key, streams in self._kept(_UNIT):
            yield UnitRows(key, *(_table(stream) for stream in streams))

    def write_part(self, key: str, part: SeriesPart) -> None:
        """Keep what came of one part of a giant series."""
        self._keep(key, _PART, [pickle.dumps(part)])

    def finished_parts(self) -> Iterator[tuple[str, SeriesPart]]:
        """Yield the parts that were kept, with their keys, but none that is torn or damaged."""
        for key, (content,) in self._kept(_PART):
            yield key, pickle.loads(content)  # noqa: S301 - written above, and its sum is right

    def note(self, name: str, value: Any) -> None:
        """Keep a value that all units share, as JSON."""
        self._put(f"{name}{_NOTE}", json.dumps(value).encode())

    def noted(self, name: str) -> Any:
        """Return the value that was kept; None if there is none."""
        try:
            return json.loads((self.folder / f"{name}{_NOTE}").read_bytes())
        except (OSError, ValueError):
            return None

    def complete(self, rows: pa.Table, events: pa.Table | None = None) -> None:
        """Put the output in its place, in one step, and remove what led to it.

        Not to be called while units are missing: what is there is then kept for the next attempt.
        """
        if events is not None:
            self._place(events, self.events_out)
        else:  # rows of events of an earlier batch would be taken for those of this one
            self.events_out.unlink(missing_ok=True)
        self._place(rows, self.out)
        _flush(self.out.parent)
        self._remove()

    def _place(self, table: pa.Table, path: Path) -> None:
        temporary = self.folder / f"{_TEMPORARY}{path.suffix}"
        write_rows(table, temporary)
        _flush(temporary)
        temporary.replace(path)

    def _keep(self, key: str, suffix: str, streams: list[bytes]) -> None:
        content = b"".join(streams)
        lengths = [len(stream) for stream in streams]
        header = {"key": key, "lengths": lengths, "crc32": zlib.crc32(content)}
        self._put(_file_name(key, suffix), json.dumps(header).encode() + b"\n" + content)

    def _kept(self, suffix: str) -> Iterator[tuple[str, list[bytes]]]:
        for path in sorted(self.folder.glob(f"*{suffix}")):
            whole = _whole_file(path)
            if whole is not None:
                yield whole

    def _put(self, name: str, content: bytes) -> None:
        temporary = self.folder / f"{name}{_TEMPORARY}"
        with naming(temporary), temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.folder / name)

    def _refuse_place(self, *, resume: bool, overwrite: bool) -> None:
        require_suffix(self.out, "out")
        if not self.out.parent.is_dir():
            raise InputError(expected(f"a folder at {self.out.parent}", "none"))
        if resume and overwrite:
            raise InputError(expected("either `resume` or `overwrite`", "both"))
        if overwrite or (resume and self._is_begun()):
            return
        if resume and self.out.exists():
            raise _in_the_way(f"{self.out} to be unfinished", "a finished output")
        if self._is_begun():
            raise InputError(
                expected(
                    f"no unfinished batch at {self.folder}",
                    "one",
                    "Go on with it with `resume=True` (`--resume`), or drop it with "
                    "`overwrite=True` (`--overwrite`).",
                )
            )
        for path in (self.out, self.events_out):
            if path.exists():
                raise _in_the_way(f"no file at {path}", "one")

    def _is_begun(self) -> bool:
        """Say whether there is anything to lose: a batch that was refused at once left nothing."""
        return self.folder.is_dir() and any(
            path.suffix in (_UNIT, _PART, _NOTE) for path in self.folder.iterdir()
        )

    def _require_same(self, about: Mapping[str, str]) -> None:
        """Refuse to go on with a batch that asks something else, and say what differs."""
        try:
            begun = dict(json.loads((self.folder / _MANIFEST).read_bytes()))
        except (OSError, ValueError, TypeError):
            raise _in_the_way(f"{self.folder} to be of a batch", "no manifest in it") from None
        for name in dict.fromkeys((*begun, *about)):
            then, now = begun.get(name, "none"), about.get(name, "none")
            if then != now:
                raise InputError(
                    expected(
                        f"to resume what {self.folder} was begun with",
                        f"other {name}"
                        if name in _UNREADABLE
                        else f"`{name}` {now}, which was {then}",
                        "Ask the same of the same data, or start afresh with `overwrite=True` "
                        "(`--overwrite`).",
                    )
                )

    def _remove(self) -> None:
        """Remove the folder, but nothing in it that is not ours."""
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            ours = path.suffix in (_UNIT, _PART, _TEMPORARY, _NOTE) or path.name == _MANIFEST
            if ours or path.stem == _TEMPORARY:
                path.unlink()
        try:
            self.folder.rmdir()
        except OSError:
            rule = f"{self.folder} to hold only what a batch put there"
            raise InputError(expected(rule, "other files", "Move them elsewhere.")) from None


def _in_the_way(rule: str, got: str) -> InputError:
    return InputError(expected(rule, got, "Replace it with `overwrite=True` (`--overwrite`)."))


def _file_name(key: str, suffix: str) -> str:
    """Name the file of a unit, whatever characters its key has."""
    return f"{sha256(key.encode()).hexdigest()[:32]}{suffix}"


def _stream(table: pa.Table) -> bytes:
    sink = arrow("pyarrow").BufferOutputStream()
    with arrow("pyarrow.ipc").new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(stream: bytes) -> pa.Table:
    return arrow("pyarrow.ipc").open_stream(stream).read_all()


def _whole_file(path: Path) -> tuple[str, list[bytes]] | None:
    """Read the file of a unit, or say that it is not whole: then the unit is evaluated again."""
    head, _, content = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(head)
        key, lengths, check = header["key"], header["lengths"], header["crc32"]
    except (ValueError, KeyError, TypeError):
        return None
    if zlib.crc32(content) != check or _file_name(key, path.suffix) != path.name:
        return None
    bounds = pairwise([0, *accumulate(lengths)])
    return key, [content[start:stop] for start, stop in bounds]


def _flush(path: Path) -> None:
    """Wait until the file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no such thing for folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
