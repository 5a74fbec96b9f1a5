"""Which snapshots the warehouse already has."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.output.failure import Failure
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import file_path, files_of
from jobs.warehouses.warehouse import Warehouse
from schemas.contract.tables import TABLES
from schemas.tables.snapshots import TOPIC_SNAPSHOTS
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.arrow_schema import table_schema

OTHER_CLUSTER = "give this Kafka cluster another name: --cluster NAME"

Row = dict[str, Any]

TIME = "captured_time"


def new_snapshots(
    warehouse: Warehouse,
    name: str,
    snapshots: pa.Table,
    cluster: str,
    files: Mapping[datetime, str] = MappingProxyType({}),
) -> pa.Table:
    """The rows that the warehouse lacks; those that it has must not say anything else there. `files`: by time, where a
    snapshot was read."""
    held = held_snapshots(warehouse, name, snapshots.column(TIME)) if snapshots.num_rows else None
    if held is None:
        return snapshots
    held = held.filter(pc.equal(held.column("cluster"), cluster))
    key = TABLES[name].key
    known = {key_of(row, key): row for row in held.to_pylist()}
    rows = snapshots.to_pylist()
    for row in rows:
        check_same(name, known.get(key_of(row, key)), row, files.get(row[TIME], "--snapshots"))
    return snapshots.filter(pa.array([key_of(row, key) not in known for row in rows], pa.bool_()))


def held_snapshots(warehouse: Warehouse, name: str, times: pa.ChunkedArray) -> pa.Table | None:
    """Only of these times: years of snapshots do not fit into memory."""
    delta = warehouse.open(name)
    if delta is None:
        return None
    bounds, wanted = pc.min_max(times).as_py(), pc.unique(times)
    parts = [table_schema(TABLES[name]).empty_table()]
    for row in files_of(delta).to_pylist():
        if overlap(row["min"].get(TIME), row["max"].get(TIME), bounds):
            parts += rows_of_times(warehouse.path(name) / row["path"], name, bounds, wanted)
    return pa.concat_tables(parts)


def rows_of_times(path: Place, name: str, bounds: dict[str, datetime], wanted: pa.Array) -> Iterator[pa.Table]:
    schema = table_schema(TABLES[name])
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        column = file.schema_arrow.names.index(TIME)
        for group in range(file.num_row_groups):
            statistics = file.metadata.row_group(group).column(column).statistics
            if statistics is None or not statistics.has_min_max or overlap(statistics.min, statistics.max, bounds):
                rows = file.read_row_group(group, schema.names, use_threads=False).cast(schema)
                yield rows.filter(pc.is_in(rows.column(TIME), wanted))


def overlap(low: datetime | None, high: datetime | None, bounds: dict[str, datetime]) -> bool:
    return low is None or high is None or (low <= bounds["max"] and bounds["min"] <= high)


def check_same_log(warehouse: Warehouse, cluster: str, ids: Mapping[str, str]) -> None:
    """Of the offsets topic in snapshots: a cluster has one, and another id is another log. `ids`: each with the file
    that names it."""
    if not ids:
        return
    topic_id, *others = sorted(ids)
    known = others[0] if others else known_topic_id(warehouse, cluster, OFFSETS_TOPIC)
    if known is not None and known != topic_id:
        where = f"{ids[others[0]]}it is" if others else f"in the warehouse, cluster {cluster} has id"
        line = f"{ids[topic_id]}topic {OFFSETS_TOPIC} has id {topic_id}, {where} {known}; {OTHER_CLUSTER}"
        raise Failure(ExitCode.UNREADABLE_INPUT, line)


def known_topic_id(warehouse: Warehouse, cluster: str, topic: str) -> str | None:
    """From one of the snapshots that have it."""
    delta = warehouse.open(TOPIC_SNAPSHOTS.name)
    names = [] if delta is None else files_of(delta).column("path").to_pylist()
    folder = warehouse.path(TOPIC_SNAPSHOTS.name)
    return next((each for name in names for each in topic_ids(folder / file_path(name), cluster, topic)), None)


def topic_ids(path: Place, cluster: str, topic: str) -> Iterator[str]:
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, ["cluster", "topic", "topic_id"], use_threads=False)
            is_it = pc.and_(pc.equal(rows.column("cluster"), cluster), pc.equal(rows.column("topic"), topic))
            yield from rows.filter(is_it).column("topic_id").unique().drop_null().to_pylist()


def key_of(row: Row, key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in key)


def check_same(name: str, held: Row | None, row: Row, file: str) -> None:
    for column, value in row.items():
        theirs = None if held is None else held[column]
        if column != "run_id" and None not in (value, theirs) and value != theirs:
            subject = ", ".join(f"{each} {row[each]}" for each in TABLES[name].key if each not in ("cluster", TIME))
            text = f"{column} {value}{subject and f' of {subject}'} at {row[TIME]}"
            stored = f"the warehouse has {theirs} of cluster {row['cluster']} at this time"
            line = f"{file}: {text}, but {stored}; {OTHER_CLUSTER}"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
