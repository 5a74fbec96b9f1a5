"""Words that tables, code and docs share; each enumerated value is written once, here."""

from enum import IntEnum

from schemas.words.enumerations import MODERN_TABLES, OF_GROUPS, Meant


class RejectReason(Meant, of="rejected_records, v_decode_coverage.reason"):
    """Why bytes could not be decoded."""

    NULL_KEY = "null_key: The record has no key."
    UNKNOWN_RECORD_TYPE = "unknown_record_type: A record type that this release does not know."
    UNKNOWN_CONTROL_TYPE = "unknown_control_type: A control record that is neither COMMIT nor ABORT."
    UNKNOWN_VALUE_VERSION = "unknown_value_version: A version of the value that this release does not know."
    EMPTY_VALUE = "empty_value: The value has zero bytes, but is not NULL, so it is not a tombstone."
    UNDERRUN = "underrun: The bytes end within a field."
    BAD_LENGTH = "bad_length: A length or count that is impossible."
    TRAILING_BYTES = "trailing_bytes: Bytes are left after the last field."
    INVALID_UTF8 = "invalid_utf8: A text that is not UTF-8."
    BAD_CRC = "bad_crc: The checksum of the batch does not match."
    BAD_OFFSET = "bad_offset: The batch's offsets do not fit between those around it; no checksum covers them."
    TORN_BATCH = "torn_batch: The file ends within a batch."
    UNSUPPORTED_CODEC = "unsupported_codec: A compression type that no release of Kafka has."
    UNKNOWN_MAGIC = "unknown_magic: A batch format that this release does not know."
    BAD_COMPRESSION = "bad_compression: The batch cannot be decompressed."
    TOO_LARGE = "too_large: The batch is larger than any broker accepts, or would be after decompression."
    # Of archives: something else is in the place of a record.
    BAD_JSON = "bad_json: A line of an archive is not a JSON object."
    BAD_BASE64 = "bad_base64: Key or value of a line of an archive is not base64."
    BAD_COLUMN = "bad_column: A column of an archive has a value that is impossible there."


# What a newer release will understand is no damage.
UNKNOWN_REASONS = (RejectReason.UNKNOWN_RECORD_TYPE, RejectReason.UNKNOWN_VALUE_VERSION)


class Part(Meant, of="rejected_records.part"):
    """Which part of the log a rejected row is about."""

    BATCH = "batch: The batch, or a range of bytes that is no batch."
    KEY = "key: The record's key."
    VALUE = "value: The record's value."


class PartitionReading(Meant, of="offsets_partitions.reading"):
    """Whether an offsets partition was read."""

    READ = "read: A file of it was read, or it was read live. It may have no records."
    EMPTY = "empty: Not read, but the newest snapshot shows that it has no records."
    NEVER_READ = "never_read: No source had it: what its groups did is not known."
    UNKNOWN = "unknown: May be empty or missing: an archive has no record of it, or it was empty in an old snapshot."


class NumPartitionsSource(Meant, of="offsets_partitions.partitions_source"):
    """What shows how many partitions __consumer_offsets has."""

    SNAPSHOT = "snapshot: A snapshot lists the partitions of the topic."
    SETTING = "setting: A snapshot has the setting offsets.topic.num.partitions."
    GROUPS = "groups: The records of all groups are where this number puts them."
    ASSUMED = "assumed: Kafka's default of 50: no snapshot says it, and too few groups were read to show it."


class EarlyEnd(Meant, of="offsets_partitions.early_end"):
    """Why an offsets partition probably goes on after the last record that was read."""

    TORN_TAIL = "torn_tail: Its file ends within a batch, and other partitions go on."
    KNOWN_END = "known_end: A snapshot shows records after it."
    BEFORE_OTHERS = """before_others: Other partitions go on for longer than a minute and than ten usual gaps between
        its records. That is no proof: it may have nothing to write."""


class ControlType(IntEnum):
    """Types of control records that end a transaction; the rest belong to the metadata log of KRaft."""

    ABORT = 0
    COMMIT = 1


class Marker(Meant, of="transaction_markers.marker"):
    COMMIT = "COMMIT: The producer's transaction is committed."
    ABORT = "ABORT: The producer's transaction is aborted."


class SourceKind(Meant, of="source_files.kind"):
    """What was read."""

    SEGMENTS = "segments: A segment file of a broker."
    KAFKA = "kafka: A range of offsets, fetched from a live cluster."
    RECORDS = "records: A file of an archive."
    SNAPSHOTS = "snapshots: A file of snapshots."


class DecodeOutcome(Meant, of="v_decode_coverage.outcome"):
    MALFORMED = "malformed: Bytes that no release of Kafka writes."
    UNKNOWN = "unknown: A record type or version that this release does not know."
    DECODED = "decoded: Every byte of the record was decoded."


# The topic that all of this is about.
OFFSETS_TOPIC = "__consumer_offsets"
# Topics of Kafka itself.
INTERNAL_TOPICS = (OFFSETS_TOPIC, "__transaction_state", "__share_group_state", "__cluster_metadata")

# Kafka's "none" for producer ids, epochs and leader epochs; published as NULL.
NONE = -1


class GroupType(Meant, of=f"{OF_GROUPS}, {MODERN_TABLES}.group_type, assignment_whatif.group_protocol"):
    """Kinds of groups, by Kafka's names in lower case."""

    CLASSIC = """classic: One of the members, the leader, assigns partitions. Groups that have only offsets are classic
        too."""
    CONSUMER = "consumer: The broker assigns partitions (KIP-848)."
    SHARE = "share: Members share partitions (KIP-932)."
    STREAMS = "streams: Kafka Streams, tasks assigned by the broker (KIP-1071)."


class MemberState(Meant, of="current_member_assignments.member_state"):
    """How far a member has come to its target. The numbers in records differ between kinds of groups."""

    STABLE = "STABLE: The member has its target."
    UNREVOKED_PARTITIONS = "UNREVOKED_PARTITIONS: The member still owns partitions that it must give up."
    UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS: The member waits for partitions that other members still own."
    UNREVOKED_TASKS = "UNREVOKED_TASKS: The member still has tasks that it must give up."
    UNRELEASED_TASKS = "UNRELEASED_TASKS: The member waits for tasks that other members still have."
    UNKNOWN = "UNKNOWN: A number that no release of Kafka writes."


class TopicState(Meant, of="group_partition_metadata.topics.state"):
    """What a group has to do with a topic: subscribed, or a stage of a share group's state for it."""

    SUBSCRIBED = "subscribed: The group subscribes to the topic."
    INITIALIZING = "initializing: The share state of these partitions is being set up."
    INITIALIZED = "initialized: The share state of these partitions is set up."
    DELETING = "deleting: The share state of these partitions is being deleted."
