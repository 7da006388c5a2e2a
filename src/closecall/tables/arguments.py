"""The arguments of a library call, taken from one or two files or tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import InputTypeError, expected
from closecall.events import Events
from closecall.tables.files import read_table, shown_name
from closecall.tables.sides import (
    both_sources,
    read_side,
    read_times,
    refuse_standard_input_twice,
)

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa


def arguments_of_files(
    truth_file: str | PathLike[str],
    predicted_file: str | PathLike[str] | None = None,
    **columns_and_times: Any,
) -> dict[str, Any]:
    """Read what `closecall.affiliation` takes from files; options as in `score_files`."""
    refuse_standard_input_twice(truth_file, predicted_file)
    return arguments_of_tables(
        read_table(truth_file),
        None if predicted_file is None else read_table(predicted_file),
        names=(shown_name(truth_file), shown_name(predicted_file or "")),
        **columns_and_times,
    )


def arguments_of_tables(
    truth_table: pa.Table,
    predicted_table: pa.Table | None,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    names: tuple[str, str],
) -> dict[str, Any]:
    """Read what `closecall.affiliation` takes from tables; options as in `score_tables`."""
    sources = both_sources(truth_table, predicted_table, names)
    shared = predicted_table is None
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    claimed = read_side(sources[-1], "predicted", predicted, time=time, shared=shared)
    if span is None and (isinstance(actual, Events) or isinstance(claimed, Events)):
        raise InputTypeError(
            expected(
                "`span` with a list of events",
                "none",
                "Say where the whole series starts and stops: `span=(start, stop)` in Python, "
                "`--span START STOP` on the command line.",
            )
        )
    times = None if time is None else read_times(sources, time)
    if isinstance(actual, Events) != isinstance(claimed, Events):
        actual, claimed = (
            side if isinstance(side, Events) else Events.from_labels(side, times=times, end=end)
            for side in (actual, claimed)
        )
        times = end = None
    return {"truth": actual, "predicted": claimed, "times": times, "end": end, "span": span}
