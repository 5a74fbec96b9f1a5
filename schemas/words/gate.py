"""The words of the gate and of findings, each with what it means."""

from schemas.words.history import Severity
from schemas.words.meanings import Meant


class SuiteVerdict(Meant):
    PASSED = "passed", "Every expectation holds."
    WARNED = "warned", "Only expectations below critical fail."
    FAILED = "failed", "A critical expectation fails."
    ERROR = "error", "An expectation could not be evaluated: never a pass."


class SpanVerdict(Meant):
    PASSED = "passed", "The data of the span was validated."
    FAILED = "failed", "The data of the span was validated and failed."
    OVERRIDDEN = "overridden", "It failed, and somebody let it through for a term."


class SpanCause(Meant):
    """Why a span does not begin where the span before it ends."""

    RESET = "reset", "Offsets were moved or removed between the two: see offset_resets."
    REWIND = "rewind", "The group committed a lower offset between the two, and no reset explains it."
    RETENTION_LOSS = "retention_loss", "A snapshot shows that the log began after the end of the span before."
    UNGATED_COMMIT = "ungated_commit", "The group read the messages between the two and committed them past the gate."
    TRANSACTION_HOLE = (
        "transaction_hole",
        "Likely: the commit of the span before ends where this one starts, so no message lies between the two. Markers "
        "and aborted messages of transactions, and compacted messages, have offsets that no consumer is given.",
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
    EXPECTATION_FAILED = "expectation_failed", Severity.CRITICAL, "An expectation of the gate does not hold."
    DAMAGED_RECORDS = "damaged_records", Severity.CRITICAL, "Bytes of the log are damaged: records are lost."
    REJECTED_RECORDS = "rejected_records", Severity.CRITICAL, "Records that cannot be decoded."
    UNKNOWN_RECORDS = "unknown_records", Severity.WARNING, "Record types or versions that this release does not know."
    HISTORY_HOLE = "history_hole", Severity.WARNING, "A part of the log was never read."
    REPLAY_ANOMALY = "replay_anomaly", Severity.WARNING, "Records in an order that no coordinator writes."
    SOURCE_NOT_ADVANCING = (
        "source_not_advancing",
        Severity.CRITICAL,
        "For max_source_age_hours a source brought nothing new, or snapshots show records that no copy brought.",
    )
    NO_SNAPSHOTS = "no_snapshots", Severity.INFO, "No snapshots: lag and what needs end offsets are not known."
    UNNAMED_TOPICS = "unnamed_topics", Severity.INFO, "Topics of which only the id is known."
    # Whether groups get on.
    PARTITION_STOPPED = "partition_stopped", Severity.CRITICAL, "A partition is no longer committed, with lag."
    PARTITION_STALLED = "partition_stalled", Severity.CRITICAL, "A partition's offset does not advance, with lag."
    OFFSET_REWOUND = "offset_rewound", Severity.CRITICAL, "A partition's offset moved back, unexplained."
    FALLING_BEHIND = "falling_behind", Severity.WARNING, "A partition's lag grows."
    FRESHNESS_MISSED = "freshness_missed", Severity.WARNING, "A group was later than its freshness objective allows."
    HANGING_TRANSACTION = (
        "hanging_transaction",
        Severity.CRITICAL,
        "A transaction on offsets stays open: its offsets wait, and compaction and expiry with them.",
    )
    REBALANCE_STORM = "rebalance_storm", Severity.WARNING, "A group rebalances again and again."
    LONG_UNREAD = "long_unread", Severity.WARNING, "A rebalance left partitions unread for longer than max_unread."
    OFFSETS_EXPIRING = "offsets_expiring", Severity.WARNING, "Offsets expire soon."
    MESSAGES_LOST = "messages_lost", Severity.CRITICAL, "Messages were deleted before the group had read them."
    # Who moved what.
    OFFSETS_RESET = "offsets_reset", Severity.WARNING, "Somebody moved offsets."
    OFFSETS_EXPIRED = "offsets_expired", Severity.WARNING, "Offsets expired with messages left to read."
    ODD_COMMITS = "odd_commits", Severity.WARNING, "Commits by or for what should not commit."
    UNGATED_COMMITS = "ungated_commits", Severity.WARNING, "A group whose data is gated committed past the gate."
    GATE_OVERRIDDEN = "gate_overridden", Severity.INFO, "Data that failed the gate was let through."
    # Assignments.
    ASSIGNMENT_DRIFT = "assignment_drift", Severity.WARNING, "Kafka's assignor gives another assignment."
    ASSIGNMENT_DEFECT = "assignment_defect", Severity.WARNING, "An assignment bears the mark of a known defect."
    PARTITIONS_UNOWNED = "partitions_unowned", Severity.WARNING, "Partitions of a subscribed topic have no owner."
    UPGRADE_STUCK = "upgrade_stuck", Severity.WARNING, "A group's move to another protocol has stopped half way."
    # Housekeeping.
    RECORD_HEADROOM = "record_headroom", Severity.WARNING, "A group's record comes near the limit of a batch."
    OFFSETS_TOPIC_UNHEALTHY = (
        "offsets_topic_unhealthy",
        Severity.WARNING,
        "An offsets partition is not compacted as it should be.",
    )
    COMMITS_TOO_OFTEN = "commits_too_often", Severity.INFO, "A group fills the offsets topic with needless commits."
    DEAD_GROUP = "dead_group", Severity.INFO, "A group without members and without commits for long."
