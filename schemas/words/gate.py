"""The words of the gate and of findings, each with what it means."""

import re

from schemas.words.enumerations import Meant
from schemas.words.history import Severity


class SuiteVerdict(Meant):
    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    ERROR = "error"


class SpanVerdict(Meant):
    PASSED = "passed"
    FAILED = "failed"
    OVERRIDDEN = "overridden"


class FindingKind(Meant):
    @property
    def severity(self) -> Severity:
        """That it has unless its query says another one."""
        return Severity(self.word.about.partition(", ")[0])

    @property
    def heading(self) -> str:
        return self.word.about.partition(", ")[2]

    SUITE_ERROR = "suite_error"
    EXPECTATION_FAILED = "expectation_failed"
    DAMAGED_RECORDS = "damaged_records"
    REJECTED_RECORDS = "rejected_records"
    UNKNOWN_RECORDS = "unknown_records"
    INPUT_SKIPPED = "input_skipped"
    HISTORY_HOLE = "history_hole"
    REPLAY_ANOMALY = "replay_anomaly"
    SOURCE_NOT_ADVANCING = "source_not_advancing"
    PARTITIONS_NEVER_READ = "partitions_never_read"
    LOG_ENDS_EARLY = "log_ends_early"
    CLOCK_AHEAD = "clock_ahead"
    REPORT_FAILED = "report_failed"
    NO_SNAPSHOTS = "no_snapshots"
    UNNAMED_TOPICS = "unnamed_topics"
    FAILOVER_LOST_RECORDS = "failover_lost_records"
    GROUP_DOWN = "group_down"
    GROUP_SILENT = "group_silent"
    MEMBER_SILENT = "member_silent"
    PARTITION_STOPPED = "partition_stopped"
    PARTITION_STALLED = "partition_stalled"
    OFFSET_BEYOND_END = "offset_beyond_end"
    OFFSET_REWOUND = "offset_rewound"
    FALLING_BEHIND = "falling_behind"
    NOBODY_READS = "nobody_reads"
    FRESHNESS_MISSED = "freshness_missed"
    HANGING_TRANSACTION = "hanging_transaction"
    REBALANCE_STORM = "rebalance_storm"
    LONG_UNREAD = "long_unread"
    OFFSETS_EXPIRING = "offsets_expiring"
    MESSAGES_LOST = "messages_lost"
    OFFSETS_RESET = "offsets_reset"
    OFFSETS_EXPIRED = "offsets_expired"
    ODD_COMMITS = "odd_commits"
    UNGATED_COMMITS = "ungated_commits"
    GATE_OVERRIDDEN = "gate_overridden"
    ASSIGNMENT_DRIFT = "assignment_drift"
    ASSIGNMENT_DEFECT = "assignment_defect"
    STALE_ASSIGNMENT = "stale_assignment"
    PARTITIONS_UNOWNED = "partitions_unowned"
    GROUP_RULE_BROKEN = "group_rule_broken"
    UPGRADE_STUCK = "upgrade_stuck"
    RECORD_HEADROOM = "record_headroom"
    OFFSETS_TOPIC_UNHEALTHY = "offsets_topic_unhealthy"
    COMMITS_TOO_OFTEN = "commits_too_often"
    DEAD_GROUP = "dead_group"


class ExportedMetric(Meant):
    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(re.findall(r"\w+", self.word.about))

    EXIT_CODE = "groupscope_run_exit_code"
    RUN_FINISHED = "groupscope_run_finished_timestamp_seconds"
    RUN_SECONDS = "groupscope_run_seconds"
    SOURCE_AGE = "groupscope_source_age_seconds"
    FINDINGS = "groupscope_findings"
    WAIVED = "groupscope_findings_waived"
    GROUP_LAG = "groupscope_group_lag_messages"
    GROUP_TIME_LAG = "groupscope_group_lag_seconds"
    GROUP_VERDICT = "groupscope_group_verdict"
    BURROW_VERDICT = "groupscope_group_burrow_verdict"
    GROUPS_LEFT_OUT = "groupscope_groups_left_out"


# Groups that tools make for themselves, by how their ids begin and a regular expression of what follows: the default of
# `[gate] tool_groups`, and what v_inventory marks.
TOOL_GROUPS = {
    "console-consumer-": "[0-9]+", "perf-consumer-": "[0-9]+", "kminion-": ".*", "burrow-": ".*", "_confluent-": ".*",
    "KafkaManagerOffsetCache": ".*", "KMOffsetCache-": ".*",
}  # fmt: skip
