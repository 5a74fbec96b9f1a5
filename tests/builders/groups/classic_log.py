"""Logs of classic groups as decoded tables hold them, and what a replay makes of them, told in short words."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.decoded_records import CLASSIC_GROUP_METADATA
from schemas.tables.history import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable, arrow_rows
from udfs.groups.readers.classic_records import classic_records
from udfs.groups.states.group import Context
from udfs.log.gaps import Gaps
from udfs.topics.partition_codes import TopicCodes

SCHEMA = table_schema(CLASSIC_GROUP_METADATA)
START = datetime(2026, 11, 21, tzinfo=UTC)
Row = dict[str, Any]


def at(ms: int | None) -> datetime | None:
    return None if ms is None else START + timedelta(milliseconds=ms)


def member(
    member_id: str, assigned: str | None = "", owned: str = "", *, generation: int | None = -1, version: int = 3,
    instance: str | None = None, topics: Sequence[str] = ("t",), is_read: bool = True, timeout: int = 300_000,
) -> Row:  # fmt: skip
    """Partitions are written "t0 t1 u0"; `assigned` None: bytes that cannot be read."""
    subscription = {
        "version": version, "topics": list(topics), "owned_partitions": lists(owned) if version >= 1 else [],
        "generation_id": generation, "rack_id": None, "user_data": None,
    }  # fmt: skip
    return {
        "member_id": member_id, "group_instance_id": instance, "client_id": member_id[0], "client_host": "/10.0.0.1",
        "rebalance_timeout_ms": timeout, "session_timeout_ms": 45_000,
        "subscription": subscription if is_read else None,
        "assignment": None if assigned in (None, "-") else {"version": 3, "partitions": lists(assigned or ""),
                                                            "user_data": None},
        "subscription_bytes": b"", "assignment_bytes": b"" if assigned == "-" else b"x", "payload_json": None,
    }  # fmt: skip


def lists(text: str) -> list[Row]:
    """In the order given."""
    result: dict[str, list[int]] = {}
    for each in text.split():
        result.setdefault(each[0], []).append(int(each[1:]))
    return [{"topic": topic, "partitions": partitions} for topic, partitions in result.items()]


def value(
    offset: int, ms: int | None, generation: int, members: Iterable[Row] = (), *, state: int | None = None,
    protocol: str | None = "range", protocol_type: str = "consumer", group: str = "g", epoch: int | None = 0,
    batch: int | None = None, leader: str | None = None,
) -> Row:  # fmt: skip
    members = list(members)
    return {
        "cluster": "c", "offsets_partition": 0, "record_offset": offset, "record_time": at(ms),
        "partition_leader_epoch": epoch, "group_id": group, "protocol_type": protocol_type, "generation": generation,
        "protocol": protocol if members else None,
        "leader": leader or (members[0]["member_id"] if members else None), "current_state_time": at(state),
        "is_tombstone": False, "value_version": 3, "batch_first_offset": offset if batch is None else batch,
        "record_bytes": 1, "run_id": "r", "members": members,
    }  # fmt: skip


def created(offset: int, ms: int, **other: Any) -> Row:
    """As a coordinator writes it when a group that is new to it is asked for."""
    return value(offset, ms, 0, state=ms, protocol_type="", **other)


def tombstone(offset: int, ms: int, *, group: str = "g", epoch: int = 0, batch: int | None = None) -> Row:
    row = dict.fromkeys(SCHEMA.names)
    reported = {"cluster": "c", "offsets_partition": 0, "record_offset": offset, "record_time": at(ms),
            "partition_leader_epoch": epoch, "group_id": group, "is_tombstone": True,
            "batch_first_offset": offset if batch is None else batch, "record_bytes": 1, "run_id": "r"}  # fmt: skip
    return row | reported


class Replayed:
    """Rows by table, as short as tests read them."""

    def __init__(self, rows: Mapping[str, list[Row]]) -> None:
        self.rows = rows

    def of(self, table: str, *names: str, **only: Any) -> list[Any]:
        result = [
            tuple(row[name] for name in names)
            for row in self.rows[table]
            if all(row[name] == wanted for name, wanted in only.items())
        ]
        return [each[0] for each in result] if len(names) == 1 else result

    def one(self, table: str, *names: str, **only: Any) -> Any:
        (result,) = self.of(table, *names, **only)
        return result


def replayed(
    log: Sequence[Row],
    *,
    gaps: Gaps | None = None,
    cuts: Iterable[int] = (),
    chunk: int = 10**9,
    hole: Row | None = None,
) -> Replayed:
    """`cuts`: after so many records one run ends and the next goes on from its state."""
    states: dict[str, str] = {}
    closed: dict[str, list[Row]] = {table.name: [] for table in TABLES}
    bounds = [0, *cuts, len(log)]
    for first, last in pairwise(bounds):
        topics = TopicCodes()
        context = Context(topics, gaps or Gaps())
        fold = Fold(context, states)
        part = pa.Table.from_pylist(list(log[first:last]), SCHEMA)
        for start in range(0, len(part), chunk):
            fold.take(classic_records(part.slice(start, chunk), topics))
        if hole is not None and last == len(log):
            fold.hole(hole["offset"], micros(at(hole["time"])))
        still = RowsByTable()
        states |= fold.finish(still)
        for table in TABLES:
            closed[table.name] += plain_rows(arrow_rows(table, context.rows.of[table.name], topics, "c", 0))
        # What is open comes from the last run alone; groups that a run does not meet keep theirs.
        opened = {table.name: plain_rows(arrow_rows(table, still.of[table.name], topics, "c", 0)) for table in TABLES}
        if last == len(log):
            missed = set(states) - set(fold.groups)
            opened = merged(opened, restored_rows(missed, states))
    return Replayed({name: sorted(closed[name] + opened[name], key=order) for name in closed})


def restored_rows(groups: Iterable[str], states: Mapping[str, str]) -> dict[str, list[Row]]:
    topics, still = TopicCodes(), RowsByTable()
    fold = Fold(Context(topics), states)
    for group_id in groups:
        fold.group(group_id)
    fold.finish(still)
    return {table.name: plain_rows(arrow_rows(table, still.of[table.name], topics, "c", 0)) for table in TABLES}


def merged(some: dict[str, list[Row]], others: dict[str, list[Row]]) -> dict[str, list[Row]]:
    return {name: some[name] + others[name] for name in some}


def order(row: Row) -> tuple[Any, ...]:
    first = row.get("from_offset", row.get("assignment_offset", row.get("record_offset")))
    return (row["group_id"], first, row.get("from_time") or 0, repr(sorted(row.items(), key=lambda item: item[0])))


def plain_rows(table: pa.Table) -> list[Row]:
    return [{name: short(each) for name, each in row.items()} | place(row) for row in table.to_pylist()]


def place(row: Row) -> Row:
    return {"tp": f"{row['topic']}{row['partition']}"} if "partition" in row and "topic" in row else {}


def short(each: Any) -> Any:
    if isinstance(each, datetime):
        return (each - START) // timedelta(milliseconds=1)
    if isinstance(each, list) and (not each or isinstance(each[0], dict)):
        return " ".join(sorted(f"{of['topic']}{number}" for of in each for number in of["partitions"]))
    return each


def micros(time: datetime | None) -> int | None:
    return None if time is None else pc.cast(pa.scalar(time), pa.int64()).as_py()
