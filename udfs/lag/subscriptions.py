"""Which partitions groups subscribed to, from when to when, for topics that snapshots contain."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import MemberChange
from schemas.words.records import GroupType
from udfs.arrays.nullable import NONE, Numbers, first_of, numbers, times
from udfs.arrays.number_ranges import ranges
from udfs.lag.as_of import key_codes
from udfs.lag.partition_history import PartitionHistory

SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("topic_id", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("from_time", pa.timestamp("us", "UTC")),
        pa.field("to_time", pa.timestamp("us", "UTC")),
        pa.field("from_record_offset", pa.int64()),
    ]
)


def subscribed_partitions(history: PartitionHistory) -> pa.Table:
    """Rows of `SCHEMA`: the topics of each assignment with all partitions that any snapshot has. Share groups commit
    nothing here."""
    members = history.table("generation_members")
    is_there = pc.and_(
        pc.not_equal(members.column("group_type"), GroupType.SHARE.value),
        pc.fill_null(pc.not_equal(members.column("change"), MemberChange.LEFT.value), True),
    )
    held = subscriptions(members.filter(is_there), history.table("rebalances"))
    rows = history.watermarks.rows.select(["topic", "topic_id", "partition"])
    known = rows.filter(pa.array(first_of(history.watermarks.partition_places)))
    row, partition = pairs(("topic",), held, known)
    columns = {name: held.column(name).take(row) for name in held.column_names}
    columns |= {name: known.column(name).take(partition) for name in ("topic_id", "partition")}
    return pa.table({name: columns[name].cast(SCHEMA.field(name).type) for name in SCHEMA.names})


def pairs(names: tuple[str, ...], some: pa.Table, others: pa.Table) -> tuple[Numbers, Numbers]:
    """Joins the rows of both tables that are equal in these columns."""
    codes, known = key_codes(names, plain(some, names), plain(others, names))
    order = np.argsort(known, kind="stable")
    first = np.searchsorted(known[order], codes, side="left")
    number = np.searchsorted(known[order], codes, side="right") - first
    return np.repeat(np.arange(len(codes)), number), order[ranges(first, number)]


def plain(table: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """Text in one type, since tables use different ones."""
    kinds = {name: table.column(name).type for name in names}
    return pa.table(
        {
            name: table.column(name).cast(pa.string()) if pa.types.is_dictionary(kind) else table.column(name)
            for name, kind in kinds.items()
        }
    )


def subscriptions(members: pa.Table, rebalances: pa.Table) -> pa.Table:
    """One row for each assignment and topic, from the assignment to the group's next one."""
    spans = assignment_spans(rebalances)
    lengths = pc.fill_null(pc.list_value_length(members.column("subscribed_topics")), 0).to_numpy()
    rows = members.select(["group_id", "assignment_offset"]).take(np.repeat(np.arange(len(lengths)), lengths))
    topics = pc.list_flatten(members.column("subscribed_topics")).cast(pa.string())
    rows = rows.append_column("topic", topics).group_by(["group_id", "assignment_offset", "topic"]).aggregate([])
    row, span = pairs(("group_id", "assignment_offset"), rows, spans)
    return pa.table(
        {
            "group_id": rows.column("group_id").take(row),
            "from_record_offset": rows.column("assignment_offset").take(row),
            "topic": rows.column("topic").take(row),
            "from_time": spans.column("from_time").take(span),
            "to_time": spans.column("to_time").take(span),
        }
    )


def assignment_spans(rebalances: pa.Table) -> pa.Table:
    rows = rebalances.sort_by([("group_id", "ascending"), ("assignment_offset", "ascending")])
    (groups,) = key_codes(("group_id",), rows)
    begun = numbers(rows.column("start_time"))
    is_last = np.append(first_of(groups)[1:], True)[: len(groups)]
    ended = np.where(is_last, NONE, np.append(begun[1:], NONE)[: len(begun)])
    return pa.table(
        {
            "group_id": rows.column("group_id").cast(pa.string()),
            "assignment_offset": rows.column("assignment_offset"),
            "from_time": times(begun),
            "to_time": times(ended),
        }
    )
