"""CSV files: small ones are read whole, large ones are streamed; keys are text in both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected, first_line
from closecall.tables.reading import arrow, column_names, delimiter, first_record
from closecall.tables.sources.damaged import Damage
from closecall.tables.sources.key_text import compression_of, read_with_text_keys
from closecall.tables.sources.memory import memory_source
from closecall.tables.sources.needed import needed_columns
from closecall.tables.sources.paths import files_fingerprint
from closecall.tables.sources.spool import spooled_source
from closecall.tables.sources.vacant import vacant_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.paths import DataFile
    from closecall.tables.sources.source import Source
    from closecall.tables.sources.unit import UnitSize

_WHOLE_BYTES = 64 * 2**20
_BLOCK_BYTES = 16 * 2**20
_HEAD_BYTES = 2**16


def csv_source(
    files: Sequence[DataFile],
    question: Question,
    *,
    name: str,
    size: UnitSize | None = None,
    whole_bytes: int = _WHOLE_BYTES,
) -> Source:
    """Make a source of CSV files, plain or gzipped; ``-`` is standard input.

    Key columns are text, exactly as it stands in the files; a folder's name is a number if all
    of its kind are.

    Parameters
    ----------
    files
        In the order of their rows.
    question
        Which columns are asked for.
    name
        What messages call the files.
    size
        How many values a unit has.
    whole_bytes
        Files are read whole up to this size together, and streamed beyond it. A streamed file's
        types follow from its first 16 MB.
    """
    if files[0].path == "-":
        table = read_with_text_keys("-", question.by)
        return memory_source(table, question, kind="arrow", name=name, size=size)
    fingerprint = files_fingerprint(files)
    filled: set[DataFile] = set()
    damage = Damage(question.by)
    if sum(Path(file.path).stat().st_size for file in files) > whole_bytes:
        source = spooled_source(
            _all_streamed(files, question, filled),
            question,
            kind="arrow",
            name=name,
            size=size,
            fingerprint=fingerprint,
        )
    else:
        tables = _all_read(files, question, name, damage)
        filled.update(file for file, table in tables.items() if table.num_rows)
        source = memory_source(
            _joined(tables),
            question,
            kind="arrow",
            name=name,
            size=size,
            fingerprint=fingerprint,
        )
    known = filled | damage.reasons.keys()
    vacant = [file for file in files if file not in known]
    others = [
        *vacant_units(vacant, known, source.schema, question.by),
        *damage.units(files),
    ]
    return replace(source, plan=lambda: [*source.units(), *others])


def _all_read(
    files: Sequence[DataFile], question: Question, name: str, damage: Damage
) -> dict[DataFile, pa.Table]:
    """Read the files whole, and note those that cannot be, as `read_footers` does."""
    tables: dict[DataFile, pa.Table] = {}
    for file in files:
        try:
            table = _with_folders(read_with_text_keys(file.path, question.by), file)
        except InputError as error:
            damage.note(file, str(error))
            continue
        own_name = name if len(files) == 1 else file.path
        tables[file] = table.select(needed_columns(table.column_names, question, own_name))
    for file, reason in _with_text(tables, question).items():
        damage.note(file, reason)
    if not tables.keys() - damage.reasons.keys():
        raise damage.refusal()
    spared = damage.spared(tables)
    return {file: own for file, own in tables.items() if file in spared}


def _with_text(tables: Mapping[DataFile, pa.Table], question: Question) -> dict[DataFile, str]:
    """Find the files with text in a column that holds numbers in another file."""
    is_text = arrow("pyarrow").types.is_string
    found: dict[DataFile, str] = {}
    for column in (question.truth, *question.scores, *question.predicted):
        text = [file for file, table in tables.items() if is_text(table.schema.field(column).type)]
        numbers = [file for file in tables if file not in text and tables[file].num_rows]
        for file in text if numbers else ():
            rule = f"column {column!r} of {file.path} to hold numbers, as in {numbers[0].path}"
            hint = "Look for a line with other text in that column, and correct it."
            found.setdefault(file, expected(rule, "text", hint))
    return found


def _with_folders(table: pa.Table, file: DataFile) -> pa.Table:
    for part in file.partitions:
        if part.name in table.column_names:
            table = table.drop_columns([part.name])
        table = table.append_column(part.name, part.column(table.num_rows))
    return table


def _joined(tables: Mapping[DataFile, pa.Table]) -> pa.Table:
    """Put the files below each other; whole numbers in one may be fractions in another."""
    pyarrow = arrow("pyarrow")
    first, *others = tables
    joined = tables[first]
    for file in others:
        try:
            joined = pyarrow.concat_tables([joined, tables[file]], promote_options="permissive")
        except pyarrow.ArrowException as error:
            raise InputError(
                expected(
                    f"the columns of {file.path} to have the types of {first.path}",
                    f"`{first_line(error)}`",
                    "Write the files anew, with one kind of values in each column.",
                )
            ) from error
    return joined


def _all_streamed(
    files: Sequence[DataFile], question: Question, filled: set[DataFile]
) -> Iterator[pa.Table]:
    """Yield the rows of all files, and note which have any; without any, only the columns."""
    nothing: pa.Table | None = None
    for file in files:
        for table in _streamed(file, question):
            if table.num_rows:
                filled.add(file)
                yield table
            else:
                nothing = table
    if not filled and nothing is not None:
        yield nothing


def _streamed(file: DataFile, question: Question) -> Iterator[pa.Table]:
    pyarrow, csv = arrow("pyarrow"), arrow("pyarrow.csv")
    compression = compression_of(file.path)
    head = _head(file.path, compression)
    separator = delimiter(head)
    reading = csv.ReadOptions(
        column_names=column_names(first_record(head, separator)), block_size=_BLOCK_BYTES
    )
    # Scores may begin with whole numbers, so their type does not follow from the first block.
    converting = csv.ConvertOptions(column_types=_known_types(question))
    try:
        with pyarrow.input_stream(file.path, compression=compression) as stream:
            reader = csv.open_csv(
                stream,
                read_options=reading,
                parse_options=csv.ParseOptions(delimiter=separator),
                convert_options=converting,
            )
            yield _with_folders(reader.schema.empty_table(), file)
            for batch in reader:
                yield _with_folders(pyarrow.Table.from_batches([batch]), file)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            expected(
                f"{file.path} to be a CSV file with one type in each column",
                f"`{first_line(error)}`",
                "The types follow from the first 16 MB of a large file; write it as Parquet.",
            )
        ) from error


def _known_types(question: Question) -> dict[str, Any]:
    pyarrow = arrow("pyarrow")
    scores = dict.fromkeys(question.scores, pyarrow.float64())
    return {**scores, **dict.fromkeys(question.by, pyarrow.string())}


def _head(path: str, compression: str | None) -> bytes:
    with arrow("pyarrow").input_stream(path, compression=compression) as stream:
        content = bytes(stream.read(_HEAD_BYTES))
    return content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
