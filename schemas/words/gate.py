"""The words of the gate and of findings, each with what it means."""

from schemas.words.history import Severity
from schemas.words.meanings import Meant


class SuiteVerdict(Meant):
    PASSED = "passed", "Every expectation is met."
    WARNED = "warned", "Only expectations with a severity below critical failed."
    FAILED = "failed", "A critical expectation failed."
    ERROR = "error", "An expectation could not be evaluated. This never counts as passed."


class SpanVerdict(Meant):
    PASSED = "passed", "The data of the span was validated and passed."
    FAILED = "failed", "The data of the span was validated and failed."
    OVERRIDDEN = "overridden", "It failed, and somebody let it pass until a time."


class SpanCause(Meant):
    """Why a span does not begin where the span before it ends."""

    RESET = "reset", "Offsets were moved or removed between the two: see offset_resets."
    REWIND = "rewind", "The group committed a lower offset between the two, and no reset explains it."
    RETENTION_LOSS = "retention_loss", "A snapshot shows that the log began after the end of the span before."
    UNGATED_COMMIT = (
        "ungated_commit",
        "The group read the messages between the two spans and committed them without a validated span.",
    )
    TRANSACTION_HOLE = (
        "transaction_hole",
        "Likely: the commit of the span before ends where this one starts, so no message is between the two. Markers "
        "and aborted messages of transactions, and compacted messages, have offsets but no consumer gets them.",
    )


class FindingKind(Meant):
    """What an audit reports, each with the severity that it has unless its query says another one."""

    severity: Severity

    def __new__(cls, value: str, severity: Severity, meaning: str) -> "FindingKind":
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.severity = severity
        return member

    # Whether the answers stand.
    SUITE_ERROR = "suite_error", Severity.CRITICAL, "A suite of the gate could not be evaluated."
    EXPECTATION_FAILED = "expectation_failed", Severity.CRITICAL, "An expectation of the gate failed."
    DAMAGED_RECORDS = "damaged_records", Severity.CRITICAL, "Bytes of the log are damaged: records are lost."
    REJECTED_RECORDS = "rejected_records", Severity.CRITICAL, "Records could not be decoded."
    UNKNOWN_RECORDS = "unknown_records", Severity.WARNING, "Record types or versions that this release does not know."
    HISTORY_HOLE = "history_hole", Severity.WARNING, "A part of the log was never read."
    REPLAY_ANOMALY = "replay_anomaly", Severity.WARNING, "Records in an order that no coordinator writes."
    SOURCE_NOT_ADVANCING = (
        "source_not_advancing",
        Severity.CRITICAL,
        "A source had nothing new for max_source_age_hours, or snapshots show that the log has records that were not "
        "read.",
    )
    NO_SNAPSHOTS = (
        "no_snapshots",
        Severity.INFO,
        "There are no snapshots: lag and everything else that needs end offsets is unknown.",
    )
    UNNAMED_TOPICS = "unnamed_topics", Severity.INFO, "For some topics only the id is known."
    # Whether groups get on.
    PARTITION_STOPPED = (
        "partition_stopped",
        Severity.CRITICAL,
        "A group makes no more commits for a partition that has lag.",
    )
    PARTITION_STALLED = (
        "partition_stalled",
        Severity.CRITICAL,
        "A group commits the same offset of a partition again and again, although it has lag.",
    )
    OFFSET_REWOUND = (
        "offset_rewound",
        Severity.CRITICAL,
        "The committed offset of a partition moved back, and no reset explains it.",
    )
    FALLING_BEHIND = "falling_behind", Severity.WARNING, "A partition's lag grows."
    FRESHNESS_MISSED = (
        "freshness_missed",
        Severity.WARNING,
        "The time lag of a group was above its freshness objective for too long.",
    )
    HANGING_TRANSACTION = (
        "hanging_transaction",
        Severity.CRITICAL,
        "A transaction that committed offsets stays open: its offsets do not take effect or expire, and nothing after "
        "it is compacted.",
    )
    REBALANCE_STORM = "rebalance_storm", Severity.WARNING, "A group rebalances again and again."
    LONG_UNREAD = "long_unread", Severity.WARNING, "A rebalance left partitions unread for longer than max_unread_ms."
    OFFSETS_EXPIRING = "offsets_expiring", Severity.WARNING, "Offsets expire soon."
    MESSAGES_LOST = "messages_lost", Severity.CRITICAL, "Messages were deleted before the group had read them."
    # Who moved what.
    OFFSETS_RESET = "offsets_reset", Severity.WARNING, "Somebody moved offsets."
    OFFSETS_EXPIRED = "offsets_expired", Severity.WARNING, "Offsets expired with messages left to read."
    ODD_COMMITS = (
        "odd_commits",
        Severity.WARNING,
        "Odd commits: outside of the log, backwards, without members, or for partitions that no member owned.",
    )
    UNGATED_COMMITS = (
        "ungated_commits",
        Severity.WARNING,
        "A group with validated spans committed messages that no span covers.",
    )
    GATE_OVERRIDDEN = "gate_overridden", Severity.INFO, "A span that failed was overridden."
    # Assignments.
    ASSIGNMENT_DRIFT = "assignment_drift", Severity.WARNING, "Kafka's assignor gives another assignment."
    ASSIGNMENT_DEFECT = (
        "assignment_defect",
        Severity.WARNING,
        "An assignment shows the signs of a known defect of Kafka.",
    )
    PARTITIONS_UNOWNED = "partitions_unowned", Severity.WARNING, "Partitions of a subscribed topic have no owner."
    UPGRADE_STUCK = (
        "upgrade_stuck",
        Severity.WARNING,
        "A group's migration to another assignor or protocol has stopped halfway.",
    )
    # Housekeeping.
    RECORD_HEADROOM = (
        "record_headroom",
        Severity.WARNING,
        "A batch of a group's records is near message.max.bytes, the largest batch that the broker accepts.",
    )
    OFFSETS_TOPIC_UNHEALTHY = (
        "offsets_topic_unhealthy",
        Severity.WARNING,
        "An offsets partition is not compacted as it should be.",
    )
    COMMITS_TOO_OFTEN = "commits_too_often", Severity.INFO, "A group fills the offsets topic with needless commits."
    DEAD_GROUP = "dead_group", Severity.INFO, "A group has had no members and no commits for a long time."
