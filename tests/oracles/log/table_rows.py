"""Rows of the tables one record at a time, from the slow decoder: what the fast way is held against. Values are plain,
times are microseconds."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.oracles.decoding.decoder import decode_payload, decode_record, decode_user_data

Row = dict[str, Any]

FIRST_MS, LAST_MS = -62135596800000, 253402300799999
ZERO_ID = "A" * 22


@dataclass(frozen=True)
class Raw:
    """A record as it stands in the log; -1 is what Kafka writes for none."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int = 1_700_000_000_000
    batch_first_offset: int = 0
    batch_bytes: int = 100
    partition_leader_epoch: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    is_transactional: bool = False
    is_control: bool = False


def known(number: int | None) -> int | None:
    return None if number == -1 else number


class Times:
    def __init__(self) -> None:
        self.out_of_range: list[Row] = []

    def micros(self, column: str, ms: int | None, unknown: tuple[int, ...] = (-1,)) -> int | None:
        if ms is None or ms in unknown:
            return None
        if not FIRST_MS <= ms <= LAST_MS:
            self.out_of_range.append({"field": column, "value": ms})
            return None
        return ms * 1000


def slow_row(raw: Raw, has_producers: bool = True) -> tuple[str, Row]:
    record = decode_record(raw.key, raw.value, raw.is_control)
    times = Times()
    row = envelope(raw, has_producers, times)
    if "rejected" in record:
        return "rejected_records", row | rejected(raw, record) | {"out_of_range": times.out_of_range or None}
    row["value_version"] = record["value_version"]
    if record["record_type"] is None:
        table = "transaction_markers"
        row |= {"marker": record["control"], "coordinator_epoch": known(record["coordinator_epoch"])}
    else:
        table, columns = TABLES[record["record_type"]]
        row |= columns(record["record_type"], record["key"], record["value"] or {}, times)
    return table, row | {"out_of_range": times.out_of_range or None}


def envelope(raw: Raw, has_producers: bool, times: Times) -> Row:
    return {
        "cluster": "c1",
        "run_id": "r1",
        "offsets_partition": 7,
        "record_offset": raw.offset,
        "record_time": times.micros("record_time", raw.timestamp_ms),
        "partition_leader_epoch": known(raw.partition_leader_epoch),
        "batch_first_offset": known(raw.batch_first_offset),
        "batch_bytes": known(raw.batch_bytes),
        "record_bytes": len(raw.key or b"") + len(raw.value or b""),
        "producer_id": known(raw.producer_id) if has_producers else None,
        "producer_epoch": known(raw.producer_epoch) if has_producers else None,
        "is_transactional": raw.is_transactional if has_producers else None,
        "is_tombstone": raw.value is None,
    }


def rejected(raw: Raw, row: Row) -> Row:
    opening = (raw.value or b"")[:2]
    return {
        "record_type": row["record_type"],
        **row["rejected"],
        "is_control": raw.is_control,
        "value_version": int.from_bytes(opening, "big", signed=True) if len(opening) == 2 else None,
        "source_file": None,
        "byte_position": None,
        "size_bytes": None,
        "from_record_offset": None,
        "to_record_offset": None,
        "num_records": 1,
        "is_num_records_estimated": False,
        "key_bytes": raw.key,
        "value_bytes": raw.value,
    }


# One function for each table: record type, key, value (empty for tombstones), times


def offset_commit(record_type: int, key: Row, value: Row, times: Times) -> Row:
    return {
        "group_id": key["group"],
        "topic": key["topic"],
        "partition": key["partition"],
        "key_version": record_type,
        "topic_id": None if value.get("topic_id") == ZERO_ID else value.get("topic_id"),
        "committed_offset": value.get("offset"),
        "leader_epoch": known(value.get("leader_epoch")),
        "metadata": value.get("metadata"),
        "commit_time": times.micros("commit_time", value.get("commit_timestamp")),
        "expire_time": times.micros("expire_time", value.get("expire_timestamp")),
    }


def classic_group(_: int, key: Row, value: Row, times: Times) -> Row:
    return {
        "group_id": key["group"],
        **picked(value, "protocol_type generation protocol leader"),
        "current_state_time": times.micros("current_state_time", value.get("current_state_timestamp")),
        "members": each(value.get("members"), lambda member: classic_member(value, member)),
    }


def classic_member(group: Row, member: Row) -> Row:
    kind, protocol = group["protocol_type"], group["protocol"]
    payloads = {name: decode_payload(kind, protocol, name, member[name]) for name in ("subscription", "assignment")}
    structs = payloads if kind == "consumer" else dict.fromkeys(payloads)
    beyond = payloads
    if kind == "consumer":
        beyond = {
            name: reported and decode_user_data(protocol, name, reported["user_data"])
            for name, reported in payloads.items()
        }
    return {
        **picked(member, "member_id group_instance_id client_id client_host"),
        "rebalance_timeout_ms": known(member.get("rebalance_timeout")),
        "session_timeout_ms": member["session_timeout"],
        "subscription": structs["subscription"]
        and picked(structs["subscription"], "version topics owned_partitions generation_id rack_id user_data"),
        "assignment": structs["assignment"]
        and {
            **picked(structs["assignment"], "version user_data"),
            "partitions": structs["assignment"]["assigned_partitions"],
        },
        "subscription_bytes": member["subscription"],
        "assignment_bytes": member["assignment"],
        "payload_json": json_form(beyond) if any(reported is not None for reported in beyond.values()) else None,
    }


def json_form(expected: Any) -> Any:
    """As it comes out of JSON: bytes are hex."""
    return json.loads(json.dumps(expected, default=bytes.hex))


def kind_of_group(record_type: int) -> str:
    if record_type in (3, 4, 5, 6, 7, 8, 16):
        return "consumer"
    return "share" if record_type < 16 else "streams"


def group_columns(record_type: int, key: Row) -> Row:
    return {"group_type": kind_of_group(record_type), **key}


def group_metadata(record_type: int, key: Row, value: Row, _: Times) -> Row:
    epochs = [f"{name}_topology_epoch" for name in ("validated", "stored_description", "failed_description")]
    return {
        **group_columns(record_type, key),
        "group_epoch": value.get("epoch"),
        "metadata_hash": value.get("metadata_hash"),
        **{name: known(value.get(name)) for name in epochs},
        "last_assignment_configs": value.get("last_assignment_configs"),
    }


def group_member(record_type: int, key: Row, value: Row, _: Times) -> Row:
    return {
        **group_columns(record_type, key),
        "group_instance_id": value.get("instance_id"),
        **picked(value, "rack_id client_id client_host subscribed_topic_names subscribed_topic_regex server_assignor"),
        "rebalance_timeout_ms": known(value.get("rebalance_timeout_ms")),
        **picked(value, "topology_epoch process_id user_endpoint client_tags assignors"),
        "classic_member": value.get("classic_member_metadata"),
    }


def target_metadata(record_type: int, key: Row, value: Row, times: Times) -> Row:
    time = times.micros("assignment_time", value.get("assignment_timestamp"), unknown=(0, -1))
    return {
        **group_columns(record_type, key),
        "assignment_epoch": value.get("assignment_epoch"),
        "assignment_time": time,
    }


def target_member(record_type: int, key: Row, value: Row, _: Times) -> Row:
    columns = "topic_partitions active_tasks standby_tasks warmup_tasks error metadata_version metadata_bytes"
    return {**group_columns(record_type, key), **picked(value, columns)}


STATES = {
    "consumer": {0: "STABLE", 1: "UNREVOKED_PARTITIONS", 2: "UNRELEASED_PARTITIONS"},
    "share": {0: "STABLE", 1: "UNREVOKED_PARTITIONS", 2: "UNRELEASED_PARTITIONS"},
    "streams": {1: "STABLE", 2: "UNREVOKED_TASKS", 3: "UNRELEASED_TASKS"},
}
OWNED = (
    "assigned_partitions",
    "partitions_pending_revocation",
    *(f"{role}_tasks{suffix}" for role in ("active", "standby", "warmup") for suffix in ("", "_pending_revocation")),
)


def current_assignment(record_type: int, key: Row, value: Row, _: Times) -> Row:
    states = STATES[kind_of_group(record_type)]
    return {
        **group_columns(record_type, key),
        **picked(value, "member_epoch previous_member_epoch target_member_epoch error metadata_version metadata_bytes"),
        "member_state": states.get(value["state"], "UNKNOWN") if "state" in value else None,
        **{name: each(value.get(name), with_epochs) for name in OWNED},
        "partitions_pending_assignment": value.get("partitions_pending_assignment"),
    }


def with_epochs(owned: Row) -> Row:
    return {"assignment_epochs": None, **owned}


TOPIC = "topic_id topic_name num_partitions partitions partition_metadata"


def partition_metadata(record_type: int, key: Row, value: Row, _: Times) -> Row:
    lists = {
        "subscribed": "topics",
        "initializing": "initializing_topics",
        "initialized": "initialized_topics",
        "deleting": "deleting_topics",
    }
    topics = [
        {"state": state, **picked(topic, TOPIC)} for state, name in lists.items() for topic in value.get(name, [])
    ]
    return {
        **group_columns(record_type, key),
        "epoch": value.get("epoch"),
        "topics": topics if value else None,
    }


def regular_expression(_: int, key: Row, value: Row, times: Times) -> Row:
    return {
        **key,
        "topics": value.get("topics"),
        "metadata_version": known(value.get("version")),
        "resolved_time": times.micros("resolved_time", value.get("timestamp")),
    }


def topology(_: int, key: Row, value: Row, __: Times) -> Row:
    return {**key, **picked(value, "epoch subtopologies")}


def picked(value: Row, names: str) -> Row:
    return {name: value.get(name) for name in names.split()}


def each(values: Iterable[Row] | None, change: Callable[[Row], Row]) -> list[Row] | None:
    return None if values is None else [change(value) for value in values]


Columns = Callable[[int, Row, Row, Times], Row]

TABLES: dict[int, tuple[str, Columns]] = {
    **dict.fromkeys((0, 1), ("offset_commits", offset_commit)),
    2: ("classic_group_metadata", classic_group),
    **dict.fromkeys((3, 11, 17), ("group_metadata", group_metadata)),
    **dict.fromkeys((5, 10, 19), ("group_member_metadata", group_member)),
    **dict.fromkeys((6, 12, 20), ("target_assignment_metadata", target_metadata)),
    **dict.fromkeys((7, 13, 21), ("target_assignment_members", target_member)),
    **dict.fromkeys((8, 14, 22), ("current_member_assignments", current_assignment)),
    **dict.fromkeys((4, 9, 15, 18), ("group_partition_metadata", partition_metadata)),
    16: ("group_regular_expressions", regular_expression),
    23: ("streams_group_topologies", topology),
}
