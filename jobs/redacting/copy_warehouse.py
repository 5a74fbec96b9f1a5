"""Copies a finished warehouse, all its clusters, with hashes in the place of names.

The copy has every table that users see, at the versions of the newest run, each in its first Delta version. Tables that
only the next run reads are empty, since no run may change the copy. Its marker is written last: without it, no command
takes the folder for a warehouse.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.output.failure import Failure
from jobs.output.progress import counting
from jobs.redacting.redaction import Key, Kind, Redaction, kind_of, known_words
from jobs.storage.closes import wait_for_closes
from jobs.storage.places.place import Place
from jobs.warehouses.any_warehouse import check_has_runs
from jobs.warehouses.delta_commits import write_first_version
from jobs.warehouses.delta_tables import Change, DataFile, file_path, files_of, is_provisional
from jobs.warehouses.manifest import RUNS
from jobs.warehouses.older_tables import with_missing_columns
from jobs.warehouses.open_warehouse import unusable_when_full
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from jobs.warehouses.warehouse_marker import MARKER, marker_text
from schemas.tables import TABLES, Table
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema

# Of the texts of a column, or of a field in it; its path.
OnTexts = Callable[[pa.Array, str], pa.Array]
# The copy's tables have one version.
SEQUENCE, VERSION = 1, 0
# Names that no sentence has, or that are too short to be looked for in one.
NOT_IN_SENTENCES = (
    "metadata", "rack", "racks", "rack_id", "subtopology_id", "value", "key", "text", "group_pattern",
)  # fmt: skip


@dataclass(frozen=True)
class Copied:
    place: str
    num_tables: int
    num_rows: int

    @property
    def line(self) -> str:
        return f"{self.place}: a redacted copy, {self.num_tables} tables with {self.num_rows} rows"


@dataclass(frozen=True)
class SourceFile:
    table: Table
    place: Place
    is_provisional: bool | None


def copy_warehouse(source: Warehouse, target: Place, key: Key, time_ms: int) -> Copied:
    with unusable_when_full(target):
        check_has_runs(source)
        check_new(target)
        versions = source.readable_versions()
        files = [file for name, version in versions.items() for file in source_files(source, TABLES[name], version)]
        redaction = Redaction(key.secret, all_names(files))
        rows = write_tables(source, target, files, versions, redaction, time_ms)
        wait_for_closes()
        (target / MARKER).write_whole(marker_text(is_redacted=True))
    return Copied(str(target), len(versions), rows)


def check_new(target: Place) -> None:
    if target.is_no_folder():
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{target}: is a file; give a new or empty folder for the copy")
    target.make_folder()
    if names := sorted(target.names_in()):
        line = f"{target}: already holds {names[0]}; give a new or empty folder for the copy"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)


def source_files(source: Warehouse, table: Table, version: int) -> Iterator[SourceFile]:
    delta, folder = source.open_at(table.name, version), source.path(table.name)
    for row in [] if delta is None else files_of(delta).to_pylist():
        yield SourceFile(table, folder / file_path(row["path"]), is_provisional(table, row))


def windows_of(file: SourceFile) -> Iterator[pa.Table]:
    """The rows, as many at once as their file has together."""
    schema = table_schema(file.table)
    with pq.ParquetFile(file.place.parquet_source(), pre_buffer=False) as opened:
        for number in range(opened.num_row_groups):
            yield with_missing_columns(opened.read_row_group(number, use_threads=False), schema, file.place)


def all_names(files: list[SourceFile]) -> set[str]:
    names: set[str] = set()
    with counting(len(files), "files") as activity:
        for file in files:
            for rows in windows_of(file):
                names.update(names_in(file.table.name, rows))
            activity.done += 1
    return names


def write_tables(
    source: Warehouse,
    target: Place,
    files: list[SourceFile],
    versions: dict[str, int],
    redaction: Redaction,
    time_ms: int,
) -> int:
    """`runs` last: before that, a reader of the folder sees no run."""
    state = [name for name in source.versions() if TABLES[name].is_state]
    named = [(TABLES[name].folder, VERSION) for name in [*versions, *state] if name != RUNS]
    num_rows = 0
    with counting(len(files), "files") as activity:
        for name in sorted([*versions, *state], key=lambda each: each == RUNS):
            added: list[DataFile] = []
            for file in (each for each in files if each.table.name == name):
                added += write_file(file, target, redaction, named)
                activity.done += 1
            num_rows += sum(file.num_rows for file in added)
            write_first_version(target / TABLES[name].folder, TABLES[name], Change(tuple(added)), SEQUENCE, time_ms)
    return num_rows


def write_file(
    file: SourceFile, target: Place, redaction: Redaction, named: list[tuple[str, int]]
) -> Iterator[DataFile]:
    written = TableFile(target / file.table.folder, file.table, "redacted")
    for rows in windows_of(file):
        hashed = with_texts(rows, lambda texts, path: redacted_texts(redaction, texts, kind_of(file.table.name, path)))
        written.write(with_versions(hashed, named) if file.table.name == RUNS else hashed)
    if (done := written.close()) is not None:
        yield replace(done, is_provisional=file.is_provisional)


def with_versions(runs: pa.Table, named: list[tuple[str, int]]) -> pa.Table:
    place = runs.schema.get_field_index("table_versions")
    field = runs.schema.field(place)
    return runs.set_column(place, field, pa.array([named] * runs.num_rows, field.type))


def names_in(table: str, rows: pa.Table) -> set[str]:
    """Names that sentences of any table may have."""
    names: set[str] = set()

    def collect(texts: pa.Array, path: str) -> pa.Array:
        kind = kind_of(table, path)
        if kind in (Kind.NAME, Kind.WORD) and path.rpartition(".")[2] not in NOT_IN_SENTENCES:
            found = {text for text in texts.unique().to_pylist() if text}
            names.update(found - known_words() if kind is Kind.WORD else found)
        return texts

    with_texts(rows, collect)
    return names


def with_texts(rows: pa.Table, change: OnTexts) -> pa.Table:
    """With other texts at any depth, and without bytes; all else is as it was."""
    columns = [
        changed(column.combine_chunks(), name, change)
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=rows.schema)


def changed(array: pa.Array, path: str, change: OnTexts) -> pa.Array:
    kind = array.type
    if pa.types.is_string(kind):
        return change(array, path)
    if pa.types.is_binary(kind):
        return pa.nulls(len(array), kind)
    if not pa.types.is_nested(kind):
        return array
    is_null = array.is_null()
    if pa.types.is_map(kind):
        keys, values = changed(array.keys, f"{path}.key", change), changed(array.items, f"{path}.value", change)
        return pa.MapArray.from_arrays(array.offsets, keys, values, kind, mask=is_null)
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, changed(array.values, path, change), kind, mask=is_null)
    fields = [changed(array.field(at), f"{path}.{each.name}", change) for at, each in enumerate(kind)]
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=is_null)


def redacted_texts(redaction: Redaction, array: pa.Array, kind: Kind) -> pa.Array:
    """Each distinct text is looked at once."""
    if kind is Kind.OURS:
        return array
    if kind is Kind.RAW:
        return pa.nulls(len(array), array.type)
    encoded = array.dictionary_encode()
    replaced = [redaction.of_kind(kind, text) for text in encoded.dictionary.to_pylist()]
    return pa.array(replaced, pa.string()).take(encoded.indices)
