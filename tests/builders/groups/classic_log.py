"""Records of classic groups as decoded tables hold them, in short words."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema

SCHEMA = table_schema(TABLES["classic_group_metadata"])
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
