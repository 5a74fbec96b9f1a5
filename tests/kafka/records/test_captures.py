"""Captures are complete: every record that clients and admin tools can have a release write is in its capture."""

from collections import Counter
from collections.abc import Callable
from typing import Final

import pytest

from tests.kafka.records.dump_log import DumpedRecord, dumped_batches, dumped_records

pytestmark = pytest.mark.broker

# (record type, value version); None is a tombstone.
Written = tuple[int, int | None]

RECORD_TYPES: Final = range(24)
HIGHEST_VERSIONS: Final = {0: 4, 1: 4, 2: 4}


def versions(record_type):
    """Every version that was ever defined, and the tombstone."""
    values = range(HIGHEST_VERSIONS.get(record_type, 0) + 1)
    return {(record_type, None), *((record_type, version) for version in values)}


def in_full(*record_types):
    return set().union(*map(versions, record_types))


WRITTEN_BY_4_3: Final[set[Written]] = {(1, 1), (1, 4), (1, None), (2, 3), (2, None), (4, None)} | in_full(
    3, 5, 6, 7, 8, *range(10, 18), *range(19, 24)
)
WRITTEN: Final[dict[str, set[Written]]] = {
    "4.4.0": WRITTEN_BY_4_3,
    "4.3.1": WRITTEN_BY_4_3,
    "3.9.1-old": {(1, 1), (1, 3), (1, None), (2, 3), (2, None)},
    "3.9.1-new": {(1, 1), (1, 3), (1, None), (2, 3), (2, None)} | in_full(*range(3, 9)),
}

ONLY_0_8: Final = "0.8.2 alone wrote type 0; a tombstone needs an offset that was loaded from there"
ONE_VERSION: Final = "every release from 2.3 on writes classic groups in version 3"
INTER_BROKER: Final = "versions 0 and 2 belong to releases before 2.1, which a node without ZooKeeper cannot imitate"
UNWRITTEN_BY_4_3: Final[dict[str, set[Written]]] = {
    ONLY_0_8: versions(0),
    "from 4.1 on an offset is version 4, or 1 when the request limits its life": {(1, 0), (1, 2), (1, 3)},
    ONE_VERSION: {(2, 0), (2, 1), (2, 2), (2, 4)},
    "4.1 replaced the value by a hash in type 3; its tombstones are still written": {(4, 0)},
    "the number is unused since 4.1": versions(9),
    "no release wrote it": versions(18),
}
NEVER_WRITTEN: Final[dict[str, dict[str, set[Written]]]] = {
    "4.4.0": UNWRITTEN_BY_4_3,
    "4.3.1": UNWRITTEN_BY_4_3,
    "3.9.1-old": {
        ONLY_0_8: versions(0),
        INTER_BROKER: {(1, 0), (1, 2)},
        "4.1 was the first to write version 4": {(1, 4)},
        ONE_VERSION: {(2, 0), (2, 1), (2, 2), (2, 4)},
        "the old coordinator has only offsets and classic groups": in_full(*range(3, 24)),
    },
    "3.9.1-new": {
        ONLY_0_8: versions(0),
        INTER_BROKER: {(1, 0), (1, 2)},
        "4.1 was the first to write version 4": {(1, 4)},
        ONE_VERSION: {(2, 0), (2, 1), (2, 2), (2, 4)},
        "share groups, streams groups and resolved regular expressions came with 4.0 and 4.1": in_full(*range(9, 24)),
    },
}


def test_every_type_and_version_is_expected_or_has_a_reason(capture):
    reasons = Counter(written for all_of_reason in NEVER_WRITTEN[capture.release].values() for written in all_of_reason)
    assert set(reasons.values()) == {1}
    assert not WRITTEN[capture.release] & set(reasons)
    assert WRITTEN[capture.release] | set(reasons) == in_full(*RECORD_TYPES)


def test_what_can_be_provoked_was_and_nothing_else(capture):
    counts = Counter((record.record_type, record.value_version) for record in records(capture) if record.marker is None)
    assert set(counts) == WRITTEN[capture.release]


@pytest.mark.parametrize("is_compacted", [False, True])
def test_the_tool_accounts_for_every_byte(capture, is_compacted):
    capture = capture.compacted if is_compacted else capture
    batches = dumped_batches(capture.dump_text)
    assert sum(batch.size_bytes for batch in batches) == sum(segment.stat().st_size for segment in capture.segments)
    assert sum(batch.num_records for batch in batches) == len(records(capture))


def test_batches_are_compressed_by_every_codec(capture):
    codecs = {batch.codec for batch in dumped_batches(capture.dump_text)}
    assert codecs == {"none", "gzip", "snappy", "lz4", "zstd"}


def test_markers_are_never_compressed(capture):
    markers = [batch for batch in dumped_batches(capture.dump_text) if batch.is_control]
    assert {batch.codec for batch in markers} == {"none"}


def test_a_clean_restart_raises_the_leader_epoch_by_two(capture):
    epochs = {batch.partition_leader_epoch for batch in dumped_batches(capture.dump_text)}
    assert len(epochs) >= 3
    assert all(epoch % 2 == 0 for epoch in epochs)


def value(record, record_type):
    return (record.value or {}) if record.record_type == record_type else {}


def users_data(record, protocol):
    group = value(record, 2)
    return group.get("protocol") == protocol and any(member["subscription"]["userData"] for member in group["members"])


Shapes = dict[str, Callable[[DumpedRecord], bool]]

# Shapes of value that a decoder must meet in real logs, not only in made-up ones.
ALWAYS: Final[Shapes] = {
    "offset without leader epoch": lambda record: value(record, 1).get("leaderEpoch") == -1,
    "offset with leader epoch": lambda record: value(record, 1).get("leaderEpoch", -1) >= 0,
    "negative offset": lambda record: value(record, 1).get("offset", 0) < 0,
    "offset with a limited life": lambda record: "expireTimestamp" in value(record, 1),
    "metadata beyond the basic plane": lambda record: "\U0001f600" in value(record, 1).get("metadata", ""),
    "metadata with control characters": lambda record: "\x00" in value(record, 1).get("metadata", ""),
    "metadata as long as brokers take it": lambda record: len(value(record, 1).get("metadata", "")) == 4096,
    "commit marker": lambda record: record.marker == "COMMIT",
    "abort marker": lambda record: record.marker == "ABORT",
    "transactional offset": lambda record: record.batch.is_transactional and record.record_type == 1,
    "group without members": lambda record: value(record, 2).get("members") == [],
    "range members": lambda record: value(record, 2).get("protocol") == "range",
    "roundrobin members": lambda record: value(record, 2).get("protocol") == "roundrobin",
    "sticky user data": lambda record: users_data(record, "sticky"),
    "cooperative-sticky user data": lambda record: users_data(record, "cooperative-sticky"),
    "static member": lambda record: any(member["groupInstanceId"] for member in value(record, 2).get("members", [])),
    "several records in a batch": lambda record: record.batch.num_records > 1,
}
FIRST_JOIN: Final[Shapes] = {
    "group before its first generation": lambda record: value(record, 2).get("protocolType") == "",
}
CONSUMER: Final[Shapes] = {
    "static member away": lambda record: value(record, 8).get("memberEpoch") == -2,
    "member with unreleased partitions": lambda record: value(record, 8).get("state") == 2,
    "partitions pending revocation": lambda record: bool(value(record, 8).get("partitionsPendingRevocation")),
    "classic member of a consumer group": lambda record: bool(value(record, 5).get("classicMemberMetadata")),
    "native member of a consumer group": lambda record: value(record, 5).get("classicMemberMetadata", 0) is None,
    "member that names its assignor": lambda record: bool(value(record, 5).get("serverAssignor")),
}
MODERN: Final[Shapes] = {
    # 3.9's client does not send its rack to a coordinator of the new protocol.
    "member with a rack": lambda record: bool(value(record, 5).get("rackId")),
    "plain offset with its topic's id": lambda record: (
        not record.batch.is_transactional and "topicId" in value(record, 1)
    ),
    "assignment epochs": lambda record: any(
        "assignmentEpochs" in each for each in value(record, 8).get("assignedPartitions", [])
    ),
    "no metadata hash": lambda record: record.record_type == 3 and "metadataHash" not in value(record, 3) != {},
    "member by regular expression": lambda record: bool(value(record, 5).get("subscribedTopicRegex")),
    "Connect's members": lambda record: value(record, 2).get("protocolType") == "connect",
    "Kafka Streams over the classic protocol": lambda record: users_data(record, "stream"),
    "share partitions initializing": lambda record: bool(value(record, 15).get("initializingTopics")),
    "share partitions initialized": lambda record: bool(value(record, 15).get("initializedTopics")),
    "share partitions deleting": lambda record: bool(value(record, 15).get("deletingTopics")),
    "streams group's own settings": lambda record: bool(value(record, 17).get("lastAssignmentConfigs")),
    "streams group validated": lambda record: value(record, 17).get("validatedTopologyEpoch") == 0,
    "streams member with an endpoint": lambda record: bool(value(record, 19).get("userEndpoint")),
    "streams member without an endpoint": lambda record: value(record, 19).get("userEndpoint", 0) is None,
    "standby tasks": lambda record: bool(value(record, 21).get("standbyTasks")),
    "streams tasks pending revocation": lambda record: bool(value(record, 22).get("activeTasksPendingRevocation")),
}
UNNAMED: Final[Shapes] = {
    "transactional offset without its topic's id": lambda record: (
        record.batch.is_transactional and record.value_version == 4 and "topicId" not in value(record, 1)
    ),
}
SINCE_4_4: Final[Shapes] = {
    "transactional offset with its topic's id": lambda record: (
        record.batch.is_transactional and "topicId" in value(record, 1)
    ),
    "static member of a streams group": lambda record: bool(value(record, 19).get("instanceId")),
    "static streams member away": lambda record: value(record, 22).get("memberEpoch") == -2,
    "static streams member back": lambda record: (
        value(record, 22).get("memberEpoch") == 0 and bool(value(record, 22)["activeTasks"])
    ),
    "description of a topology stored": lambda record: value(record, 17).get("storedDescriptionTopologyEpoch") == 0,
    "description of a topology uncertain": lambda record: value(record, 17).get("storedDescriptionTopologyEpoch") == -2,
}
RACKS: Final[Shapes] = {
    "racks of a subscribed topic": lambda record: any(
        partition["racks"] for topic in value(record, 4).get("topics", []) for partition in topic["partitionMetadata"]
    ),
}
SHAPES: Final = {
    "4.4.0": ALWAYS | FIRST_JOIN | CONSUMER | MODERN | SINCE_4_4,
    "4.3.1": ALWAYS | FIRST_JOIN | CONSUMER | MODERN | UNNAMED,
    "3.9.1-old": ALWAYS,
    "3.9.1-new": ALWAYS | FIRST_JOIN | CONSUMER | RACKS,
}


def test_shapes_that_real_logs_hold(capture):
    met = records(capture)
    assert [name for name, holds in SHAPES[capture.release].items() if not any(map(holds, met))] == []


def test_operations_of_several_groups_share_a_batch_of_the_new_coordinator(capture):
    groups = {}
    for record in records(capture):
        if record.key:
            place = (record.offsets_partition, record.batch.base_offset)
            groups.setdefault(place, set()).add(record.key.get("group") or record.key["groupId"])
    assert any(len(names) > 1 for names in groups.values()) == (capture.release != "3.9.1-old")


def test_a_transaction_is_left_open(capture):
    open_at_the_end = {}
    for record in records(capture):
        if record.marker:
            open_at_the_end.pop(record.batch.producer_id, None)
        elif record.batch.is_transactional and record.key:
            open_at_the_end.setdefault(record.batch.producer_id, set()).add(record.key["group"])
    assert list(open_at_the_end.values()) == [{"transaction-left-open"}]


def test_the_cleaner_left_what_only_it_leaves(capture):
    batches = dumped_batches(capture.compacted.dump_text)
    assert any(batch.has_delete_horizon for batch in batches)
    assert any(batch.is_control and batch.num_records == 0 for batch in batches)
    assert any(batch.last_offset - batch.base_offset + 1 > batch.num_records > 0 for batch in batches)


def test_the_broker_answered_about_what_it_had_loaded(capture):
    groups = {group["group"] for group in capture.answers["groups"]}
    assert {"admin-reset", "assigned", "negative", "transactional"} <= groups
    assert not {"simple-deleted", "classic-deleted"} & groups
    assert capture.answers["offsets"]["interleaved"][0]["offset"] == 4
    # Committed, yet never shown: a negative offset.
    assert capture.answers["offsets"]["negative"] == []


def records(capture):
    return list(dumped_records(capture.dump_text))
