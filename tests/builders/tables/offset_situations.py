"""A small group by hand, in seconds of one day: what it commits, how it stands, who owns what, where the logs end.

The rows of offset_history follow from the commits by a plain loop of our own, not by the replay.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from schemas.tables import SUBJECTS
from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.arrow_schema import table_schema
from udfs.lag.doubtful_times import Doubt, DoubtfulTimes
from udfs.lag.partition_history import COMMITS, READ, PartitionHistory
from udfs.lag.watermarks import COLUMNS, Watermarks

Row = dict[str, Any]
SECOND = 1_000_000
DAY = 86_400 * SECOND
# 2026-11-21 00:00 UTC.
MIDNIGHT = 1_795_219_200 * SECOND
FAR = MIDNIGHT + 30 * DAY
# That of the group.
PARTITION = 5
TABLES = {table.name: table for table in (*SUBJECTS["history"], *SUBJECTS["offsets"])}
TYPES = {
    "record_offset": pa.int64(), "record_time": pa.timestamp("us", "UTC"), "partition": pa.int32(),
    "committed_offset": pa.int64(), "leader_epoch": pa.int32(), "commit_time": pa.timestamp("us", "UTC"),
    "expire_time": pa.timestamp("us", "UTC"), "is_tombstone": pa.bool_(), "is_transactional": pa.bool_(),
    "producer_id": pa.int64(), "batch_first_offset": pa.int64(), "record_bytes": pa.int64(),
}  # fmt: skip
SNAPSHOT_TYPES = {
    "captured_time": pa.timestamp("us", "UTC"), "topic": pa.string(), "topic_id": pa.string(), "partition": pa.int32(),
    "log_start_offset": pa.int64(), "log_end_offset": pa.int64(), "leader_epoch": pa.int32(),
}  # fmt: skip


def at(second: float) -> int:
    return MIDNIGHT + round(second * SECOND)


@dataclass
class Situation:
    """Everything happens to group g and topic t, one record after the other."""

    commits: list[Row] = field(default_factory=list)
    history: list[Row] = field(default_factory=list)
    states: list[Row] = field(default_factory=list)
    owned: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)
    transactions: list[Row] = field(default_factory=list)
    snapshots: list[Row] = field(default_factory=list)
    doubts: tuple[Doubt, ...] = ()
    offset: int = 0

    def state(self, second: float, state: str | None, num_members: int | None, **fields: Any) -> "Situation":
        """From now on; a record of its own."""
        self.close(self.states, second, "next_state")
        plain = {"group_id": "g", "group_type": "classic", "protocol_type": "consumer", "generation_or_epoch": 1}
        self.states.append(
            plain | {"state": state, "num_members": num_members, **self.begin(second), "is_from_exact": True} | fields
        )
        self.offset += 1
        return self

    def own(self, second: float, owners: dict[int, str], subscribed: Iterable[str] = ("t",)) -> "Situation":
        """A rebalance: member by partition."""
        self.close(self.owned, second, "reassigned")
        for partition, member in owners.items():
            self.owned.append(
                {"group_id": "g", "group_type": "classic", "topic": "t", "topic_id": None, "partition": partition,
                 "member_id": member, "client_id": "c", "client_host": "/h", "phase": "assigned", "role": None,
                 **self.begin(second)}
            )  # fmt: skip
        for member in sorted(set(owners.values())):
            self.members.append(
                {"group_id": "g", "group_type": "classic", "assignment_offset": self.offset, "member_id": member,
                 "change": "kept", "subscribed_topics": list(subscribed), "evidence_last_offset": self.offset}
            )  # fmt: skip
        return self.state(second, "Stable", len(set(owners.values())))

    def begin(self, second: float) -> Row:
        return {"from_time": at(second), "from_record_offset": self.offset, "to_time": None, "to_record_offset": None,
                "is_provisional": True, "ended_by": None}  # fmt: skip

    def close(self, rows: list[Row], second: float, ended_by: str) -> None:
        for row in rows:
            if row["is_provisional"]:
                row |= {
                    "to_time": at(second),
                    "to_record_offset": self.offset,
                    "is_provisional": False,
                    "ended_by": ended_by,
                }

    def commit(self, second: float, offsets: dict[int, int], **fields: Any) -> "Situation":
        """One write of several partitions, as a consumer makes it."""
        batch = self.offset
        for partition, committed in offsets.items():
            row = self.record(second, batch, partition) | {"committed_offset": committed, "leader_epoch": 3} | fields
            self.commits.append(row)
            self.hold({**row, "via": "plain", "producer_id": None})
        return self

    def admin(self, second: float, offsets: dict[int, int], **fields: Any) -> "Situation":
        return self.commit(second, offsets, **{"leader_epoch": None, **fields})

    def transaction(self, second: float, offsets: dict[int, int], outcome: str = "committed") -> "Situation":
        """With its marker a second later."""
        batch = self.offset
        rows = []
        for partition, committed in offsets.items():
            fields = {"committed_offset": committed, "is_transactional": True, "producer_id": 7}
            rows.append(self.record(second, batch, partition) | fields)
        self.commits += rows
        end = at(second + 1)
        self.transactions.append(
            {"producer_id": 7, "first_offset": batch, "first_time": at(second), "end_time": end, "outcome": outcome,
             "groups": ["g"]}
        )  # fmt: skip
        for row in rows if outcome == "committed" else ():
            self.hold({**row, "record_time": end, "record_offset": self.offset, "via": "transaction"})
        self.offset += 1
        return self

    def remove(self, second: float, partitions: Iterable[int], ended_by: str, **fields: Any) -> "Situation":
        batch = self.offset
        for partition in partitions:
            row = self.record(second, batch, partition) | {"is_tombstone": True, "commit_time": None} | fields
            self.commits.append(row)
            before = self.end(row, ended_by)
            if before is not None and before["confidence"] == "certain" and ended_by != "tombstone_unknown":
                # The record shows that the offset is gone, and not why.
                before["confidence"] = "likely"
        return self

    def doubt(self, begin: float, end: float) -> "Situation":
        """The clock of the log went back."""
        self.doubts = (*self.doubts, Doubt(at(begin), at(end), self.offset))
        return self

    def record(self, second: float, batch: int, partition: int) -> Row:
        self.offset += 1
        return {
            "record_offset": self.offset - 1, "record_time": at(second), "group_id": "g", "topic": "t",
            "topic_id": None, "partition": partition, "committed_offset": None, "leader_epoch": None, "metadata": "",
            "commit_time": at(second), "expire_time": None, "is_tombstone": False, "is_transactional": False,
            "producer_id": None, "batch_first_offset": batch, "record_bytes": 100,
        }  # fmt: skip

    def live(self, row: Row) -> Row | None:
        places = ("topic", "partition")
        result = [
            each for each in self.history if each["is_provisional"] and all(each[name] == row[name] for name in places)
        ]
        return result[0] if result else None

    def end(self, row: Row, ended_by: str) -> Row | None:
        before = self.live(row)
        if before is not None:
            ended = {"to_time": row["record_time"], "to_record_offset": row["record_offset"], "ended_by": ended_by}
            before |= ended | {"is_provisional": False}
        return before

    def hold(self, row: Row) -> None:
        same = ("committed_offset", "leader_epoch", "metadata", "topic_id", "via", "producer_id")
        before = self.live(row)
        if before is not None and all(before[name] == row[name] for name in same):
            before |= {"num_commits": before["num_commits"] + 1, "last_commit_time": row["commit_time"]}
            return
        is_other = before is not None and before["topic_id"] != row["topic_id"]
        self.end(row, "topic_recreated" if is_other else "commit")
        previous = None if before is None or is_other else before["committed_offset"]
        delta = None if previous is None else row["committed_offset"] - previous
        kept = {name: row[name] for name in (*same, "group_id", "topic", "partition", "commit_time")}
        self.history.append(
            kept | {"from_time": row["record_time"], "from_record_offset": row["record_offset"], "to_time": None,
                    "to_record_offset": None, "is_provisional": True, "ended_by": None, "is_from_exact": True,
                    "is_to_exact": True, "previous_offset": previous, "delta": delta, "num_commits": 1,
                    # An archive without the flag does not show whether the commit was aborted.
                    "confidence": "possible" if row["is_transactional"] is None else "certain",
                    "last_commit_time": row["commit_time"], "last_expire_time": None}
        )  # fmt: skip

    def snapshot(self, second: float, ends: dict[int, tuple[int, int]], epoch: int = 0, **fields: Any) -> "Situation":
        """Start and end by partition."""
        for partition, (start, end) in ends.items():
            self.snapshots.append(
                {"captured_time": at(second), "topic": "t", "topic_id": None, "partition": partition,
                 "log_start_offset": start, "log_end_offset": end, "leader_epoch": epoch} | fields
            )  # fmt: skip
        return self

    def own_end(self, second: float, end: int) -> "Situation":
        """The end of the offsets partition itself, in the snapshot of that time."""
        return self.snapshot(second, {PARTITION: (0, end)}, topic=OFFSETS_TOPIC)

    def rows(self) -> PartitionHistory:
        history = sorted(self.history, key=lambda row: (row["topic"], row["partition"], row["from_record_offset"]))
        given = {
            "offset_history": history,
            "group_state_intervals": self.states, "ownership_intervals": self.owned,
            "generation_members": self.members, "transactions": self.transactions, "history_coverage": [],
        }  # fmt: skip
        tables = {name: arrow(name, rows) for name, rows in given.items()}
        commits = pa.Table.from_pylist(
            self.commits, pa.schema([(name, TYPES.get(name, pa.string())) for name in COMMITS])
        )
        snapshots = pa.Table.from_pylist(self.snapshots, pa.schema([(name, SNAPSHOT_TYPES[name]) for name in COLUMNS]))
        doubtful = DoubtfulTimes(self.doubts)
        return PartitionHistory(PARTITION, tables, commits, Watermarks.of(snapshots), FAR, doubtful=doubtful)


def arrow(name: str, rows: list[Row]) -> pa.Table:
    schema = pa.schema([table_schema(TABLES[name]).field(column) for column in READ[name]])
    return pa.Table.from_pylist(rows, schema)
