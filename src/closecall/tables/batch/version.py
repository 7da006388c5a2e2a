"""Which closecall this is: other versions may give other numbers."""

from __future__ import annotations


def installed_version() -> str:
    """Return the version that is installed here; ``unknown`` for a bare copy of the code."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("closecall")
    except PackageNotFoundError:
        return "unknown"
