"""Files that are found, all of them; and written, whole, never in the place of what is read."""

from __future__ import annotations

import glob
import itertools
import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

UNFINISHED = re.compile(r"\.closecall-[0-9a-f]{32}(\..*)?", re.DOTALL)
"""What a file is called that is being written; nobody else gives one such a name."""
_UCR_NAME = re.compile(r"\d+_UCR_Anomaly_.*_\d+_(\d+)_(\d+)\.(?:txt|csv)(?:\.gz)?$")
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # whose files somebody else has open


@contextmanager
def whole_file(path: str | PathLike[str], folder: Path | None = None) -> Iterator[Path]:
    """Yield where to write: a new file, which takes the place of `path` when all went well.

    It is on the disk by then. A link stays and its target is replaced; permissions stay, too. Pipes
    and devices are written as they are. The new file is in the `folder`, by default beside `path`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.txt"
    >>> with whole_file(path) as new:
    ...     _ = new.write_text("0.5")
    ...     path.exists()
    False
    >>> path.read_text()
    '0.5'
    """
    place = written = Path(path)
    inside = False
    try:
        if _is_stream(place):
            inside = True
            yield place
            return
        target = place.resolve()
        if folder is None or folder.stat().st_dev != target.parent.stat().st_dev:
            folder = target.parent
        new = written = folder / f".closecall-{secrets.token_hex(16)}{target.suffix}"
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            inside = True
            yield new
            inside = False
            flush(new)
            with suppress(FileNotFoundError):
                new.chmod(stat.S_IMODE(target.stat().st_mode))
            new.replace(target)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    except OSError as error:
        # A full disk names no file; another file that is used meanwhile keeps its name.
        if not inside or error.filename in (None, os.fspath(written)):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _is_stream(path: Path) -> bool:
    """Whether a file cannot be replaced: a pipe, a device, or one that is open under a number."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) or str(path.absolute()).startswith(_STREAMS)


def flush(path: Path) -> None:
    """Wait until the file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no such thing for folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def matching(pattern: str, folder: Path | None = None) -> list[Path]:
    """Return what matches a pattern, sorted; raise for what `glob` would leave out in silence."""
    if folder is not None:
        pattern = os.path.join(glob.escape(str(folder)), pattern)  # noqa: PTH118
    found = sorted(_glob(pattern))
    parts = Path(pattern).parts
    for depth in range(len(fixed_part(pattern).parts), len(parts)):
        for path in _glob(str(Path(*parts[:depth]))):
            if path.is_dir():
                with reading(path):
                    os.scandir(path).close()
                    os.stat(f"{path}/.")  # noqa: PTH116 - names may be listed where files are not
            elif not path.exists() and path not in found:
                raise InputError(f"a file or a folder at {path}", "a link to nothing")
    return found


def _glob(pattern: str) -> list[Path]:
    return [Path(name) for name in glob.glob(pattern, recursive=True)]  # noqa: PTH207 - absolute too


def fixed_part(pattern: str) -> Path:
    """Return the folder that a pattern names before its first wildcard."""
    parts = Path(pattern).parts[:-1]
    return Path(*itertools.takewhile(lambda part: not glob.has_magic(part), parts))


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Raise what is wrong with a folder that cannot be read whole."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"to read all of the folder {folder}",
            f"`{error.strerror}` for {error.filename}",
            hint="Pass the folder that holds nothing but the data, or a glob.",
        ) from error


def require_apart(
    argument: str, written: Iterable[str | PathLike[str]], read: Iterable[str]
) -> None:
    """Raise if a file that is written is read, under whatever name, or would be the next time.

    What is read are files, folders and patterns; ``-`` is standard input.
    """
    places = [Path(path) for path in written]
    for data in read:
        for path in places:
            if _is_read(path, data):
                rule = "to write to none of the files that are read"
                hint = "It would be replaced, or be read as data the next time: write elsewhere."
                raise InputError(rule, str(path), argument=argument, hint=hint)


def are_one_file(first: str, second: str) -> bool:
    """Return whether what is written to one path replaces what is at another; streams take both."""
    one, other = (Path(os.path.realpath(path)) for path in (first, second))
    if _is_stream(Path(first)) or _is_stream(Path(second)):
        return False
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _is_read(path: Path, data: str) -> bool:
    place = Path("/dev/stdin" if data == "-" else data)
    if place.is_dir():
        return Path(os.path.realpath(place)) in Path(os.path.realpath(path)).parents
    if place.is_file():
        return path.exists() and path.samefile(place)
    if not glob.has_magic(data):
        return False
    # Either may lead through a link to the folder that the other names.
    fixed, new = fixed_part(data), Path(os.path.realpath(path.parent), path.name)
    found = Path(data).parts[len(fixed.parts) :]
    pattern = Path(glob.escape(os.path.realpath(fixed)), *found)
    if "**" in found:
        return fnmatch(str(new), str(pattern).replace(f"**{os.sep}", "*"))
    return new.match(str(pattern))


def ucr_anomaly(name: str) -> tuple[int, int] | None:
    """Return where the anomaly lies that a file of the UCR archive is named after; None for others.

    >>> ucr_anomaly("007_UCR_Anomaly_ECG_4000_5600_5610.txt"), ucr_anomaly("x.txt")
    ((5600, 5611), None)
    """
    found = _UCR_NAME.match(name)
    return None if found is None else (int(found[1]), int(found[2]) + 1)
