"""What a release of tomorrow may write: new tags change nothing, a new type and a new version are kept and named."""

import struct
from collections.abc import Iterator

import pytest
from kafka.record import MemoryRecords, MemoryRecordsBuilder

from schemas.words.records import RejectReason
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.audits.rewritten import batches
from tests.kafka.rolled import rolled
from tests.runs.ingested import rows
from tests.runs.replayed_logs import HISTORY, assert_same, row_texts

pytestmark = pytest.mark.broker

GROUP_METADATA, CURRENT_ASSIGNMENT, NEW_TYPE = 17, 22, 24
# Behind the version, the epoch and the hash stands how many tagged fields there are.
TAGS_OF_GROUP = 2 + 4 + 8
# A tag above all that any release has, three bytes long.
NEW_TAG = bytes([100, 3]) + b"new"
# The log is longer, and its last records cannot be read.
OF_THE_END = ("coordinator_epochs", "history_coverage", "replay_anomalies")
UNCHANGED = (*(name for name in HISTORY if name not in OF_THE_END), "assignment_audit")


def with_new_tag(key: bytes, value: bytes | None) -> bytes | None:
    (number,) = struct.unpack_from(">h", key)
    if value is None or number not in (GROUP_METADATA, CURRENT_ASSIGNMENT):
        return value
    at = TAGS_OF_GROUP if number == GROUP_METADATA else len(value) - 1
    assert number == GROUP_METADATA or value[at] == 0
    return value[:at] + bytes([value[at] + 1]) + value[at + 1 :] + NEW_TAG


def rewritten(content: bytes) -> Iterator[bytes]:
    """Batches under their old offsets; those of transactions and markers have no such records."""
    for begin, end in batches(content):
        raw = content[begin:end]
        batch = MemoryRecords(raw).next_batch()
        if batch.is_transactional or batch.is_control_batch:
            yield raw
            continue
        builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 24)
        for record in batch:
            builder.append(record.timestamp, record.key, with_new_tag(record.key, record.value))
        builder.close()
        yield placed(bytes(builder.buffer()), raw)


def placed(made: bytes, like: bytes, later: int = 0) -> bytes:
    """With the offset and the leader epoch of a batch, which its checksum leaves out."""
    (offset,) = struct.unpack_from(">q", like)
    return struct.pack(">q", offset + later) + made[8:12] + like[12:16] + made[16:]


def of_tomorrow(last: bytes) -> bytes:
    """Behind the last batch: a type that no release has, and a type whose value has the next version."""
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 24)
    newest = MemoryRecords(last).next_batch()
    group = struct.pack(">h", 14) + b"streams-static"
    builder.append(newest.max_timestamp, struct.pack(">h", NEW_TYPE) + group, bytes.fromhex("0000cafe"))
    builder.append(newest.max_timestamp, struct.pack(">h", GROUP_METADATA) + group, bytes.fromhex("0001beef"))
    builder.close()
    return placed(bytes(builder.buffer()), last, struct.unpack_from(">i", last, 23)[0] + 1)


def audited(log_dir, warehouse):
    command(warehouse, "ingest", "--source", f"segments:{log_dir}")
    for step in ("replay", "assignments"):
        command(warehouse, step)
    return warehouse


def test_a_log_of_tomorrow_is_read_as_far_as_it_is_known(tmp_path, capsys):
    original, num_tagged = rolled().log_dir, 0
    for segment in sorted(original.glob("*/*.log")):
        content = segment.read_bytes()
        parts = list(rewritten(content))
        num_tagged += sum(part.count(NEW_TAG) for part in parts)
        if NEW_TAG in b"".join(parts):
            last = content[list(batches(content))[-1][0] :]
            parts.append(of_tomorrow(last))
        copy = tmp_path / "log" / segment.relative_to(original)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(b"".join(parts))
    before = audited(original, tmp_path / "before")
    assert "tagged field" not in capsys.readouterr().err
    after = audited(tmp_path / "log", tmp_path / "after")
    said = f"{num_tagged} tagged fields that this release does not know, in values of record types 17, 22: left out"
    assert said in capsys.readouterr().err
    assert num_tagged > 10
    assert_same(row_texts(before, UNCHANGED), row_texts(after, UNCHANGED), "new tags")
    rejected = {row["record_type"]: (row["reason"], row["value_bytes"]) for row in rows(after, "rejected_records")}
    assert rejected == {
        GROUP_METADATA: (RejectReason.UNKNOWN_VALUE_VERSION, bytes.fromhex("0001beef")),
        NEW_TYPE: (RejectReason.UNKNOWN_RECORD_TYPE, bytes.fromhex("0000cafe")),
    }
    told = [(row["kind"], row["message"].partition(":")[0]) for row in rows(after, "replay_anomalies")]
    assert sorted(told) == [("unreadable_record", f"record of type {each} cannot be read") for each in sorted(rejected)]
