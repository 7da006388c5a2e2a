"""Which series are read: those that detectors have scores for, and what to do about gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

Missing = Literal["error", "nan", "drop"]
ScoreFiles = dict[str, dict[str, "Path"]]  # by detector, then by series

_OWN_COLUMNS = ("series", "timestamp", "label")
_EMPTY = 'Remove its folder, or keep it with nan as its scores: `missing="nan"` (`--missing nan`).'
_HINT = (
    '`missing="nan"` (`--missing nan`) keeps the series, with nan as the scores of that detector, '
    'which the batch reports; `missing="drop"` (`--missing drop`) leaves out each series that some '
    "detector has no scores for."
)


def series_to_read(names: Collection[str], scores: ScoreFiles, missing: Missing) -> list[str]:
    """Give the sorted names of the series to read; a gap is an `InputError` unless allowed.

    Examples
    --------
    >>> from pathlib import Path
    >>> scores = {"forest": {"a": Path("a.npy"), "b": Path("b.npy")}, "knn": {"b": Path("b.npy")}}
    >>> series_to_read(["a", "b"], scores, "nan"), series_to_read(["a", "b"], scores, "drop")
    (['a', 'b'], ['b'])
    """
    _check(missing, scores)
    if missing == "drop":
        kept = [name for name in sorted(names) if all(name in own for own in scores.values())]
        if not kept:
            rule = "a series that every detector has scores for"
            hint = '`missing="nan"` (`--missing nan`) keeps every series.'
            raise InputError(expected(rule, f"none among {len(names)}", hint))
        return kept
    for detector, own in scores.items():
        unknown = sorted(set(own) - set(names))
        if unknown:
            rule = f"a series in the data for each file of scores, such as {own[unknown[0]]}"
            hint = '`missing="drop"` (`--missing drop`) reads only what is in both.'
            raise InputError(expected(rule, f"none that is called {unknown[0]!r}", hint))
        lacking = sorted(set(names) - set(own))
        if lacking and missing == "error":
            more = f" (nor for {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            rule = "scores of every detector for every series"
            got = f"none of the detector {detector!r} for the series {lacking[0]!r}{more}"
            raise InputError(expected(rule, got, _HINT))
    return sorted(names)


def detector_folders(folder: Path) -> list[Path]:
    """Give the folders of detectors, sorted: all that are not hidden, also those without scores."""
    return sorted(path for path in folder.glob("[!.]*") if path.is_dir())


def _check(missing: str, scores: ScoreFiles) -> None:
    if missing not in get_args(Missing):
        raise InputError(expected('`missing` to be "error", "nan" or "drop"', repr(missing)))
    for detector, own in scores.items():
        if not own and missing != "nan":
            rule = "scores of every detector"
            raise InputError(expected(rule, f"none of the detector {detector!r}", _EMPTY))
        if detector in _OWN_COLUMNS:
            rule = f"no detector to be called {', '.join(_OWN_COLUMNS[:-1])} or {_OWN_COLUMNS[-1]}"
            hint = "Those are the table's own columns: rename its folder."
            raise InputError(expected(rule, repr(detector), hint))
