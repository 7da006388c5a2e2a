"""Any one-dimensional column in, a numpy array out; no dataframe package is imported for it."""

from __future__ import annotations

from datetime import datetime, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from closecall.errors import InputError, InputTypeError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import narwhals as nw
    from numpy.typing import NDArray


def read_column(values: Any, name: str) -> tuple[NDArray[Any], tzinfo | None]:
    """Read a list, numpy array, or pandas, polars or pyarrow column, and its time zone if any."""
    zone = None
    if isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray):
        array = values
    elif isinstance(values, (list, tuple, range)):
        array = _from_sequence(values, name)
    elif (found := _from_arrow(values, name)) is not None:
        array, zone = found
    else:
        array, zone = _from_foreign(values, name)
    if array.ndim != 1:
        raise InputTypeError(
            "to be one-dimensional",
            f"an array of shape {array.shape}",
            argument=name,
            hint="Pass one column. Intervals go in `closecall.Events([(start, stop), ...])`.",
        )
    return array, zone


def require_one_index(columns: Mapping[str, Any]) -> None:
    """Raise if pandas columns have different indexes, or one that says another order.

    Values count by position. Where `times` are among the columns, they say the order, and not the
    index. O(1) for columns of one frame, else O(N).
    """
    indexes = {name: column.index for name, column in columns.items() if hasattr(column, "iloc")}
    if not indexes:
        return
    (first, index), *others = indexes.items()
    for name, other in others:
        # What has another length is refused where lengths are compared.
        if other is not index and len(other) == len(index) and not other.equals(index):
            place = _first_place(zip(other, index, strict=True), lambda a, b: a == b)
            raise InputError(
                f"to have the index of `{first}`",
                f"{_label(other, place)} where `{first}` has {_label(index, place)}",
                argument=name,
                index=place,
                hint=f"Align it with `.reindex({first}.index)`, or pair them by position with "
                "`.to_numpy()`.",
            )
    if "times" not in indexes and not index.is_monotonic_increasing:
        place = _first_place(pairwise(index), lambda a, b: a <= b)
        raise InputError(
            "to be in the order of its index",
            f"{_label(index, place + 1)} after {_label(index, place)}",
            argument=first,
            index=place + 1,
            hint="Put all columns in order with `sort_index()`, or drop the index with "
            "`reset_index(drop=True)` if the order is right.",
        )


def _label(index: Any, place: int) -> str:
    return shown(index[place : place + 1].tolist()[0])


def _first_place(pairs: Iterable[tuple[Any, Any]], holds: Callable[[Any, Any], Any]) -> int:
    """Return the first place where something does not hold for a pair, or cannot be said."""
    for place, pair in enumerate(pairs):
        try:
            if not holds(*pair):
                return place
        except TypeError:
            return place
    return 0


def _from_sequence(values: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        # numpy would bring stamps of several units to the finest, and wrap around silently.
        kinds = {getattr(value, "dtype", None) for value in values if array.dtype.kind == "M"}
        return np.array(values, dtype=object) if len(kinds) > 1 else array
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise InputTypeError(
            "to be one flat column", f"a sequence numpy cannot read ({error})", argument=name
        ) from None


def _from_arrow(column: Any, name: str) -> tuple[NDArray[Any], tzinfo | None] | None:
    """Read an Arrow column of numbers or times from its buffers: its `to_numpy` imports pandas."""
    if type(column).__module__ != "pyarrow.lib" or not hasattr(column, "null_count"):
        return None
    kind = column.type
    dtype, plain, zone = _numpy_type(kind)
    if plain is not None:
        return _from_arrow(column.cast(plain), name)
    if dtype is None:
        return None
    if column.null_count:
        _refuse_missing(np.array([value is None for value in column.to_pylist()]), name)
    parts = [part for part in getattr(column, "chunks", [column]) if len(part)]
    if dtype.kind == "b":
        return np.concatenate([np.empty(0, np.bool_), *map(_from_bits, parts)]), None
    arrays = [np.frombuffer(part.buffers()[1], dtype)[part.offset :][: len(part)] for part in parts]
    array = arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, dtype), *arrays])
    # Seconds become milliseconds without loss, as those of any other dataframe.
    return array.astype("datetime64[ms]") if dtype == "datetime64[s]" else array, zone


@lru_cache(maxsize=256)
def _numpy_type(kind: Any) -> tuple[np.dtype[Any] | None, Any, tzinfo | None]:
    """Return numpy's type for one of Arrow's, a plain type to turn it into first, and its zone."""
    from pyarrow import types

    if types.is_dictionary(kind) or types.is_decimal(kind):
        return None, kind.value_type if types.is_dictionary(kind) else "float64", None
    if types.is_timestamp(kind):
        return np.dtype(f"M8[{kind.unit}]"), None, None if kind.tz is None else time_zone(kind.tz)
    if types.is_boolean(kind):
        return np.dtype(bool), None, None
    if not (types.is_integer(kind) or types.is_floating(kind)):
        return None, None, None
    letter = "f" if types.is_floating(kind) else "u" if types.is_unsigned_integer(kind) else "i"
    return np.dtype(f"{letter}{kind.bit_width // 8}"), None, None


def _from_bits(part: Any) -> NDArray[np.bool_]:
    """Read an Arrow array of booleans, which are single bits."""
    content = np.frombuffer(part.buffers()[1], np.uint8)
    bits = np.unpackbits(content, count=part.offset + len(part), bitorder="little")
    return bits[part.offset :].view(np.bool_)


def _from_foreign(values: Any, name: str) -> tuple[NDArray[Any], tzinfo | None]:
    import narwhals as nw

    series = nw.from_native(_known_to_narwhals(values), series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _from_series(series, name)
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(values), name)
        return np.asarray(values), None
    if hasattr(values, "__array__"):
        return np.asarray(values), None
    raise InputTypeError(
        "to be a column of values",
        f"{type(values).__name__}",
        argument=name,
        hint="Pass a list, a numpy array, or a pandas, polars or pyarrow column.",
    )


def _known_to_narwhals(values: Any) -> Any:
    """Turn a pandas index into a series, and a pyarrow array into a chunked one."""
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and hasattr(values, "to_series"):
        return values.to_series()
    if module == "pyarrow" and hasattr(values, "type") and not hasattr(values, "chunks"):
        import pyarrow as pa

        return pa.chunked_array([values])
    return values


def _from_series(series: nw.Series[Any], name: str) -> tuple[NDArray[Any], tzinfo | None]:
    import narwhals as nw

    _refuse_missing(np.asarray(series.is_null().to_numpy(), dtype=bool), name)
    if not isinstance(series.dtype, nw.Datetime):
        return series.to_numpy(), None
    # narwhals counts epochs in these three units; seconds become milliseconds without loss.
    unit = series.dtype.time_unit if series.dtype.time_unit != "s" else "ms"
    epochs = np.asarray(series.dt.timestamp(unit).to_numpy(), dtype=np.int64)
    # pandas keeps the zone itself, which may have no name that others know.
    zone = getattr(getattr(series.to_native(), "dtype", None), "tz", None)
    if zone is None and series.dtype.time_zone is not None:
        zone = time_zone(series.dtype.time_zone)
    return epochs.view(f"datetime64[{unit}]"), zone


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    if missing.any():
        raise InputError(
            "to have no missing values",
            "one (nan, NaT or null)",
            argument=name,
            index=int(missing.argmax()),
            hint="Drop or fill those rows first.",
        )


def time_zone(name: str) -> tzinfo:
    """Turn the name that a dataframe keeps (``Europe/Paris``, ``+02:00``) into a time zone."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        pass
    try:
        # Offsets are kept as "+02:00" by arrow and as "UTC+02:00" by pandas.
        fixed = datetime.strptime(name.removeprefix("UTC"), "%z").tzinfo
    except ValueError:
        fixed = None
    if fixed is None:
        raise InputError(
            "a known time zone", repr(name), hint="Convert the times to UTC, or install tzdata."
        )
    return fixed
