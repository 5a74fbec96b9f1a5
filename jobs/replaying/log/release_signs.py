"""What decoded records show of the releases that wrote them. The driver needs that of all offsets partitions before any
of them is replayed: a partition with hardly any groups goes by the records of the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.row_groups import EPOCH, PARTITION, LogFile, bounds_of, column_in, is_all_null
from udfs.arrays.nullable import filled
from udfs.log import release_lines as lines
from udfs.log.leader_epochs import NO_EPOCH
from udfs.log.release_lines import Sign, merged_signs

Signs = dict[int, tuple[Sign, ...]]
CLUSTER, TIME, VERSION = "cluster", "record_time", "value_version"
COMMITS = "offset_commits"
LAST_BEFORE_4 = 3
# Of commits: with a retention time of the request, which all releases write.
OF_REQUESTS = 1


class Shown(NamedTuple):
    """Rows of a table that show a sign. Whether they do depends on these columns alone; `needs`: if all its values are
    NULL, there are none."""

    sign: str
    columns: tuple[str, ...]
    are: Callable[[pa.Table], Any]
    needs: str


def valid(name: str) -> Callable[[pa.Table], Any]:
    return lambda rows: pc.is_valid(rows.column(name))


def is_listed(rows: pa.Table) -> Any:
    """Consumer groups in the later shape."""
    is_consumer = pc.equal(rows.column("group_type"), "consumer")
    is_value = pc.and_(is_consumer, pc.is_valid(rows.column(VERSION)))
    return pc.and_(is_value, pc.is_null(rows.column("epoch")))


SHOWN: Mapping[str, Sequence[Shown]] = {
    "classic_group_metadata": [
        Shown(lines.NEW_GROUP, ("generation",), lambda rows: pc.equal(rows.column("generation"), 0), "generation"),
    ],
    "group_metadata": [
        Shown(lines.HASHED_TOPICS, ("metadata_hash",), valid("metadata_hash"), "metadata_hash"),
        Shown(lines.VALIDATED, ("validated_topology_epoch",), valid("validated_topology_epoch"),
              "validated_topology_epoch"),
        *(Shown(lines.DESCRIBED, (name,), valid(name), name)
          for name in ("stored_description_topology_epoch", "failed_description_topology_epoch")),
    ],
    "target_assignment_metadata": [
        Shown(lines.TARGET, ("assignment_epoch",), valid("assignment_epoch"), "assignment_epoch"),
        Shown(lines.TIMED_TARGET, ("assignment_time",), valid("assignment_time"), "assignment_time"),
    ],
    "current_member_assignments": [
        Shown(lines.EARLY_SHAPE, ("target_member_epoch",), valid("target_member_epoch"), "target_member_epoch"),
    ],
    "group_partition_metadata": [
        Shown(lines.EARLY_SHAPE, ("epoch",), valid("epoch"), "epoch"),
        Shown(lines.LISTED_TOPICS, ("group_type", VERSION, "epoch"), is_listed, VERSION),
    ],
}  # fmt: skip


def signs_in(files: Mapping[str, Sequence[LogFile]], cluster: str, opened: Opened) -> Signs:
    """By offsets partition."""
    found: dict[int, list[Sign]] = {}
    for name, shown in SHOWN.items():
        for each in files.get(name, ()):
            for partition, sign in signs_of_groups(each, shown, cluster, opened):
                found.setdefault(partition, []).append(sign)
    for each in files.get(COMMITS, ()):
        for partition, sign in signs_of_commits(each, cluster, opened):
            found.setdefault(partition, []).append(sign)
    return {partition: merged_signs(signs) for partition, signs in found.items()}


def signs_of_groups(file: LogFile, shown: Sequence[Shown], cluster: str, opened: Opened) -> Iterator[tuple[int, Sign]]:
    footer = opened.footer(file.path)
    for group in range(footer.num_row_groups):
        row_group = footer.row_group(group)
        asked = [each for each in shown if may_have(row_group, each.needs)]
        if not asked:
            continue
        columns = {CLUSTER, PARTITION, EPOCH, TIME, *(name for each in asked for name in each.columns)}
        rows = read(file, footer, group, columns)
        rows = rows.filter(pc.equal(rows.column(CLUSTER), cluster))
        for each in asked:
            for partition, epoch, first, last in spans(rows.filter(pc.fill_null(each.are(rows), False))):
                yield partition, Sign(epoch, each.sign, first, last)


def spans(rows: pa.Table) -> Iterator[tuple[int, int, int | None, int | None]]:
    """Offsets partition and leader epoch of these rows, with the first and the last time."""
    keys = [PARTITION, EPOCH]
    times = rows.select(keys).append_column(TIME, rows.column(TIME).cast(pa.int64()))
    found = times.group_by(keys, use_threads=False).aggregate([(TIME, "min"), (TIME, "max")])
    for row in found.to_pylist():
        epoch = NO_EPOCH if row[EPOCH] is None else row[EPOCH]
        yield row[PARTITION], epoch, row[f"{TIME}_min"], row[f"{TIME}_max"]


def signs_of_commits(file: LogFile, cluster: str, opened: Opened) -> Iterator[tuple[int, Sign]]:
    """They are most of the log: what the footers say of a row group is not read."""
    footer = opened.footer(file.path)
    for group in range(footer.num_row_groups):
        row_group = footer.row_group(group)
        only = {name: only_value(row_group, name) for name in (CLUSTER, PARTITION, EPOCH)}
        # Only deletions have no version, and they show nothing. But all of a partition may be deletions.
        only[VERSION] = only_value(row_group, VERSION, may_be_null=None not in only.values())
        several = [name for name, value in only.items() if value is None]
        if only[CLUSTER] not in (None, cluster):
            continue
        rows = read(file, footer, group, several) if several else None
        if rows is not None and CLUSTER in several:
            rows = rows.filter(pc.equal(rows.column(CLUSTER), cluster))
        for partition, epoch, version in [tuple(only.values())[1:]] if rows is None else distinct(rows, only):
            if version >= 0 and version != OF_REQUESTS:
                yield partition, Sign(epoch, lines.COMMIT_3 if version <= LAST_BEFORE_4 else lines.COMMIT_4)


def only_value(row_group: pq.RowGroupMetaData, name: str, *, may_be_null: bool = False) -> Any:
    """None: there may be several, or NULL."""
    column = column_in(row_group, name)
    if column is None or not column.is_stats_set or (column.statistics.null_count and not may_be_null):
        return None
    least, most = bounds_of(column) or (None, None)
    return least if least == most else None


def distinct(rows: pa.Table, only: Mapping[str, Any]) -> list[Any]:
    """Offsets partitions, leader epochs and value versions; -1 for NULL. `only`: the value of columns that have one."""
    names, size = (PARTITION, EPOCH, VERSION), rows.num_rows
    parts = [
        filled(rows.column(name), -1).to_numpy().astype(np.int64) if only[name] is None else np.full(size, only[name])
        for name in names
    ]
    is_first = np.ones(size, np.bool_)
    if size:
        # Rows of a partition and of a leader mostly follow each other: what repeats the row before is left out.
        is_first[1:] = np.logical_or.reduce([part[1:] != part[:-1] for part in parts])
    return sorted(set(zip(*(part[is_first].tolist() for part in parts), strict=True)))


def may_have(row_group: pq.RowGroupMetaData, name: str) -> bool:
    """Files of older releases lack some columns."""
    column = column_in(row_group, name)
    return column is not None and not is_all_null(column)


def read(file: LogFile, footer: pq.FileMetaData, group: int, columns: Iterable[str]) -> pa.Table:
    with pq.ParquetFile(file.path.parquet_source(), metadata=footer, pre_buffer=False) as opened:
        return opened.read_row_group(group, columns=sorted(columns), use_threads=False)
