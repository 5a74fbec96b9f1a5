"""Makes rows of odd_commits from single commits, by partition, kind and day."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables import TABLES
from schemas.words.lag import OddCommitKind
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.capped import where_too_large
from udfs.arrays.nullable import NONE, Flags, Numbers, flags, integers, numbers, times
from udfs.arrays.texts import as_texts
from udfs.lag.confidence import LIKELY, POSSIBLE, named
from udfs.rules.facts.effective_commits import DAY_US
from udfs.rules.offset_resets.reset_rows import BY_THE_JOB

Kind = OddCommitKind
SUBJECT = ("group_id", "topic", "topic_id", "partition")
KEY = (*SUBJECT, "kind", "day")
# Of the last commit of the day: what it commits, and what that is compared with.
DETAILS = {
    Kind.GROUP_EMPTY: "committed offset {committed}, but the group has had no members since the record at offset "
    "{compared}",
    Kind.PARTITION_NOT_OWNED: "committed offset {committed}, but no member owned the partition; number of members: "
    "{compared}",
    Kind.TOPIC_NOT_SUBSCRIBED: "committed offset {committed}, but no member subscribed to the topic; number of "
    "members: {compared}",
    Kind.REWIND: "committed offset {committed}, lower than {compared} before",
    Kind.BEYOND_END: "committed offset {committed}, beyond the end of the partition, which the next snapshot has "
    "at {compared}",
    Kind.BELOW_START: "committed offset {committed}, before the start of the partition, which the previous "
    "snapshot has at {compared}",
    Kind.NEGATIVE: "committed offset {committed}; consumers ignore an offset below 0",
    Kind.AFTER_MOVE: "committed offset {committed}, lower than {compared}, which the partition's new owner "
    "committed before",
}
# The previous owner, or a second program in the new owner's place: the log does not show which.
DOUBTS = dict.fromkeys(Kind, LIKELY) | {Kind.AFTER_MOVE: POSSIBLE}
# These add up; of the others the last commit of a day has the number, if there is one.
SUMMED = (Kind.REWIND, Kind.AFTER_MOVE)
# A sum of which a part is not known is not known.
ALL_KNOWN = pc.ScalarAggregateOptions(skip_nulls=False)


@dataclass(frozen=True)
class Findings:
    """A row for each commit of one kind. `rows` have the subject; NONE in `compared` and `num_messages`: none."""

    kind: OddCommitKind
    rows: pa.Table
    group_type: pa.ChunkedArray
    time: Numbers
    offset: Numbers
    committed: Numbers
    is_possible: Flags
    compared: Numbers
    num_messages: Numbers

    @property
    def table(self) -> pa.Table:
        columns = {name: self.rows.column(name) for name in SUBJECT}
        size = len(self.time)
        return pa.table(
            columns
            | {
                "kind": pa.repeat(pa.scalar(str(self.kind)), size),
                "day": pa.array(self.time // DAY_US),
                "group_type": self.group_type,
                "time": pa.array(self.time),
                "offset": pa.array(self.offset),
                "committed": pa.array(self.committed),
                "compared": pa.array(self.compared, mask=self.compared == NONE),
                "is_possible": pa.array(self.is_possible),
                "num_messages": pa.array(self.num_messages, mask=self.num_messages == NONE),
                "rounded": pa.array(self.num_messages.astype(np.float64), mask=self.num_messages == NONE),
            }
        )


def day_rows(findings: list[Findings], offsets_partition: int) -> pa.Table:
    schema = table_schema(TABLES["odd_commits"])
    schema = pa.schema([field for field in schema if field.name not in BY_THE_JOB])
    days = [by_day(each) for each in findings if len(each.time)]
    if not days:
        return schema.empty_table()
    rows = pa.concat_tables(days)
    columns = {name: rows.column(name) for name in schema.names if name in rows.column_names}
    columns |= {"evidence_partition": pa.repeat(pa.scalar(offsets_partition, pa.int32()), rows.num_rows)}
    return pa.table([columns[name].cast(schema.field(name).type) for name in schema.names], schema=schema)


def in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in TABLES["odd_commits"].order if name not in BY_THE_JOB])


def by_day(findings: Findings) -> pa.Table:
    """Of one kind."""
    kind = findings.kind
    rows = findings.table.sort_by("offset").group_by([*KEY], use_threads=False).aggregate(
        [("time", "count"), ("time", "min"), ("time", "max"), ("offset", "min"), ("offset", "max"),
         ("committed", "last"), ("compared", "last"), ("group_type", "last"), ("is_possible", "any"),
         ("num_messages", "last"), ("num_messages", "sum", ALL_KNOWN), ("rounded", "sum", ALL_KNOWN)]
    )  # fmt: skip
    rows = as_texts(rows)
    num_messages = summed_messages(rows) if kind in SUMMED else rows.column("num_messages_last")
    details: list[dict[str, Any]] = rows.select(["committed_last", "compared_last"]).to_pylist()
    texts = [DETAILS[kind].format(committed=row["committed_last"], compared=row["compared_last"]) for row in details]
    return pa.table(
        {name: rows.column(name) for name in (*SUBJECT, "kind")}
        | {
            "group_type": rows.column("group_type_last"),
            "day_time": times(np.asarray(rows.column("day")) * DAY_US),
            "num_commits": rows.column("time_count"),
            "first_time": pc.cast(rows.column("time_min"), pa.timestamp("us", "UTC")),
            "last_time": pc.cast(rows.column("time_max"), pa.timestamp("us", "UTC")),
            "num_messages": num_messages,
            "last_committed_offset": rows.column("committed_last"),
            "detail": pa.array(texts, pa.string()),
            "evidence_first_offset": rows.column("offset_min"),
            "evidence_last_offset": rows.column("offset_max"),
            "confidence": named(np.where(flags(rows.column("is_possible_any")), POSSIBLE, DOUBTS[kind])),
        }
    )


def summed_messages(rows: pa.Table) -> pa.Array:
    """NULL if one of them is not known."""
    sums, rounded = numbers(rows.column("num_messages_sum")), rows.column("rounded_sum").fill_null(0.0).to_numpy()
    return integers(np.where(sums == NONE, NONE, where_too_large(sums, rounded)))
