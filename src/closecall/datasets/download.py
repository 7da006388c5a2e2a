"""Bring files of a public repository into the cache, each checked against its hash."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import ClosecallError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from closecall.datasets.sources import Source

CACHE_VARIABLE = "CLOSECALL_CACHE"
_AT_ONCE = 8  # most files are small, so waiting for the answer is what takes time
_HINT = (
    "Name a folder that has the data (the argument `folder`, or the environment variable "
    "CLOSECALL_DATA), or try again: what has arrived is kept."
)


class DownloadError(ClosecallError, OSError):
    """A file of a dataset could not be fetched, or is not what it should be."""


def download(source: Source, paths: Collection[str]) -> Path:
    """Fetch those files that the cache lacks; return the folder that then has them all.

    Files are moved to their place when their hash is right, so the cache never has half a file.
    It is the system's usual one for closecall, or the folder that `CLOSECALL_CACHE` names.

    Parameters
    ----------
    source
        The repository.
    paths
        Files in it, as listed in its hashes.

    Raises
    ------
    DownloadError
        If a file cannot be fetched, or has another hash.
    """
    from concurrent.futures import ThreadPoolExecutor

    cache, tqdm = _tools(source)
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
        tqdm(total=len(lacking), desc=f"{source.name} data", unit="file", disable=None) as bar,
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


def _tools(source: Source) -> tuple[Any, Any]:
    """Make the cache, and give what draws the progress bar."""
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise MissingExtraError("pooch", "data") from error
    try:
        from tqdm import tqdm
    except ModuleNotFoundError as error:
        raise MissingExtraError("tqdm", "data") from error
    root = Path(str(pooch.os_cache("closecall"))) / source.name
    cache = pooch.create(
        path=_named_cache(source) or root, base_url=source.base_url, registry=source.hashes()
    )
    return cache, tqdm


def _named_cache(source: Source) -> Path | None:
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) / source.name if named else None


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
        raise DownloadError(
            f"Expected {address} to have the SHA-256 hash {cache.registry[path]}, got other "
            f"content; nothing was kept of it.\n\nHint: {_HINT}"
        ) from None
    except RequestException as error:
        # The chain of the network's own errors is long, and says no more than the reason.
        raise _failed(address, error) from None


def _failed(address: str, error: Exception) -> DownloadError:
    response = getattr(error, "response", None)
    reason = type(error).__name__
    if response is not None:
        reason = f"status {response.status_code}"
        response.close()  # pooch leaves it open
    return DownloadError(f"Could not download {address} ({reason}).\n\nHint: {_HINT}")


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
