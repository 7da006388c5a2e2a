"""Find a dataset's files: in a folder that is named, or downloaded once with checked hashes."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import ClosecallError, InputError, InputTypeError, MissingExtraError, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from os import PathLike

DATA_VARIABLE = "CLOSECALL_DATA"
CACHE_VARIABLE = "CLOSECALL_CACHE"
_AT_ONCE = 8  # most files are small, so waiting for the answer is what takes time
_HINT = (
    "Name a folder that has the data (the argument `folder`, or the environment variable "
    "CLOSECALL_DATA), or try again: what has arrived is kept."
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A public repository at one commit."""

    name: str
    """Its folder in the cache."""
    base_url: str
    """What a path is appended to."""
    registry: Path
    """The list of its hashes."""

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of each file by its path in the repository.

        >>> len(KDD2022.hashes())
        24
        """
        lines = self.registry.read_text(encoding="utf-8").splitlines()
        return dict(line.split() for line in lines)


_GITHUB = "https://raw.githubusercontent.com"
_HERE = Path(__file__).parent

KDD2022 = Repository(
    "kdd2022",
    f"{_GITHUB}/ahstat/affiliation-metrics-py/8d8449858096bbade6a6e70848d05c9cc9b846fe/",
    _HERE / "kdd2022.txt",
)
NAB = Repository(
    "nab", f"{_GITHUB}/numenta/NAB/ea702d75cc2258d9d7dd35ca8e5e2539d71f3140/", _HERE / "nab.txt"
)


def local_folder(folder: str | PathLike[str] | None) -> Path | None:
    """Return the folder asked for, else the one that `CLOSECALL_DATA` names, else None."""
    if folder is not None:
        if not isinstance(folder, str | os.PathLike):
            raise InputTypeError("to be the path of a folder", shown(folder), argument="folder")
        return _checked(Path(folder), "`folder`", "Without it, the data is downloaded.")
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    hint = "Unset it, and the data is downloaded."
    return _checked(Path(named), f"the environment variable {DATA_VARIABLE}", hint)


def first_with(pattern: str, folders: list[Path]) -> Path | None:
    """Return the first of the folders that has a file like the pattern."""
    return next((folder for folder in folders if any(folder.glob(pattern))), None)


def _checked(path: Path, what: str, hint: str) -> Path:
    if not path.is_dir():
        raise InputError(f"{what} to name a folder", str(path), hint=hint)
    return path


class DownloadError(ClosecallError, OSError):
    """A file of a dataset could not be fetched, or is not what it should be."""


def download(repository: Repository, paths: Collection[str]) -> Path:
    """Fetch those files that the cache lacks; return the folder that then has them all.

    Files are moved to their place when their hash is right, so the cache never has half a file.
    It is the system's usual one for closecall, or the folder that `CLOSECALL_CACHE` names.
    """
    from concurrent.futures import ThreadPoolExecutor

    cache, tqdm = _tools(repository)
    folder = Path(cache.abspath)
    for parent in {(folder / path).parent for path in paths}:
        parent.mkdir(parents=True, exist_ok=True)
    hashes = cache.registry
    lacking = [path for path in paths if not _is_right(folder / path, hashes[path])]
    if not lacking:
        return folder
    with (
        _quiet_log(),
        ThreadPoolExecutor(_AT_ONCE) as pool,
        tqdm(total=len(lacking), desc=f"{repository.name} data", unit="file", disable=None) as bar,
    ):
        waiting = [pool.submit(_fetch, cache, path) for path in lacking]
        try:
            for done in waiting:
                done.result()
                bar.update()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return folder


def _tools(repository: Repository) -> tuple[Any, Any]:
    """Make the cache, and give what draws the progress bar."""
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise MissingExtraError("pooch", "data") from error
    try:
        from tqdm import tqdm
    except ModuleNotFoundError as error:
        raise MissingExtraError("tqdm", "data") from error
    root = Path(os.environ.get(CACHE_VARIABLE) or str(pooch.os_cache("closecall")))
    cache = pooch.create(
        path=root / repository.name, base_url=repository.base_url, registry=repository.hashes()
    )
    return cache, tqdm


def _is_right(path: Path, known_hash: str) -> bool:
    import pooch

    return path.is_file() and pooch.file_hash(str(path)) == known_hash


def _fetch(cache: Any, path: str) -> None:
    from requests.exceptions import RequestException

    address = cache.get_url(path)
    try:
        cache.fetch(path)
    except ValueError as error:
        if isinstance(error, RequestException):  # an address that requests cannot read
            raise _failed(address, error) from None
        rule = f"{address} to have the SHA-256 hash {cache.registry[path]}"
        raise DownloadError(rule, "other content; nothing was kept of it", hint=_HINT) from None
    except RequestException as error:
        # The chain of the network's own errors is long, and says no more than the reason.
        raise _failed(address, error) from None


def _failed(address: str, error: Exception) -> DownloadError:
    response = getattr(error, "response", None)
    reason = type(error).__name__
    if response is not None:
        reason = f"status {response.status_code}"
        response.close()  # pooch leaves it open
    return DownloadError(f"Could not download {address} ({reason}).", hint=_HINT)


@contextmanager
def _quiet_log() -> Iterator[None]:
    """Keep pooch from announcing each file; there is a progress bar."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(level)
