"""Rows that the tables should have, made of what kafka-dump-log printed: from Kafka's names and conventions to those of
the tables, written down a second time and in another way than in the code that is tested."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.kafka.oracle.kafka_json import project_form
from tests.kafka.records.dump_log import BYTES_FIELDS, DumpedBatch, DumpedRecord, dumped_batches, dumped_records
from tests.oracles.decoding.decoder import decode_payload, decode_user_data

Row = dict[str, Any]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SIZES: Final = re.compile(r"\| offset: \d+ .*? keySize: (-?\d+) valueSize: (-?\d+) ")
GROUP_TYPES: Final = {
    "consumer": (3, 4, 5, 6, 7, 8, 16),
    "share": (9, 10, 11, 12, 13, 14, 15),
    "streams": (17, 18, 19, 20, 21, 22, 23),
}
MEMBER_STATES: Final = {
    "consumer": ["STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"],
    "share": ["STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"],
    "streams": ["UNKNOWN", "STABLE", "UNREVOKED_TASKS", "UNRELEASED_TASKS"],
}


@dataclass(frozen=True)
class DumpedFile:
    """One segment as the tool printed it; the second number of each record is the bytes of key and value."""

    partition: int
    name: str
    batches: list[DumpedBatch]
    records: list[tuple[DumpedRecord, int]]


def dumped_files(text):
    for each in re.split(r"^(?=Dumping )", text, flags=re.MULTILINE)[1:]:
        path = Path(each.split("\n", 1)[0].removeprefix("Dumping "))
        sizes = [
            max(int(result[1]), 0) + max(int(result[2]), 0)
            for line in each.split("\n")
            if (result := SIZES.match(line))
        ]
        records = list(zip(dumped_records(each), sizes, strict=True))
        yield DumpedFile(int(path.parent.name.rpartition("-")[2]), path.name, dumped_batches(each), records)


def table_row(record, record_bytes):
    """Table and row, without what is of the run. A member's bytes stand in it where the tool prints them, else what
    they say stands under `printed`: see `with_payloads`."""
    row = place(record, record_bytes)
    if record.marker is not None:
        epoch = unless(record.coordinator_epoch, -1)
        return "transaction_markers", row | {"marker": record.marker, "coordinator_epoch": epoch, "value_version": 0}
    assert record.record_type is not None and record.key is not None
    table, columns = COLUMNS[record.record_type]
    key = project_form(record.key, frozenset())
    value = {} if record.value is None else project_form(record.value, BYTES_FIELDS)
    return table, row | columns(record.record_type, key, value)


def place(record, record_bytes):
    batch = record.batch
    return {
        "offsets_partition": record.offsets_partition,
        "record_offset": record.offset,
        "record_time": time_of(record.timestamp_ms),
        "partition_leader_epoch": unless(batch.partition_leader_epoch, -1),
        "batch_first_offset": batch.base_offset,
        "batch_bytes": batch.size_bytes,
        "record_bytes": record_bytes,
        "producer_id": unless(batch.producer_id, -1),
        "producer_epoch": unless(batch.producer_epoch, -1),
        "is_transactional": batch.is_transactional,
        "is_tombstone": record.marker is None and record.value is None,
        "value_version": record.value_version,
        # No broker's clock is that wrong.
        "out_of_range": None,
    }


def unless(number, *unknown):
    return None if number in unknown else number


def time_of(ms, *unknown):
    return None if ms is None or ms in (-1, *unknown) else EPOCH + timedelta(milliseconds=ms)


def only(item, *names):
    """The struct with exactly these fields; those that the record has not are null."""
    return None if item is None else {name: item.get(name) for name in names}


def each(items, *names):
    return None if items is None else [only(item, *names) for item in items]


def group_of(record_type, key):
    (kind,) = (kind for kind, numbers in GROUP_TYPES.items() if record_type in numbers)
    return {"group_type": kind, **key}


def offset_commit(record_type, key, value):
    return {
        "group_id": key["group"],
        "topic": key["topic"],
        "partition": key["partition"],
        "key_version": record_type,
        "topic_id": value.get("topic_id"),
        # Data, however negative.
        "committed_offset": value.get("offset"),
        "leader_epoch": unless(value.get("leader_epoch"), -1),
        "metadata": value.get("metadata"),
        "commit_time": time_of(value.get("commit_timestamp")),
        "expire_time": time_of(value.get("expire_timestamp")),
    }


def classic_group(_, key, value):
    protocol_type, protocol = value.get("protocol_type"), value.get("protocol")
    members = value.get("members")
    return {
        "group_id": key["group"],
        "protocol_type": protocol_type,
        "generation": value.get("generation"),
        "protocol": protocol,
        "leader": value.get("leader"),
        "current_state_time": time_of(value.get("current_state_timestamp")),
        "members": None if members is None else [classic_member(member) for member in members],
    }


def classic_member(member):
    return {
        "member_id": member["member_id"],
        "group_instance_id": member.get("group_instance_id"),
        "client_id": member["client_id"],
        "client_host": member["client_host"],
        "rebalance_timeout_ms": unless(member.get("rebalance_timeout"), -1),
        "session_timeout_ms": member["session_timeout"],
        "printed": {part: member[part] for part in ("subscription", "assignment")},
    }


def group_epoch(record_type, key, value):
    streams = ("validated_topology_epoch", "stored_description_topology_epoch", "failed_description_topology_epoch")
    return {
        **group_of(record_type, key),
        "group_epoch": value.get("epoch"),
        "metadata_hash": value.get("metadata_hash"),
        **{name: unless(value.get(name), -1) for name in streams},
        "last_assignment_configs": each(value.get("last_assignment_configs"), "key", "value"),
    }


def member(record_type, key, value):
    classic = only(value.get("classic_member_metadata"), "session_timeout_ms", "supported_protocols")
    if classic is not None:
        classic["supported_protocols"] = each(classic["supported_protocols"], "name", "metadata")
    same = (
        "rack_id client_id client_host subscribed_topic_names subscribed_topic_regex server_assignor topology_epoch "
        "process_id"
    )
    return {
        **group_of(record_type, key),
        **{name: value.get(name) for name in same.split()},
        "group_instance_id": value.get("instance_id"),
        "rebalance_timeout_ms": unless(value.get("rebalance_timeout_ms"), -1),
        "user_endpoint": only(value.get("user_endpoint"), "host", "port"),
        "client_tags": each(value.get("client_tags"), "key", "value"),
        "classic_member": classic,
        "assignors": None,
    }


def target(record_type, key, value):
    epoch, time = value.get("assignment_epoch"), time_of(value.get("assignment_timestamp"), 0)
    return {**group_of(record_type, key), "assignment_epoch": epoch, "assignment_time": time}


# Written by 3.7 alone, of which there is no capture.
EARLY: Final = {"error": None, "metadata_version": None, "metadata_bytes": None}
TASKS: Final = ("active_tasks", "standby_tasks", "warmup_tasks")


def target_member(record_type, key, value):
    return {
        **group_of(record_type, key),
        "topic_partitions": each(value.get("topic_partitions"), "topic_id", "partitions"),
        **{name: each(value.get(name), "subtopology_id", "partitions") for name in TASKS},
        **EARLY,
    }


def current_assignment(record_type, key, value):
    group = group_of(record_type, key)
    state = value.get("state")
    partitions, tasks = ("topic_id", "partitions", "assignment_epochs"), [*TASKS]
    tasks += [f"{name}_pending_revocation" for name in TASKS]
    return {
        **group,
        "member_epoch": value.get("member_epoch"),
        "previous_member_epoch": value.get("previous_member_epoch"),
        "member_state": None if state is None else MEMBER_STATES[group["group_type"]][state],
        "target_member_epoch": None,
        "assigned_partitions": each(value.get("assigned_partitions"), *partitions),
        "partitions_pending_revocation": each(value.get("partitions_pending_revocation"), *partitions),
        "partitions_pending_assignment": None,
        **{name: each(value.get(name), "subtopology_id", *partitions[1:]) for name in tasks},
        **EARLY,
    }


def topics(record_type, key, value):
    states = {"topics": "subscribed"}
    states |= {f"{state}_topics": state for state in ("initializing", "initialized", "deleting")}
    names = ("topic_id", "topic_name", "num_partitions", "partitions", "partition_metadata")
    rows = [
        {"state": state, **{field: topic.get(field) for field in names}}
        for name, state in states.items()
        for topic in value.get(name, ())
    ]
    return {**group_of(record_type, key), "epoch": None, "topics": rows if value else None}


def regular_expression(_, key, value):
    return {
        **key,
        "topics": value.get("topics"),
        "metadata_version": unless(value.get("version"), -1),
        "resolved_time": time_of(value.get("timestamp")),
    }


def topology(_, key, value):
    return {**key, "epoch": value.get("epoch"), "subtopologies": value.get("subtopologies")}


COLUMNS: Final[dict[int, tuple[str, Callable[[int, Row, Row], Row]]]] = {
    **dict.fromkeys((0, 1), ("offset_commits", offset_commit)),
    2: ("classic_group_metadata", classic_group),
    **dict.fromkeys((3, 11, 17), ("group_metadata", group_epoch)),
    **dict.fromkeys((5, 10, 19), ("group_member_metadata", member)),
    **dict.fromkeys((6, 12, 20), ("target_assignment_metadata", target)),
    **dict.fromkeys((7, 13, 21), ("target_assignment_members", target_member)),
    **dict.fromkeys((8, 14, 22), ("current_member_assignments", current_assignment)),
    **dict.fromkeys((4, 9, 15, 18), ("group_partition_metadata", topics)),
    16: ("group_regular_expressions", regular_expression),
    23: ("streams_group_topologies", topology),
}


def with_payloads(expected, row):
    """The row with what its members' bytes say. The tool prints no bytes of type `consumer` but what they say, without
    their version: so the bytes are those of the table, and the slow decoder must find in them what the tool printed."""
    if expected["members"] is None:
        return expected
    pairs = zip(expected["members"], row["members"], strict=True)
    kind = expected["protocol_type"], expected["protocol"]
    return expected | {"members": [completed(member, *kind, result) for member, result in pairs]}


def completed(member, protocol_type, protocol, row):
    raws, payloads = {}, {}
    for part, printed in member["printed"].items():
        raw = raws[f"{part}_bytes"] = printed if isinstance(printed, bytes) else row[f"{part}_bytes"]
        payloads[part] = decode_payload(protocol_type, protocol, part, raw)
        if not isinstance(printed, bytes):
            assert without("version", payloads[part]) == printed
    structs = payloads if protocol_type == "consumer" else dict.fromkeys(payloads)
    assignment = structs["assignment"]
    return {
        **without("printed", member),
        **raws,
        "subscription": structs["subscription"],
        "assignment": assignment
        and {"partitions": assignment["assigned_partitions"], **without("assigned_partitions", assignment)},
        "payload_json": beyond_structs(protocol_type, protocol, payloads),
    }


def beyond_structs(protocol_type, protocol, payloads):
    """What `payload_json` says, as it comes out of JSON: bytes are hex."""
    if protocol_type == "consumer":
        users = {part: said and said["user_data"] for part, said in payloads.items()}
        payloads = {part: decode_user_data(protocol, part, users[part]) for part in payloads}
    row = json.loads(json.dumps(payloads, default=bytes.hex))
    return row if any(said is not None for said in row.values()) else None


def without(name, row):
    return None if row is None else {key: value for key, value in row.items() if key != name}
