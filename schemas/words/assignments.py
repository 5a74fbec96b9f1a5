"""The words of the tables of recomputed assignments, each with what it means."""

from schemas.words.enumerations import Meant


class AssignorSource(Meant):
    RECORD = "record"
    VOTES = "votes"
    DEFAULT = "default"
    INFERRED = "inferred"


class Algorithm(Meant):
    PLAIN = "plain"
    RACK_AWARE = "rack_aware"
    CONSTRAINED = "constrained"
    GENERAL = "general"
    HOMOGENEOUS = "homogeneous"
    HETEROGENEOUS = "heterogeneous"


class Verdict(Meant):
    SAME = "same"
    SAME_MEMBERS_OTHER_ORDER = "same_members_other_order"
    SAME_UNCONFIRMED = "same_unconfirmed"
    STALE_INPUT = "stale_input"
    DRIFT = "drift"
    CARRIED_OVER = "carried_over"
    NOT_RECOMPUTABLE = "not_recomputable"


# What rests on inputs that the log or snapshots confirm.
CONFIRMED = (Verdict.SAME, Verdict.SAME_MEMBERS_OTHER_ORDER, Verdict.DRIFT, Verdict.STALE_INPUT)


class AuditReason(Meant):
    OTHER_LIBRARY = "other_library"
    CUSTOM_ASSIGNOR = "custom_assignor"


class PartitionCountsSource(Meant):
    SNAPSHOT = "snapshot"
    RECORD = "record"
    METADATA_HASH = "metadata_hash"
    INFERRED = "inferred"


class CheckName(Meant):
    VALID = "valid"
    COMPLETE = "complete"
    WITHHELD = "withheld"
    BALANCED = "balanced"
    COOPERATIVE_SAFE = "cooperative_safe"
    STATIC_ONCE = "static_once"
    OWNED_ONCE = "owned_once"
    CO_PARTITIONED = "co_partitioned"
    REDUNDANT = "redundant"
    RACK_LOCAL = "rack_local"


class Migration(Meant):
    EAGER_TO_COOPERATIVE = "eager_to_cooperative"
    CLASSIC_TO_CONSUMER = "classic_to_consumer"
    CONSUMER_TO_CLASSIC = "consumer_to_classic"


class MigrationPhase(Meant):
    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    STUCK = "stuck"
    TAKEN_BACK = "taken_back"
    FINISHED = "finished"


class Readiness(Meant):
    READY = "ready"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class BlockerKind(Meant):
    OTHER_PROTOCOL_TYPE = "other_protocol_type"
    STREAMS = "streams"
    CUSTOM_ASSIGNOR = "custom_assignor"
    ASSIGNED_USER_DATA = "assigned_user_data"
    MIGRATION_POLICY = "migration_policy"
    OLD_CLIENT = "old_client"
    CLIENT_LIBRARY = "client_library"
    UNREADABLE_SUBSCRIPTION = "unreadable_subscription"
    TURNED_BACK = "turned_back"
    NO_PROGRESS = "no_progress"


class ClientLibrary(Meant):
    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    SARAMA = "sarama"
    FRANZ_GO = "franz-go"
    KAFKAJS = "kafkajs"


WITHOUT_CONSUMER_PROTOCOL = frozenset(
    {ClientLibrary.KAFKA_PYTHON, ClientLibrary.AIOKAFKA, ClientLibrary.SARAMA, ClientLibrary.KAFKAJS}
)
