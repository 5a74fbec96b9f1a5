"""Words that tables, code and docs share; each enumerated value is written once, here."""

from enum import IntEnum

from schemas.words.enumerations import Meant


class RejectReason(Meant):
    NULL_KEY = "null_key"
    UNKNOWN_RECORD_TYPE = "unknown_record_type"
    UNKNOWN_CONTROL_TYPE = "unknown_control_type"
    UNKNOWN_VALUE_VERSION = "unknown_value_version"
    EMPTY_VALUE = "empty_value"
    UNDERRUN = "underrun"
    BAD_LENGTH = "bad_length"
    TRAILING_BYTES = "trailing_bytes"
    INVALID_UTF8 = "invalid_utf8"
    BAD_CRC = "bad_crc"
    BAD_OFFSET = "bad_offset"
    TORN_BATCH = "torn_batch"
    UNSUPPORTED_CODEC = "unsupported_codec"
    UNKNOWN_MAGIC = "unknown_magic"
    BAD_COMPRESSION = "bad_compression"
    TOO_LARGE = "too_large"
    BAD_JSON = "bad_json"
    BAD_BASE64 = "bad_base64"
    BAD_COLUMN = "bad_column"


# What a newer release will understand is no damage.
UNKNOWN_REASONS = (RejectReason.UNKNOWN_RECORD_TYPE, RejectReason.UNKNOWN_VALUE_VERSION)


class Part(Meant):
    BATCH = "batch"
    KEY = "key"
    VALUE = "value"


class PartitionReading(Meant):
    READ = "read"
    EMPTY = "empty"
    NEVER_READ = "never_read"
    UNKNOWN = "unknown"


class NumPartitionsSource(Meant):
    SNAPSHOT = "snapshot"
    SETTING = "setting"
    GROUPS = "groups"
    ASSUMED = "assumed"


class EarlyEnd(Meant):
    TORN_TAIL = "torn_tail"
    KNOWN_END = "known_end"
    BEFORE_OTHERS = "before_others"


class ControlType(IntEnum):
    """Types of control records that end a transaction; the rest belong to the metadata log of KRaft."""

    ABORT = 0
    COMMIT = 1


class SourceKind(Meant):
    SEGMENTS = "segments"
    KAFKA = "kafka"
    RECORDS = "records"
    SNAPSHOTS = "snapshots"


# The topic that all of this is about.
OFFSETS_TOPIC = "__consumer_offsets"
# Topics of Kafka itself.
INTERNAL_TOPICS = (OFFSETS_TOPIC, "__transaction_state", "__share_group_state", "__cluster_metadata")

# Kafka's "none" for producer ids, epochs and leader epochs; published as NULL.
NONE = -1


class GroupType(Meant):
    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class MemberState(Meant):
    STABLE = "STABLE"
    UNREVOKED_PARTITIONS = "UNREVOKED_PARTITIONS"
    UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS"
    UNREVOKED_TASKS = "UNREVOKED_TASKS"
    UNRELEASED_TASKS = "UNRELEASED_TASKS"
    UNKNOWN = "UNKNOWN"


class TopicState(Meant):
    SUBSCRIBED = "subscribed"
    INITIALIZING = "initializing"
    INITIALIZED = "initialized"
    DELETING = "deleting"
