"""Delta tables as the driver of a run uses them: created from their specs, and changed by one commit per run.

Tasks write the files; here they are only added to the Delta log. delta-rs refuses neither a repeated nor a lower
application version. So `commit` reads the recorded one first: committing the same change again does nothing.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

from jobs.storage.stored_path import (
    Place,
    StoredPath,
    delete,
    delete_folder,
    delta_table_at,
    files_in,
    is_file,
    parquet_source,
    write_new,
)
from jobs.warehouses.older_tables import completed
from schemas.contract.tables import BESIDE_RUNS, CONTRACT_VERSION
from schemas.declarations.columns import Table
from udfs.arrays.arrow_schema import table_schema

APPLICATION = "groupscope"
# Errors that reading a damaged table or file may raise.
UNREADABLE = (DeltaError, OSError, pa.ArrowException, ValueError)
CONTRACT_PROPERTY = "groupscope.contract_version"
IS_OPEN = "is_open"
# Runs name versions of tables. These must stay readable: an audit may ask for them years later.
KEPT_FOR_GOOD = "interval 36500 days"
PROPERTIES = {
    CONTRACT_PROPERTY: str(CONTRACT_VERSION),
    "delta.logRetentionDuration": KEPT_FOR_GOOD,
    "delta.deletedFileRetentionDuration": KEPT_FOR_GOOD,
    # Queries filter by the first columns; raw bytes and long text come after them.
    "delta.dataSkippingNumIndexedCols": "12",
}
# Of readers and of writers.
PROTOCOL = (1, 2)
# Delta's own number, where a table does not set another one.
CHECKPOINT_VERSIONS = 100
# For tables that are read only at their newest version: no run names an older one.
KEPT_A_WHILE = {
    "delta.logRetentionDuration": "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 7 days",
}


@dataclass(frozen=True)
class DataFile:
    """A finished Parquet file of a table, with its entry for the Delta log."""

    name: str
    size: int
    num_rows: int
    stats: str
    # False if its rows only moved here from other files. Readers of the table's changes must not see them again.
    is_data_change: bool = True
    # The value for all its rows, in tables that are partitioned by it.
    is_open: bool | None = None


@dataclass(frozen=True)
class Removed:
    name: str
    is_data_change: bool


@dataclass(frozen=True)
class Change:
    """What one run changes in one table."""

    added: tuple[DataFile, ...] = ()
    removed: tuple[Removed, ...] = ()


def open_table(path: Place, version: int | None = None) -> DeltaTable | None:
    try:
        with delta_table_at(path) as (uri, options):
            return DeltaTable(uri, version=version, storage_options=options)
    except TableNotFoundError:
        return None


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def clear(path: Place, change: Change, sequence: int) -> None:
    """Removes a table whose log cannot be read, unless an earlier attempt at this change has already created it
    again."""
    try:
        if (delta := open_table(path)) is not None and is_done(delta, sequence):
            return
    except UNREADABLE:
        pass
    delete_folder(path / "_delta_log")
    added = {file.name for file in change.added}
    for file in files_in(path, ".parquet"):
        if file.name not in added:
            delete(file)


def create(path: Place, table: Table, change: Change, sequence: int, time_ms: int) -> DeltaTable:
    """Creates a table with its first files in one commit. An existing table stays as it is. delta-rs would create an
    empty table first, since it accepts no custom properties together with files."""
    with suppress(FileExistsError):
        write_new(version_file(path, 0), first_version(table, change, sequence, time_ms))
    with delta_table_at(path) as (uri, options):
        return DeltaTable(uri, storage_options=options)


def first_version(table: Table, change: Change, sequence: int, time_ms: int) -> str:
    """The first commit in the format of Delta's protocol: one action per line."""
    about = {
        "id": str(uuid.uuid4()),
        "name": table.name,
        "description": table.comment,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": Schema.from_arrow(table_schema(table)).to_json(),
        "partitionColumns": partitioning(table),
        "createdTime": time_ms,
        "configuration": properties_of(table),
    }
    actions: list[dict[str, Any]] = [
        {"commitInfo": {"timestamp": time_ms, "operation": "CREATE TABLE", "operationParameters": {}}},
        {"protocol": dict(zip(("minReaderVersion", "minWriterVersion"), PROTOCOL, strict=True))},
        {"metaData": about},
        *({"add": added_file(file, time_ms)} for file in change.added),
        {"txn": {"appId": APPLICATION, "version": sequence, "lastUpdated": time_ms}},
    ]
    return lines_of(actions)


def lines_of(actions: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(action, ensure_ascii=False)}\n" for action in actions)


def added_file(file: DataFile, time_ms: int) -> dict[str, Any]:
    return {
        "path": file.name,
        "partitionValues": partition_values(file),
        "size": file.size,
        "modificationTime": time_ms,
        "dataChange": file.is_data_change,
        "stats": file.stats,
    }


def properties_of(table: Table) -> dict[str, str]:
    return PROPERTIES | KEPT_A_WHILE if table.name in BESIDE_RUNS else PROPERTIES


def partitioning(table: Table) -> list[str]:
    """Rows that may still change are in separate files, so that a run can replace them. The column is also in the
    files, for readers that do not use the Delta log."""
    return [column.name for column in table.columns if column.name == IS_OPEN]


def partition_values(file: DataFile) -> dict[str, str | None]:
    return {} if file.is_open is None else {IS_OPEN: str(file.is_open).lower()}


def commit(
    path: Place, table: Table, change: Change, sequence: int, time_ms: int, delta: DeltaTable | None
) -> DeltaTable:
    """Commits the change and returns the table; creates the table if there is none yet (`delta` is None). `sequence`
    increases with each change of the warehouse."""
    if delta is None:
        delta = create(path, table, change, sequence, time_ms)
    if is_done(delta, sequence) or not (change.added or change.removed):
        return delta
    if is_written(path, table, change, sequence, time_ms, delta):
        with delta_table_at(path):
            delta.update_incremental()
        return delta
    if isinstance(path, StoredPath) and (newest := open_table(path)) is not None and is_done(newest, sequence):
        # A server whose answer was lost on the way had written it.
        return newest
    properties = CommitProperties(app_transactions=[Transaction(APPLICATION, sequence)])
    schema = Schema.from_arrow(table_schema(table))
    with delta_table_at(path):
        delta.create_write_transaction(
            actions_of(change, time_ms),
            "append",
            schema,
            partitioning(table) or None,
            commit_properties=properties,
        )
        delta.update_incremental()
    return delta


def is_written(path: Place, table: Table, change: Change, sequence: int, time_ms: int, delta: DeltaTable) -> bool:
    """As the next version, by us: delta-rs asks an object store for more than that, and on HDFS it waits half a second
    for the close. It commits to local disks, what it makes a checkpoint of, tables that others have changed the
    properties of, and after a version that somebody else has written meanwhile: it looks for conflicts."""
    version = delta.version() + 1
    if isinstance(path, Path) or (version + 1) % CHECKPOINT_VERSIONS == 0 or not is_as_made(delta, table):
        return False
    try:
        write_new(version_file(path, version), next_version(table, change, sequence, time_ms))
    except FileExistsError:
        return False
    return True


def is_as_made(delta: DeltaTable, table: Table) -> bool:
    protocol = delta.protocol()
    versions = (protocol.min_reader_version, protocol.min_writer_version)
    return versions == PROTOCOL and delta.metadata().configuration == properties_of(table)


def next_version(table: Table, change: Change, sequence: int, time_ms: int) -> str:
    """What delta-rs would write."""
    how = {"mode": "Append", "partitionBy": json.dumps(partitioning(table))}
    return lines_of(
        [
            {"commitInfo": {"timestamp": time_ms, "operation": "WRITE", "operationParameters": how}},
            *({"add": added_file(file, time_ms)} for file in change.added),
            *({"remove": removed_file(file, time_ms)} for file in change.removed),
            {"txn": {"appId": APPLICATION, "version": sequence, "lastUpdated": time_ms}},
        ]
    )


def removed_file(file: Removed, time_ms: int) -> dict[str, Any]:
    return {"path": file.name, "dataChange": file.is_data_change, "deletionTimestamp": time_ms}


def actions_of(change: Change, time_ms: int) -> list[Any]:
    """The actions in delta-rs's form."""
    added = [
        AddAction(file.name, file.size, partition_values(file), time_ms, file.is_data_change, file.stats)
        for file in change.added
    ]
    return [*added, *(RemoveAction(file.name, file.is_data_change, time_ms) for file in change.removed)]


def is_newest(path: Place, version: int) -> bool:
    """Whether the table is still at its newest version. It looks for one file and opens nothing."""
    return not is_file(version_file(path, version + 1))


def version_file(path: Place, version: int) -> Place:
    return path / "_delta_log" / f"{version:020}.json"


def sequence_of(delta: DeltaTable) -> int:
    """The sequence number of the last run that changed the table; 0 if none has."""
    return delta.transaction_version(APPLICATION) or 0


def is_done(delta: DeltaTable, sequence: int) -> bool:
    return sequence_of(delta) >= sequence


def files_of(delta: DeltaTable) -> pa.Table:
    """One row per file: `path`, `size_bytes`, `num_records`, and `min`, `max`, `null_count` as structs."""
    return pa.table(delta.get_add_actions(flatten=False))


def rows_of(
    delta: DeltaTable,
    table: Table,
    columns: Sequence[str] | None = None,
    cluster: str | None = None,
    folder: Place | None = None,
    may_hold: Callable[[Mapping[str, Any]], bool] | None = None,
) -> pa.Table:
    """Reads rows file after file, on this thread. delta-rs reads with Arrow threads that call back into Python; if one
    still runs when the process ends, the process aborts (apache/arrow#34314). Files without rows of the cluster are not
    read: they may be damaged. `folder`: the table's, needed if it is not local. `may_hold` decides by a file's entry in
    the Delta log whether to read it."""
    schema = table_schema(table)
    wanted = pa.schema([schema.field(name) for name in columns]) if columns else schema
    parts = [wanted.empty_table()]
    for uri, row in zip(delta.file_uris(), files_of(delta).to_pylist(), strict=True):
        is_other = cluster is not None and not clusters_of(row, [cluster])
        if is_other or (may_hold is not None and not may_hold(row)):
            continue
        place = folder / unquote(row["path"]) if isinstance(folder, StoredPath) else file_path(uri)
        with pq.ParquetFile(parquet_source(place), pre_buffer=False) as file:
            rows = file.read([*{*wanted.names, "cluster"}], use_threads=False)
        if cluster is not None:
            rows = rows.filter(pc.equal(rows.column("cluster"), cluster))
        parts.append(completed(rows, wanted, place))
    return pa.concat_tables(parts)


def clusters_of(file: Mapping[str, Any], known: Iterable[str]) -> frozenset[str]:
    """Clusters whose rows the file may contain, by the Delta log."""
    least, most = ((file[side] or {}).get("cluster") for side in ("min", "max"))
    return frozenset(each for each in known if (least is None or least <= each) and (most is None or each <= most))


def file_path(uri: str) -> Path:
    """delta-rs escapes a space in a path, even in a path without a scheme."""
    return Path(unquote(urlparse(uri).path if uri.startswith("file:") else uri))
