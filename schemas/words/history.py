"""The words of history tables: states, causes, endings, each with what it means."""

from schemas.words.enumerations import Meant


class Confidence(Meant):
    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class GroupState(Meant):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    NOT_READY = "NotReady"


class StateEnd(Meant):
    NEXT_STATE = "next_state"
    DELETED = "deleted"
    CONVERTED = "converted"
    COVERAGE_HOLE = "coverage_hole"


class LeaveKind(Meant):
    LEFT = "left"
    LEFT_OR_TIMED_OUT = "left_or_timed_out"
    SESSION_TIMEOUT_LIKELY = "session_timeout_likely"
    REBALANCE_TIMEOUT_LIKELY = "rebalance_timeout_likely"
    STATIC_REPLACED = "static_replaced"
    STATIC_EXPIRED_LIKELY = "static_expired_likely"
    GROUP_DELETED = "group_deleted"
    CONVERTED = "converted"
    COVERAGE_HOLE = "coverage_hole"
    UNKNOWN = "unknown"


TIMED_OUT = (LeaveKind.SESSION_TIMEOUT_LIKELY, LeaveKind.REBALANCE_TIMEOUT_LIKELY, LeaveKind.STATIC_EXPIRED_LIKELY)


class OwnershipPhase(Meant):
    ASSIGNED = "assigned"
    REVOKING = "revoking"
    HELD = "held"


class OwnershipEnd(Meant):
    REASSIGNED = "reassigned"
    REVOKED = "revoked"
    PHASE_CHANGED = "phase_changed"
    MEMBER_LEFT = "member_left"
    STATIC_REPLACED = "static_replaced"
    GROUP_DELETED = "group_deleted"
    CONVERTED = "converted"
    COVERAGE_HOLE = "coverage_hole"


class TaskRole(Meant):
    ACTIVE = "active"
    STANDBY = "standby"
    WARMUP = "warmup"


class RebalanceOutcome(Meant):
    COMPLETED = "completed"
    SUPERSEDED = "superseded"
    EMPTIED = "emptied"
    OPEN = "open"


class RebalanceTrigger(Meant):
    MEMBER_JOINED = "member_joined"
    MEMBER_LEFT = "member_left"
    STATIC_RESTART = "static_restart"
    SUBSCRIPTION_CHANGED = "subscription_changed"
    REGEX_RESOLVED = "regex_resolved"
    METADATA_CHANGED = "metadata_changed"
    ASSIGNOR_CHANGED = "assignor_changed"
    LEADER_REJOINED = "leader_rejoined"
    PROTOCOL_MIGRATION = "protocol_migration"
    COORDINATOR_FAILOVER = "coordinator_failover"
    GROUP_CREATED = "group_created"
    GROUP_EMPTIED = "group_emptied"
    UNKNOWN = "unknown"


class TimelineKind(Meant):
    REBALANCE = "rebalance"
    STATIC_RESTART = "static_restart"
    CONVERSION = "conversion"
    DELETION = "deletion"
    COORDINATOR_FAILOVER = "coordinator_failover"
    SILENCE = "silence"
    MARK = "mark"


class RebalanceMode(Meant):
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    INCREMENTAL = "incremental"


class MemberChange(Meant):
    JOINED = "joined"
    KEPT = "kept"
    LEFT = "left"
    RESTARTED = "restarted"


class MoveKind(Meant):
    MOVED = "moved"
    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"
    WITHHELD = "withheld"
    READY_TO_MIGRATE = "ready_to_migrate"
    UNKNOWN_OWNED = "unknown_owned"
    RETURNED = "returned"


class CommitVia(Meant):
    PLAIN = "plain"
    TRANSACTION = "transaction"


class OffsetEnd(Meant):
    COMMIT = "commit"
    EXPIRED = "expired"
    DELETED = "deleted"
    TOPIC_DELETED = "topic_deleted"
    TOPIC_RECREATED = "topic_recreated"
    TOMBSTONE_UNKNOWN = "tombstone_unknown"
    RELOADED = "reloaded"
    COVERAGE_HOLE = "coverage_hole"


class TransactionOutcome(Meant):
    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"


class TopicSource(Meant):
    SNAPSHOT = "snapshot"
    COMMIT = "commit"
    RECORD = "record"
    METADATA_HASH = "metadata_hash"
    SINGLE_SUBSCRIPTION = "single_subscription"
    PARTITION_COUNTS = "partition_counts"


class Severity(Meant):
    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class AnomalyKind(Meant):
    CLOCK_WENT_BACK = "clock_went_back"
    TWO_OWNERS = "two_owners"
    GENERATION_WENT_BACK = "generation_went_back"
    EPOCH_WENT_BACK = "epoch_went_back"
    IMPOSSIBLE_ORDER = "impossible_order"
    GROUP_IN_WRONG_PARTITION = "group_in_wrong_partition"
    TARGET_WRITE_INCOMPLETE = "target_write_incomplete"
    DUPLICATE_INSTANCE = "duplicate_instance"
    DUPLICATE_MEMBER = "duplicate_member"
    NEGATIVE_PARTITION = "negative_partition"
    TYPE_CONFLICT = "type_conflict"
    UNREADABLE_RECORD = "unreadable_record"
    FOREIGN_PAYLOAD = "foreign_payload"
    PENDING_OUTLIVED_DELETION = "pending_outlived_deletion"
    OLDER_RULE = "older_rule"
