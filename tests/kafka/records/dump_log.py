"""Reads what kafka-dump-log printed with `--offsets-decoder --print-data-log`; 3.9 and 4.3 print alike.

baseOffset: 9 lastOffset: 9 count: 1 … isTransactional: false isControl: false … compresscodec: zstd …
| offset: 9 CreateTime: 1795256555080 keySize: 19 … key: {"type":"2",…} payload: {"version":"3",…}
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.kafka.oracle.kafka_json import project_form
from tests.oracles.decoding.decoder import decode_payload, decode_user_data
from tests.oracles.decoding.kafka_names import NAMES

# Types 0, 9 and 18 stand in no capture.
TYPES: Final = {number: name for number, name in NAMES.items() if number not in (0, 9, 18)}
TOMBSTONE: Final = "<DELETE>"
FILE: Final = re.compile(r"Dumping (.+)")
# `position: 78 CreateTime: 17…`: whichever clock gave it, the time stands after its name.
PAIR: Final = re.compile(r"(\w+): (\S+)")
RECORD: Final = re.compile(r"\| offset: (\d+) (?:CreateTime|LogAppendTime): (-?\d+) .*?headerKeys: \[\] ")
MARKER: Final = re.compile(r"endTxnMarker: (\w+) coordinatorEpoch: (-?\d+)")

# Fields whose text is base64. Members' payloads are text only where the tool knows their protocol type not.
BYTES_FIELDS: Final = frozenset(
    {
        "members.subscription",
        "members.subscription.userData",
        "members.assignment",
        "members.assignment.userData",
        "classicMemberMetadata.supportedProtocols.metadata",
    }
)


@dataclass(frozen=True)
class DumpedBatch:
    base_offset: int
    last_offset: int
    num_records: int
    producer_id: int
    producer_epoch: int
    partition_leader_epoch: int
    is_transactional: bool
    is_control: bool
    has_delete_horizon: bool
    position: int
    size_bytes: int
    codec: str


@dataclass(frozen=True)
class DumpedRecord:
    """`key` and `value` as the tool prints them; a control record has a marker instead."""

    offsets_partition: int
    offset: int
    timestamp_ms: int
    batch: DumpedBatch
    record_type: int | None = None
    key: dict[str, Any] | None = None
    value_version: int | None = None
    value: dict[str, Any] | None = None
    marker: str | None = None
    coordinator_epoch: int | None = None

    def line(self):
        """The line that `groupscope dump` should print."""
        return {
            "offsets_partition": self.offsets_partition,
            "offset": self.offset,
            "timestamp_ms": self.timestamp_ms,
            "partition_leader_epoch": self.batch.partition_leader_epoch,
            "producer_id": none_if_negative(self.batch.producer_id),
            "producer_epoch": none_if_negative(self.batch.producer_epoch),
            "is_transactional": self.batch.is_transactional,
            "is_control": self.batch.is_control,
            "record_type": self.record_type,
            "type": self.marker if self.record_type is None else TYPES[self.record_type],
            "key": {"type": {"ABORT": 0, "COMMIT": 1}[self.marker]} if self.marker else in_our_words(self.key),
            "value": {"coordinator_epoch": self.coordinator_epoch} if self.marker else in_our_words(self.value),
            "value_version": 0 if self.marker else self.value_version,
        }


def dumped_batches(text):
    return [read_batch(line) for line in text.split("\n") if line.startswith("baseOffset: ")]


def dumped_records(text):
    partition, batch = -1, None
    # Not `splitlines`: user text in JSON may hold what Unicode takes for the end of a line.
    for line in text.split("\n"):
        if result := FILE.match(line):
            partition = int(Path(result[1]).parent.name.rpartition("-")[2])
        elif line.startswith("baseOffset: "):
            batch = read_batch(line)
        elif line.startswith("| "):
            assert batch is not None
            yield read_record(line, partition, batch)


def read_batch(line):
    pairs = dict(PAIR.findall(line))
    assert (pairs["isvalid"], pairs["magic"]) == ("true", "2"), line
    return DumpedBatch(
        base_offset=int(pairs["baseOffset"]),
        last_offset=int(pairs["lastOffset"]),
        num_records=int(pairs["count"]),
        producer_id=int(pairs["producerId"]),
        producer_epoch=int(pairs["producerEpoch"]),
        partition_leader_epoch=int(pairs["partitionLeaderEpoch"]),
        is_transactional=pairs["isTransactional"] == "true",
        is_control=pairs["isControl"] == "true",
        has_delete_horizon=pairs["deleteHorizonMs"] != "OptionalLong.empty",
        position=int(pairs["position"]),
        size_bytes=int(pairs["size"]),
        codec=pairs["compresscodec"],
    )


def read_record(line, partition, batch):
    head = RECORD.match(line)
    assert head, line
    at, rest = (partition, int(head[1]), int(head[2]), batch), line[head.end() :]
    if marker := MARKER.fullmatch(rest):
        return DumpedRecord(*at, marker=marker[1], coordinator_epoch=int(marker[2]))
    assert rest.startswith("key: {"), line
    key, end = json.JSONDecoder().raw_decode(rest, len("key: "))
    printed = rest[end:].removeprefix(" payload: ")
    record_type = int(key["type"])
    if printed == TOMBSTONE:
        return DumpedRecord(*at, record_type, key["data"])
    value = json.loads(printed)
    return DumpedRecord(*at, record_type, key["data"], int(value["version"]), value["data"])


def in_our_words(printed):
    """Kafka's JSON in the form of a dump line: snake_case, hex, and what the tool leaves as bytes read as payloads.

    The tool prints no payload's version, so a member's subscription and assignment of type `consumer` have none here.
    """
    if printed is None:
        return None
    value = project_form(printed, BYTES_FIELDS)
    for member in value.get("members", []):
        for part in ("subscription", "assignment"):
            member[part] = readable_payload(value["protocol_type"], value["protocol"], part, member[part])
    for offered in (value.get("classic_member_metadata") or {}).get("supported_protocols", []):
        offered["metadata"] = readable_payload("consumer", offered["name"], "subscription", offered["metadata"])
    return json.loads(json.dumps(value, default=bytes.hex))


def readable_payload(protocol_type, protocol, part, payload):
    if isinstance(payload, bytes):
        raw, payload = payload, decode_payload(protocol_type, protocol, part, payload)
        if payload is None:
            return raw
    if "user_data" not in payload:
        return payload
    user_data = payload["user_data"]
    return payload | {"user_data": decode_user_data(protocol, part, user_data) or user_data}


def none_if_negative(number):
    return None if number < 0 else number
