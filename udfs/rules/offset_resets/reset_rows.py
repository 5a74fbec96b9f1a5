"""Makes the rows of offset_resets: the partitions of one topic in one operation, and what happened to them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemas.tables import TABLES
from schemas.words.history import Confidence
from schemas.words.lag import ResetKind
from udfs.arrays.arrow_schema import table_schema

Row = dict[str, Any]
# The job knows these.
BY_THE_JOB = ("cluster", "is_provisional")
SCHEMA = pa.schema([field for field in table_schema(TABLES["offset_resets"]) if field.name not in BY_THE_JOB])


@dataclass(frozen=True)
class Event:
    """`score`: of a kind that has signs. Times are microseconds."""

    group_id: str
    group_type: str | None
    topic: str
    topic_id: str | None
    at_time: int | None
    kind: ResetKind
    actor: str
    confidence: Confidence
    score: int | None
    num_members: int | None
    first_offset: int
    last_offset: int
    messages_reread: int | None
    messages_skipped: int | None
    # By partition, ascending: what was committed before and after; None: nothing.
    moved: tuple[tuple[int, int | None, int | None], ...]

    def row(self, offsets_partition: int) -> Row:
        return {
            "at_time": self.at_time, "group_id": self.group_id, "group_type": self.group_type, "topic": self.topic,
            "topic_id": self.topic_id, "kind": self.kind, "actor": self.actor, "actor_reason": None,
            "num_partitions": len(self.moved),
            "partitions": [partition for partition, _, _ in self.moved],
            "from_offsets": [before for _, before, _ in self.moved],
            "to_offsets": [after for _, _, after in self.moved if after is not None],
            "messages_reread": self.messages_reread, "messages_skipped": self.messages_skipped,
            "signature_score": self.score, "num_members": self.num_members, "evidence_partition": offsets_partition,
            "evidence_first_offset": self.first_offset, "evidence_last_offset": self.last_offset,
            "confidence": self.confidence,
        }  # fmt: skip


def by_operation(rows: Iterable[Mapping[str, Any]], *names: str) -> list[list[Mapping[str, Any]]]:
    """Rows with equal values in these columns, by their partitions."""
    by_values = defaultdict(list)
    for row in rows:
        by_values[tuple(row[name] for name in names)].append(row)
    return [sorted(each, key=lambda row: int(row["partition"])) for each in by_values.values()]


def table_of(events: Iterable[Event], offsets_partition: int) -> pa.Table:
    return pa.Table.from_pylist([event.row(offsets_partition) for event in events], SCHEMA)


def in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in TABLES["offset_resets"].order if name not in BY_THE_JOB])
