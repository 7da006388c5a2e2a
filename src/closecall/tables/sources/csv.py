"""CSV files: small ones are read whole, large ones are copied to Parquet; keys are text in both."""

from __future__ import annotations

import hashlib
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, first_line
from closecall.tables.reading import (
    PARQUET_MAGIC,
    CsvText,
    TooLargeError,
    arrow,
    opened,
    parse_csv,
    shown_name,
    table_of,
)
from closecall.tables.sources.memory import group, memory_source, with_other_files
from closecall.tables.sources.parquet import parquet_source, write_in_row_groups
from closecall.tables.sources.paths import Damage, DataFile, files_fingerprint, is_stream
from closecall.tables.sources.source import TemporaryFolder, UnitSize, needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources.source import Source

_WHOLE_BYTES = 192 * 2**20  # that files may take in memory, as text and as columns


def csv_source(
    files: Sequence[DataFile],
    options: BatchOptions,
    *,
    name: str,
    size: UnitSize | None = None,
    whole_bytes: int = _WHOLE_BYTES,
) -> Source:
    """Make a source of CSV files, plain or gzipped; ``-`` is standard input.

    Key columns are text, exactly as it stands in the files; a folder's name is a number if all
    of its kind are. What the files hold decides whether they are read whole, and not their size
    on disk.
    """
    if len(files) == 1 and is_stream(files[0].path):
        return _kept(files[0].path, options, name, size, whole_bytes)
    fingerprint = files_fingerprint(files)
    damage = Damage(options.by, files)
    try:
        tables = _all_read(files, options, name, damage, whole_bytes)
    except TooLargeError:
        damage.errors.clear()
        return _copied_source(
            files, options, damage, name=name, size=size or UnitSize(), fingerprint=fingerprint
        )
    source = memory_source(
        joined_files(tables), options, kind="arrow", name=name, size=size, fingerprint=fingerprint
    )
    filled = {file for file, table in tables.items() if table.num_rows}
    vacant = [file for file in files if file not in filled | damage.errors.keys()]
    return with_other_files(source, vacant, filled, damage)


def _kept(
    given: str, options: BatchOptions, name: str, size: UnitSize | None, whole_bytes: int
) -> Source:
    """Keep what comes in a file, and know it by its content."""
    folder = TemporaryFolder()
    path = folder.path / "input"
    standard = nullcontext(sys.stdin.buffer) if given == "-" else None
    with path.open("wb") as file, standard or Path(given).open("rb") as stream:
        shutil.copyfileobj(stream, file)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    copy = DataFile(str(path), given_as=shown_name(given))
    source = csv_source([copy], options, name=name, size=size, whole_bytes=whole_bytes)
    return replace(source, fingerprint=lambda: f"text:{digest}")


def _all_read(
    files: Sequence[DataFile], options: BatchOptions, name: str, damage: Damage, budget: int
) -> dict[DataFile, pa.Table]:
    """Read the files whole, and note those that cannot be, as `read_footers` does."""
    tables: dict[DataFile, pa.Table] = {}
    for file in files:
        try:
            with opened(file.path) as content:
                table, needed = table_of(
                    content, file.name, encoding=options.encoding, budget=budget, text=options.by
                )
        except TooLargeError:
            raise
        except InputError as error:
            damage.errors[file] = error
            continue
        budget -= needed
        table = with_folders(table, file)
        own_name = name if len(files) == 1 else file.name
        tables[file] = table.select(needed_columns(table.column_names, options, own_name))
    damage.errors.update(_with_text(tables, options))
    if not damage.errors:
        return tables
    spared = damage.spared(tables, lambda file: group(tables[file], options.by).keys)
    return {file: own for file, own in tables.items() if file in spared}


def _with_text(
    tables: Mapping[DataFile, pa.Table], options: BatchOptions
) -> dict[DataFile, InputError]:
    """Find the files with text in a column that holds numbers in another file."""
    is_text = arrow("pyarrow").types.is_string
    found: dict[DataFile, InputError] = {}
    for column in options.columns[len(options.by) + (options.time is not None) :]:
        text = [file for file, table in tables.items() if is_text(table.schema.field(column).type)]
        numbers = [file for file in tables if file not in text and tables[file].num_rows]
        for file in text if numbers else ():
            rule = f"column {column!r} of {file.name} to hold numbers, as in {numbers[0].name}"
            hint = "Look for a line with other text in that column, and correct it."
            found.setdefault(file, InputError(rule, "text", hint=hint))
    return found


def with_folders(table: pa.Table, file: DataFile) -> pa.Table:
    """Add the columns that the names of folders and files give."""
    for part in file.partitions:
        if part.name in table.column_names:
            table = table.drop_columns([part.name])
        table = table.append_column(part.name, part.column(table.num_rows))
    return table


def joined_files(tables: Mapping[DataFile, pa.Table]) -> pa.Table:
    """Put the files below each other; whole numbers in one may be fractions in another."""
    pyarrow = arrow("pyarrow")
    first, *others = tables
    joined = tables[first]
    for file in others:
        try:
            joined = pyarrow.concat_tables([joined, tables[file]], promote_options="permissive")
        except pyarrow.ArrowException as error:
            rule = f"the columns of {file.name} to have the types of {first.name}"
            hint = "Write the files anew, with one kind of values in each column."
            raise InputError(rule, f"`{first_line(error)}`", hint=hint) from error
    return joined


def _copied_source(
    files: Sequence[DataFile],
    options: BatchOptions,
    damage: Damage,
    *,
    name: str,
    size: UnitSize,
    fingerprint: str,
) -> Source:
    """Copy the files to Parquet, part by part, and note those that cannot be read."""
    folder = TemporaryFolder()
    copies: list[DataFile] = []
    schema: Any = None  # of the first file that has rows
    for number, file in enumerate(files):
        place = folder.path / str(number)
        place.mkdir()
        copy = DataFile(str(place / Path(file.path).name), file.partitions)
        parts = _until_damaged(_streamed(file, options, Path(copy.path)), file, damage)
        first = next(parts, None)
        if first is not None:
            own_name = name if len(files) == 1 else file.name
            folders = [part.name for part in file.partitions]
            stored = [column for column in first.column_names if column not in folders]
            needed = needed_columns([*stored, *folders], options, own_name)
            columns = [column for column in needed if column not in folders]
            second = next(parts, None)
            if second is not None and schema is None:
                schema = first.select(columns).schema
            tables = chain([first], [] if second is None else [second], parts)
            typed = (_typed(table.select(columns), schema, file.name) for table in tables)
            write_in_row_groups(
                copy.path,
                _until_damaged(typed, file, damage),
                rows=size.rows(columns=len(columns)),
                by=options.by,
            )
        if file not in damage.errors:
            copies.append(copy)
    if not copies:
        raise damage.refusal()
    return parquet_source(
        copies, options, name=name, size=size, fingerprint=fingerprint, folder=folder, damage=damage
    )


def _until_damaged(
    tables: Iterable[pa.Table], file: DataFile, damage: Damage
) -> Iterator[pa.Table]:
    try:
        yield from tables
    except InputError as error:
        damage.errors[file] = error


def _streamed(file: DataFile, options: BatchOptions, copy: Path) -> Iterator[pa.Table]:
    """Yield the rows part by part, after a table without any; gzipped Parquet is unpacked."""
    pyarrow = arrow("pyarrow")
    # Scores may begin with whole numbers, so their type does not follow from the first block.
    types = dict.fromkeys(options.scores, pyarrow.float64())
    types |= dict.fromkeys(options.by, pyarrow.string())
    with opened(file.path) as content:
        if content.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC:
            content.seek(0)
            with copy.open("wb") as target:
                shutil.copyfileobj(content, target)
            return
        content.seek(0)
        lines = CsvText(content, file.name, options.encoding)
        blocks = lines.blocks()
        table = parse_csv(next(blocks), lines, file.name, types, names=lines.names)
        yield table.schema.empty_table()
        if table.num_rows:
            yield table
        names = table.column_names
        types = dict(zip(names, table.schema.types, strict=True))
        for block in blocks:
            yield parse_csv(
                block,
                lines,
                file.name,
                types,
                names=names,
                hint="The types of a large file follow from its first 16 MB; write it as Parquet.",
            )


def _typed(table: pa.Table, schema: pa.Schema | None, path: str) -> pa.Table:
    """Give a part the types of the first file."""
    pyarrow = arrow("pyarrow")
    try:
        return table if schema is None or not table.num_rows else table.cast(schema)
    except (pyarrow.ArrowException, ValueError) as error:
        rule = f"the columns of {path} to have the types of the first file"
        raise InputError(rule, f"`{first_line(error)}`") from error
