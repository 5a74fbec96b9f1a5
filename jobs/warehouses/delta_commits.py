"""Commits of Delta tables: created from their specs, and changed by one commit per run.

Tasks write the files; here they are only added to the Delta log. delta-rs refuses neither a repeated nor a lower
application version. So `commit` reads the recorded one first: committing the same change again does nothing.
"""

import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

from jobs.storage.places.place import Place
from jobs.storage.refusals import is_refusal
from jobs.warehouses.delta_tables import (
    APPLICATION,
    IS_PROVISIONAL,
    UNREADABLE,
    Change,
    DataFile,
    RemovedFile,
    is_done,
    open_table,
    partitioning,
    version_file,
)
from schemas.tables import BESIDE_RUNS, CONTRACT_VERSION, Table
from udfs.arrays.arrow_schema import table_schema

CONTRACT_PROPERTY = "groupscope.contract_version"
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
FIRST_VERSION = 0
# Delta's own number, where a table does not set another one.
CHECKPOINT_VERSIONS = 100
# For tables that are read only at their newest version: no run names an older one.
KEPT_A_WHILE = {
    "delta.logRetentionDuration": "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 7 days",
}


def clear(path: Place, change: Change, sequence: int) -> None:
    """Removes a table whose log cannot be read, unless an earlier attempt at this change has already created it
    again."""
    try:
        if (delta := open_table(path)) is not None and is_done(path, delta, sequence):
            return
    except UNREADABLE as error:
        if is_refusal(error):
            raise
    (path / "_delta_log").delete_folder()
    added = {file.name for file in change.added}
    for file in path.files_in(".parquet"):
        if file.name not in added:
            file.delete()


def create(path: Place, table: Table, change: Change, sequence: int, time_ms: int) -> DeltaTable:
    """An existing table stays as it is."""
    write_first_version(path, table, change, sequence, time_ms)
    return path.by_delta(lambda uri, options: DeltaTable(uri, storage_options=options))


def write_first_version(path: Place, table: Table, change: Change, sequence: int, time_ms: int) -> bool:
    """Creates a table with its first files in one commit; False: there is one already. delta-rs would create an empty
    table first, since it accepts no custom properties together with files."""
    try:
        version_file(path, FIRST_VERSION).write_new(first_version(table, change, sequence, time_ms))
    except FileExistsError:
        return False
    return True


def first_version(table: Table, change: Change, sequence: int, time_ms: int) -> str:
    """The first commit in the format of Delta's protocol: one action per line."""
    about = declaration(table, str(uuid.uuid4()), time_ms, properties_of(table))
    actions: list[dict[str, Any]] = [
        {"commitInfo": {"timestamp": time_ms, "operation": "CREATE TABLE", "operationParameters": {}}},
        {"protocol": dict(zip(("minReaderVersion", "minWriterVersion"), PROTOCOL, strict=True))},
        {"metaData": about},
        *({"add": added_file(file, time_ms)} for file in change.added),
        transaction(sequence, time_ms),
    ]
    return lines_of(actions)


def declaration(table: Table, table_id: str, created_ms: int, properties: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": table_id,
        "name": table.name,
        "description": table.comment,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": Schema.from_arrow(table_schema(table)).to_json(),
        "partitionColumns": partitioning(table),
        "createdTime": created_ms,
        "configuration": dict(properties),
    }


def renew(
    path: Place, table: Table, change: Change, sequence: int | None, time_ms: int, delta: DeltaTable
) -> DeltaTable | None:
    """Commits the change together with today's declaration of the table, as one version: no reader sees files by other
    columns than theirs. delta-rs changes no partition columns. None: another writer has made that version."""
    before = delta.metadata()
    properties = {**before.configuration, **properties_of(table)}
    about = declaration(table, str(before.id), before.created_time or time_ms, properties)
    actions = [
        {"commitInfo": {"timestamp": time_ms, "operation": "CHANGE COLUMNS", "operationParameters": {}}},
        {"metaData": about},
        *({"add": added_file(file, time_ms)} for file in change.added),
        *({"remove": removed_file(file, time_ms)} for file in change.removed),
        *([] if sequence is None else [transaction(sequence, time_ms)]),
    ]
    try:
        version_file(path, delta.version() + 1).write_new(lines_of(actions))
    except FileExistsError:
        # A server whose answer was lost on the way may have written ours.
        newest = open_table(path)
        return newest if newest is not None and sequence is not None and is_done(path, newest, sequence) else None
    return open_table(path)


def transaction(sequence: int, time_ms: int) -> dict[str, Any]:
    return {"txn": {"appId": APPLICATION, "version": sequence, "lastUpdated": time_ms}}


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


def partition_values(file: DataFile) -> dict[str, str | None]:
    return {} if file.is_provisional is None else {IS_PROVISIONAL: str(file.is_provisional).lower()}


def commit(
    path: Place, table: Table, change: Change, sequence: int, time_ms: int, delta: DeltaTable | None
) -> DeltaTable:
    """Commits the change and returns the table; creates the table if there is none yet (`delta` is None). `sequence`
    increases with each change of the warehouse."""
    if delta is None:
        delta = create(path, table, change, sequence, time_ms)
    if is_done(path, delta, sequence) or not (change.added or change.removed):
        return delta
    if is_written(path, table, change, sequence, time_ms, delta):
        path.by_delta(lambda *_: delta.update_incremental())
        return delta
    if path.is_remote and (newest := open_table(path)) is not None and is_done(path, newest, sequence):
        # A server whose answer was lost on the way had written it.
        return newest
    properties = CommitProperties(app_transactions=[Transaction(APPLICATION, sequence)])
    schema = Schema.from_arrow(table_schema(table))
    partitions = partitioning(table) or None
    path.by_delta(
        lambda *_: delta.create_write_transaction(
            actions_of(change, time_ms), "append", schema, partitions, commit_properties=properties
        ),
    )
    path.by_delta(lambda *_: delta.update_incremental())
    return delta


def is_written(
    path: Place, table: Table, change: Change, sequence: int | None, time_ms: int, delta: DeltaTable
) -> bool:
    """As the next version, by us: delta-rs asks an object store for more than that, and on HDFS it waits half a second
    for the close. It commits to local disks, what it makes a checkpoint of, tables that others have changed the
    properties of, and after a version that another writer has added since: it looks for conflicts. `sequence`:
    None for commits that no run makes."""
    version = delta.version() + 1
    if not path.is_remote or (version + 1) % CHECKPOINT_VERSIONS == 0 or not is_as_made(delta, table):
        return False
    try:
        version_file(path, version).write_new(next_version(table, change, sequence, time_ms))
    except FileExistsError:
        return False
    return True


def is_as_made(delta: DeltaTable, table: Table) -> bool:
    protocol = delta.protocol()
    versions = (protocol.min_reader_version, protocol.min_writer_version)
    return versions == PROTOCOL and delta.metadata().configuration == properties_of(table)


def next_version(table: Table, change: Change, sequence: int | None, time_ms: int) -> str:
    """What delta-rs would write."""
    how = {"mode": "Append", "partitionBy": json.dumps(partitioning(table))}
    of_run = [] if sequence is None else [transaction(sequence, time_ms)]
    return lines_of(
        [
            {"commitInfo": {"timestamp": time_ms, "operation": "WRITE", "operationParameters": how}},
            *({"add": added_file(file, time_ms)} for file in change.added),
            *({"remove": removed_file(file, time_ms)} for file in change.removed),
            *of_run,
        ]
    )


def removed_file(file: RemovedFile, time_ms: int) -> dict[str, Any]:
    return {"path": file.name, "dataChange": file.is_data_change, "deletionTimestamp": time_ms}


def actions_of(change: Change, time_ms: int) -> list[Any]:
    """The actions in delta-rs's form."""
    added = [
        AddAction(file.name, file.size, partition_values(file), time_ms, file.is_data_change, file.stats)
        for file in change.added
    ]
    return [*added, *(RemoveAction(file.name, file.is_data_change, time_ms) for file in change.removed)]
