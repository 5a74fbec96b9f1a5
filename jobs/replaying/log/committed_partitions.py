"""Which partitions were committed by the name of their topic alone, and when, from decoded commits. Few logs need it:
those with topic ids that nothing else names."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.row_groups import LogFile
from udfs.audit.modern.topic_names import CommittedPartitions, committed_partitions

KEYS = ["topic", "partition"]
COLUMNS = ["cluster", *KEYS, "topic_id", "is_tombstone", "record_time"]
SCHEMA = pa.schema(
    [("topic", pa.string()), ("partition", pa.int32()), ("first_time", pa.int64()), ("last_time", pa.int64())]
)


def committed_in(files: Sequence[LogFile], names: set[str], cluster: str, opened: Opened) -> CommittedPartitions:
    found = pa.concat_tables([SCHEMA.empty_table(), *committed(files, names, cluster, opened)])
    return committed_partitions(spans(found, "first_time", "last_time"))


def committed(files: Sequence[LogFile], names: set[str], cluster: str, opened: Opened) -> Iterator[pa.Table]:
    wanted = pa.array(sorted(names), pa.string())
    for each in files:
        footer = opened.footer(each.path)
        with pq.ParquetFile(each.path.parquet_source(), metadata=footer, pre_buffer=False) as file:
            for group in range(footer.num_row_groups):
                rows = file.read_row_group(group, columns=COLUMNS, use_threads=False)
                is_ours = pc.and_(pc.equal(rows["cluster"], cluster), pc.is_in(rows["topic"], value_set=wanted))
                is_plain = pc.and_(pc.is_null(rows["topic_id"]), pc.invert(rows["is_tombstone"]))
                chosen = rows.filter(pc.and_(is_ours, is_plain)).select([*KEYS, "record_time"])
                time = chosen["record_time"].cast(pa.int64())
                yield spans(chosen.append_column("time", time).drop_columns("record_time"), "time", "time")


def spans(rows: pa.Table, first: str, last: str) -> pa.Table:
    """By partition, the least of one column of times and the greatest of the other."""
    made = rows.group_by(KEYS, use_threads=False).aggregate([(first, "min"), (last, "max")])
    times = (made[name] for name in (f"{first}_min", f"{last}_max"))
    return pa.table([made["topic"], made["partition"], *times], SCHEMA).filter(pc.is_valid(made[f"{first}_min"]))
