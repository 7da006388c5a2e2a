"""Key columns of CSV files, as the text that stands in the file: ``001`` and ``1`` differ."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from closecall.errors import InputError
from closecall.tables.reading import arrow, column_names, delimiter, first_record, read_table
from closecall.tables.sources.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_MARK = b"\xef\xbb\xbf"  # some editors begin text with it


def read_with_text_keys(path: str, by: Sequence[str]) -> pa.Table:
    """Read a file as `read_table` does, but the key columns of CSV as text; ``-`` works too."""
    if path == "-":
        return _standard_input(by)
    table = read_table(path)
    types = arrow("pyarrow").types
    guessed = [
        name
        for name in by
        if table.column_names.count(name) == 1
        and not types.is_string(table.schema.field(name).type)
    ]
    return _as_text(table, path, guessed) if guessed else table


def compression_of(path: str) -> str | None:
    """Say whether a file is gzipped, as Arrow calls it."""
    with Path(path).open("rb") as file:
        return "gzip" if file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC else None


def _standard_input(by: Sequence[str]) -> pa.Table:
    """Keep what comes in a file, since keys may have to be read once more."""
    folder = TemporaryFolder()
    path = folder.path / "input"
    path.write_bytes(sys.stdin.buffer.read())
    try:
        return read_with_text_keys(str(path), by)
    except InputError as error:
        raise InputError(str(error).replace(str(path), "standard input")) from error


def _as_text(table: pa.Table, path: str, names: Sequence[str]) -> pa.Table:
    """Read columns once more, since a number does not tell how it was written."""
    pyarrow, csv = arrow("pyarrow"), arrow("pyarrow.csv")
    with pyarrow.input_stream(path, compression=compression_of(path)) as stream:
        content = stream.read()
    if content.startswith(_PARQUET_MAGIC):
        return table
    # The same lines as in `read_table`, where a blank one inside is a missing value.
    lines = content.removeprefix(_MARK).strip(b"\r\n") + b"\n"
    separator = delimiter(lines)
    texts = csv.read_csv(
        io.BytesIO(lines),
        read_options=csv.ReadOptions(column_names=column_names(first_record(lines, separator))),
        parse_options=csv.ParseOptions(delimiter=separator, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            include_columns=list(names), column_types=dict.fromkeys(names, pyarrow.string())
        ),
    )
    for name in names:
        table = table.set_column(table.column_names.index(name), name, texts.column(name))
    return table
