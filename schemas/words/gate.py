"""The words of the gate and of findings, each with what it means."""

import re

from schemas.words.enumerations import Meant
from schemas.words.history import Severity


class SuiteVerdict(Meant, of="gate_runs.verdict"):
    PASSED = "passed: Every expectation is met."
    WARNED = "warned: Only expectations with a severity below critical failed."
    FAILED = "failed: A critical expectation failed."
    ERROR = "error: An expectation could not be evaluated. This never counts as passed."


class SpanVerdict(Meant, of="gate_spans.verdict"):
    PASSED = "passed: The data of the span was validated and passed."
    FAILED = "failed: The data of the span was validated and failed."
    OVERRIDDEN = "overridden: The data failed its validation, and somebody accepted it until a time."


class SpanCause(Meant, of="v_gate_spans.cause"):
    """Why a span does not begin where the span before it ends."""

    RESET = "reset: Offsets were moved or removed between the two: see offset_resets."
    REWIND = "rewind: The group committed a lower offset between the two, and no reset explains it."
    RETENTION_LOSS = """retention_loss: Messages after the previous span were deleted: a snapshot shows that the log
        began after the end of that span."""
    UNGATED_COMMIT = """ungated_commit: The group read the messages between the two spans and committed them without a
        validated span."""
    TRANSACTION_HOLE = """transaction_hole: Likely: one commit covers the end of the previous span and ends where this
        span starts, so there was no message between the two spans. Markers and aborted messages of transactions, and
        compacted messages, have offsets, but consumers do not get them."""


class FindingKind(Meant, of="findings.kind"):
    """What an audit reports, each with the severity that it has unless its query says another one, and its heading."""

    severity: Severity
    heading: str

    def __init__(self, said: str) -> None:
        _, word, self.heading = said.split(": ", maxsplit=1)[0].split(", ")
        self.severity = Severity(word)

    # Whether the answers are right.
    SUITE_ERROR = "suite_error, critical, check not evaluated: A suite of the gate could not be evaluated."
    EXPECTATION_FAILED = """expectation_failed, critical, check failed: A metric does not meet an expectation of the
        gate."""
    DAMAGED_RECORDS = "damaged_records, critical, damaged records: Bytes of the log are damaged, so records are lost."
    REJECTED_RECORDS = "rejected_records, critical, records that cannot be decoded: Some records cannot be decoded."
    UNKNOWN_RECORDS = """unknown_records, warning, records of a newer release: Some records have a type or version that
        this release of Groupscope does not know."""
    INPUT_SKIPPED = """input_skipped, critical, part of the source skipped: A file or folder of the source was there and
        could not be read, and the run went on without it (`[ingest] unreadable`). So records may be missing. The
        finding ends when a later run reads something of that folder."""
    HISTORY_HOLE = "history_hole, warning, part of the log never read: A part of the log was never read."
    REPLAY_ANOMALY = """replay_anomaly, warning, unusual records: Records contradict each other or Kafka's rules, or
        coordinators of other releases read them differently. The kind at the end of the message says which; v_enums
        explains the kinds."""
    SOURCE_NOT_ADVANCING = """source_not_advancing, critical, nothing new from the source: No run read new records for
        longer than is accepted (`max_source_age_hours`): the source, or the copying of the log, may have stopped. The
        first run on an old copy of a log reports none: its page says when the log ends."""
    PARTITIONS_NEVER_READ = """partitions_never_read, warning, offsets partitions never read: No source had these
        partitions of __consumer_offsets, so nothing is known of the groups in them. Critical if a snapshot shows that
        they have records or groups."""
    LOG_ENDS_EARLY = """log_ends_early, warning, end of the log is missing: Partitions of __consumer_offsets end before
        others do, or before a snapshot shows, and groups are there: whether these went on to commit is unknown.
        Critical if a snapshot shows that more than `max_source_age_hours` are missing."""
    CLOCK_AHEAD = """clock_ahead, info, clock ahead: Records or snapshots are of a time more than 5 minutes after the
        run began, so a clock is wrong: that of a broker, of the machine that took the snapshots, or of this one.
        Without `--as-of`, copies of a log are judged as of that later time."""
    REPORT_FAILED = """report_failed, critical, report not written: The report, the file of `--prometheus` or that of
        `--result-file` could not be written: what they show is of an earlier run. All tables were written. The run
        itself says so on its page; each later one has this finding until an audit has written everything."""
    NO_SNAPSHOTS = """no_snapshots, info, no snapshots: There are no snapshots, so lag and everything else that needs
        end offsets are unknown."""
    UNNAMED_TOPICS = "unnamed_topics, info, topics without a name: For some topics only the id is known."
    # Whether groups get on.
    FAILOVER_LOST_RECORDS = """failover_lost_records, critical, records lost in a failover: The coordinator of an
        offsets partition changed, and the new one does not have what the old one had written last: an unclean leader
        election, or a leader that was cut off from its followers. Copies of the old leader's log show what it was.
        Groups read messages again, and members of a lost generation must join again. A warning if no commit, generation
        or end of a transaction is among the lost records. `v_failovers` has all changes of coordinators."""
    GROUP_DOWN = """group_down, critical, group down: A group was in use, has no members, and messages wait. It stays so
        until a member is back or its offsets expire, unless a waiver accepts it. If no record shows how it lost its
        members, this is a warning."""
    GROUP_SILENT = """group_silent, critical, group silent: A group no longer commits any offset, while messages wait:
        probably nobody reads for it. A warning if its log ends early, so that it may have gone on."""
    MEMBER_SILENT = """member_silent, critical, member silent: A member of a group no longer commits any offset, while
        messages wait in its partitions. Others go on."""
    PARTITION_STOPPED = """partition_stopped, critical, partition stopped: A group no longer commits offsets of a
        partition that has unread messages, while its member goes on with others; or a member that got a partition never
        commits it."""
    PARTITION_STALLED = """partition_stalled, critical, partition stuck at one offset: A group still commits offsets of
        a partition that has unread messages, but always the same offset."""
    OFFSET_BEYOND_END = """offset_beyond_end, warning, offset beyond the end of the log: A committed offset is beyond
        the end of the log. A consumer that starts there resets its offset: it reads messages again or skips some."""
    OFFSET_REWOUND = """offset_rewound, critical, offset went back: A group committed a lower offset, and no reset
        explains it."""
    FALLING_BEHIND = "falling_behind, warning, falling behind: The lag of a group on a partition grows."
    NOBODY_READS = """nobody_reads, info, nobody reads: Messages wait for a group, but no member owns the partitions,
        and the last commit is older than usual: probably nobody reads for this group."""
    FRESHNESS_MISSED = """freshness_missed, warning, freshness objective missed: The time lag of a group was above its
        freshness objective for too long."""
    HANGING_TRANSACTION = """hanging_transaction, critical, transaction left open: A transaction that committed offsets
        stays open for longer than is accepted (`hanging_transaction_ms`). Its offsets have no effect until it ends, and
        the log cannot be compacted beyond it."""
    REBALANCE_STORM = """rebalance_storm, warning, rebalance storm: A group rebalances many times, each soon after the
        one before (`storm_rebalances`, `storm_gap_s`). A restart or an upgrade of its members, one after the other, is
        no storm: `v_rebalance_storms` lists both."""
    LONG_UNREAD = """long_unread, warning, partitions unread for long: Nobody read a partition for longer than is
        accepted (`max_unread_ms`), or may not have: in a rebalance, while a static member was away, or while a group
        had no members because the last ones timed out."""
    OFFSETS_EXPIRING = """offsets_expiring, warning, offsets expire soon: Committed offsets expire soon
        (`expiring_soon_hours`). Then the group may read messages again or skip them."""
    MESSAGES_LOST = """messages_lost, critical, messages lost: Messages were deleted before the group had read them: its
        committed offset is still below the start of the log, or was at a snapshot."""
    # Who moved what.
    OFFSETS_RESET = """offsets_reset, warning, offsets reset: Offsets of a group were set to other values or deleted,
        for example by an admin tool."""
    OFFSETS_EXPIRED = """offsets_expired, warning, offsets expired: Committed offsets expired, so the group may read
        messages again or skip them."""
    ODD_COMMITS = """odd_commits, warning, odd commits: Some commits look wrong: for example, the group had no members,
        no member owned the partition, or the offset is above the end of the log."""
    UNGATED_COMMITS = """ungated_commits, warning, commits without validation: A group reports its validations to
        Groupscope, but committed messages that no passed validation covers."""
    GATE_OVERRIDDEN = """gate_overridden, info, failed validation accepted: Somebody accepted data that had failed its
        validation: `gate --override`."""
    # Assignments.
    ASSIGNMENT_DRIFT = """assignment_drift, warning, assignment differs from Kafka's: A recorded assignment is not the
        one that Kafka's assignor computes."""
    ASSIGNMENT_DEFECT = """assignment_defect, warning, known assignment bug: An assignment shows a known bug of Kafka or
        of a client library."""
    STALE_ASSIGNMENT = """stale_assignment, warning, leader with old metadata: The leader of a classic group assigned by
        old metadata, which snapshots before and after contradict: it left out a topic or partitions, which nobody
        reads, or assigned partitions that do not exist. Critical if messages wait in the partitions that it left out.
        Restart the leader: then the group rebalances with another one."""
    PARTITIONS_UNOWNED = """partitions_unowned, warning, partitions without an owner: Partitions of a subscribed topic
        have no owner, and no old metadata explain it (`stale_assignment`). Partitions that the topic got after the
        group's assignment count if a snapshot showed them more than 5 minutes ago: until then, clients may not have
        noticed them yet (`metadata.max.age.ms`)."""
    GROUP_RULE_BROKEN = """group_rule_broken, warning, group rule broken: The newest assignment of a group breaks a rule
        that `[[groups]]` in the settings declares: `copartitioned`, `redundancy` or `is_rack_local`. Change the
        assignor, the topics or the racks, or the rule if it is wrong."""
    UPGRADE_STUCK = """upgrade_stuck, warning, migration stuck: A group's migration to another assignor or protocol
        stands still before its end: no member has changed for three rebalances and a day. One that was taken back is no
        finding: see `phase` of `assignor_upgrades`."""
    # Housekeeping.
    RECORD_HEADROOM = """record_headroom, warning, batch near the size limit: The largest batch of records of a group is
        larger than 70 % of the largest that brokers accept: `message.max.bytes` of the newest snapshot, else the
        setting `record_limit_bytes`. Deleted groups do not count."""
    OFFSETS_TOPIC_UNHEALTHY = """offsets_topic_unhealthy, warning, offsets partition too large: The segments of an
        offsets partition are very large (`offsets_partition_limit_bytes`): the cleaner may have stopped."""
    COMMITS_TOO_OFTEN = """commits_too_often, info, too many commits: A group makes many needless commits, which fill
        the offsets topic."""
    DEAD_GROUP = """dead_group, info, unused group: A group has had no members and no commits for a long time
        (`dead_group_days`)."""


class ExportedMetric(Meant, of=""):
    """What an audit writes for Prometheus. All are gauges: each file holds what the newest audit saw."""

    labels: tuple[str, ...]

    def __init__(self, said: str) -> None:
        self.labels = tuple(re.findall(r"\w+(?=[,}])", said.split(": ", maxsplit=1)[0]))

    EXIT_CODE = "groupscope_run_exit_code: Exit code of the audit: 0 is clean."
    RUN_FINISHED = "groupscope_run_finished_timestamp_seconds: When the audit ended, in seconds since 1970."
    RUN_SECONDS = "groupscope_run_seconds: How long the audit took."
    SOURCE_AGE = "groupscope_source_age_seconds: Age of the newest record or snapshot when the audit started."
    FINDINGS = """groupscope_findings{severity, kind, is_new}: Findings of the newest audit, without waived ones.
        is_new: true for those that no audit before it reported; sum by (severity) counts them all."""
    WAIVED = "groupscope_findings_waived: Waived findings of the newest audit."
    GROUP_LAG = """groupscope_group_lag_messages{group}: Messages that the group has not read, in all its partitions."""
    GROUP_TIME_LAG = """groupscope_group_lag_seconds{group}: Age of the oldest message that the group has not read."""
    GROUP_VERDICT = """groupscope_group_verdict{group, verdict}: The group's verdict by Groupscope's rules is the label;
        the value is 1."""
    BURROW_VERDICT = """groupscope_group_burrow_verdict{group, verdict}: The group's verdict by Burrow's rules is the
        label; the value is 1."""
    GROUPS_LEFT_OUT = """groupscope_groups_left_out: Groups that are not in this file, because of
        max_prometheus_groups."""


# Groups that tools make for themselves, by how their ids begin and a regular expression of what follows: the default of
# `[gate] tool_groups`, and what v_inventory marks.
TOOL_GROUPS = {
    "console-consumer-": "[0-9]+", "perf-consumer-": "[0-9]+", "kminion-": ".*", "burrow-": ".*", "_confluent-": ".*",
    "KafkaManagerOffsetCache": ".*", "KMOffsetCache-": ".*",
}  # fmt: skip
