"""Words that tables, code and docs share; each enumerated value is written once, here."""

from enum import IntEnum, StrEnum


class RejectReason(StrEnum):
    """Why bytes could not be decoded."""

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
    TORN_BATCH = "torn_batch"
    UNSUPPORTED_CODEC = "unsupported_codec"
    UNKNOWN_MAGIC = "unknown_magic"
    BAD_COMPRESSION = "bad_compression"
    TOO_LARGE = "too_large"
    # Of archives: what stands in the place of a record is none.
    BAD_JSON = "bad_json"
    BAD_BASE64 = "bad_base64"
    BAD_COLUMN = "bad_column"


# What a newer release will understand is no damage.
UNKNOWN_REASONS = (RejectReason.UNKNOWN_RECORD_TYPE, RejectReason.UNKNOWN_VALUE_VERSION)


class Part(StrEnum):
    """Which part of the log a rejected row is about."""

    BATCH = "batch"
    KEY = "key"
    VALUE = "value"


class ControlType(IntEnum):
    """Types of control records that end a transaction; the rest belong to the metadata log of KRaft."""

    ABORT = 0
    COMMIT = 1


# The topic that all of this is about.
OFFSETS_TOPIC = "__consumer_offsets"

# Kafka's "none" for producer ids, epochs and leader epochs; published as NULL.
NONE = -1


class GroupType(StrEnum):
    """Kinds of groups, by Kafka's names in lower case."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class MemberState(StrEnum):
    """How far a member has come to its target. The numbers in records differ between kinds of groups."""

    STABLE = "STABLE"
    UNREVOKED_PARTITIONS = "UNREVOKED_PARTITIONS"
    UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS"
    UNREVOKED_TASKS = "UNREVOKED_TASKS"
    UNRELEASED_TASKS = "UNRELEASED_TASKS"
    UNKNOWN = "UNKNOWN"


class TopicState(StrEnum):
    """What a group has to do with a topic: subscribed, or a stage of a share group's state for it."""

    SUBSCRIBED = "subscribed"
    INITIALIZING = "initializing"
    INITIALIZED = "initialized"
    DELETING = "deleting"
