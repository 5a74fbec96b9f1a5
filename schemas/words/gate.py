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
    EXPECTATION_FAILED = (
        "expectation_failed",
        Severity.CRITICAL,
        "A metric is not as an expectation of the gate requires it.",
    )
    DAMAGED_RECORDS = "damaged_records", Severity.CRITICAL, "Bytes of the log are damaged: records are lost."
    REJECTED_RECORDS = "rejected_records", Severity.CRITICAL, "Records that cannot be decoded."
    UNKNOWN_RECORDS = (
        "unknown_records",
        Severity.WARNING,
        "Record types or versions that this release of Groupscope does not know.",
    )
    HISTORY_HOLE = "history_hole", Severity.WARNING, "A part of the log was never read."
    REPLAY_ANOMALY = "replay_anomaly", Severity.WARNING, "Records in an order that no coordinator writes."
    SOURCE_NOT_ADVANCING = (
        "source_not_advancing",
        Severity.CRITICAL,
        "No new records for `max_source_age_hours`, or snapshots show that an offsets partition has newer records than "
        "those that were read: the source, or the copying of the log, may have stopped.",
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
        "A group no longer commits offsets of a partition that has unread messages.",
    )
    PARTITION_STALLED = (
        "partition_stalled",
        Severity.CRITICAL,
        "A group still commits offsets of a partition that has unread messages, but always the same offset.",
    )
    OFFSET_REWOUND = "offset_rewound", Severity.CRITICAL, "A group committed a lower offset, and no reset explains it."
    FALLING_BEHIND = "falling_behind", Severity.WARNING, "A partition's lag grows."
    FRESHNESS_MISSED = (
        "freshness_missed",
        Severity.WARNING,
        "The time lag of a group was above its freshness objective for too long.",
    )
    HANGING_TRANSACTION = (
        "hanging_transaction",
        Severity.CRITICAL,
        "A transaction that committed offsets stays open. Its offsets have no effect until it ends, and the log cannot "
        "be compacted beyond it.",
    )
    REBALANCE_STORM = "rebalance_storm", Severity.WARNING, "A group rebalances again and again."
    LONG_UNREAD = "long_unread", Severity.WARNING, "A rebalance left partitions unread for longer than `max_unread_ms`."
    OFFSETS_EXPIRING = "offsets_expiring", Severity.WARNING, "Offsets expire soon."
    MESSAGES_LOST = "messages_lost", Severity.CRITICAL, "Messages were deleted before the group had read them."
    # Who moved what.
    OFFSETS_RESET = (
        "offsets_reset",
        Severity.WARNING,
        "Offsets of a group were set to other values or deleted, for example by an admin tool.",
    )
    OFFSETS_EXPIRED = "offsets_expired", Severity.WARNING, "Offsets expired with messages left to read."
    ODD_COMMITS = (
        "odd_commits",
        Severity.WARNING,
        "Commits that look wrong, such as those of an empty group, of a partition that no member owns, or of an offset "
        "above the end of the log.",
    )
    UNGATED_COMMITS = (
        "ungated_commits",
        Severity.WARNING,
        "A group that records validated spans committed messages without a passed validation.",
    )
    GATE_OVERRIDDEN = (
        "gate_overridden",
        Severity.INFO,
        "Somebody accepted data that had failed its validation: `gate --override`.",
    )
    # Assignments.
    ASSIGNMENT_DRIFT = "assignment_drift", Severity.WARNING, "Kafka's assignor gives another assignment."
    ASSIGNMENT_DEFECT = "assignment_defect", Severity.WARNING, "An assignment shows a known bug of Kafka's assignor."
    PARTITIONS_UNOWNED = "partitions_unowned", Severity.WARNING, "Partitions of a subscribed topic have no owner."
    UPGRADE_STUCK = (
        "upgrade_stuck",
        Severity.WARNING,
        "A group's change to another assignor or protocol has stopped half way.",
    )
    # Housekeeping.
    RECORD_HEADROOM = (
        "record_headroom",
        Severity.WARNING,
        "A group's newest record is larger than 70 % of `record_limit_bytes`, the largest record that brokers accept.",
    )
    OFFSETS_TOPIC_UNHEALTHY = (
        "offsets_topic_unhealthy",
        Severity.WARNING,
        "An offsets partition is not compacted as it should be.",
    )
    COMMITS_TOO_OFTEN = "commits_too_often", Severity.INFO, "A group fills the offsets topic with needless commits."
    DEAD_GROUP = "dead_group", Severity.INFO, "A group has had no members and no commits for a long time."
