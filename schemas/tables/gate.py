"""Metrics of every table, what suites said of them, validated spans of data, and findings: written by `gate`. Marks:
written by `mark`."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type
from schemas.tables.history_columns import TOPIC
from schemas.tables.record_columns import CLUSTER, RUN_ID

JOB = "gate"
# The run that says which report or file an audit could not write.
REPORT_JOB = "report"
SPAN_JOB = "gate --span"
MARK_JOB = "mark"


def text(name: str, comment: str, *, is_nullable: bool = True) -> Column:
    return Column(name, Type.STRING, comment, is_nullable)


GATE_METRICS = Table(
    "gate_metrics",
    "run, table, slice and metric",
    "Metrics: numbers about a table or view. Expectations check them.",
    ("cluster", "run_id", "table_name", "slice", "metric"),
    ("cluster", "run_id", "table_name", "slice", "metric"),
    (
        CLUSTER,
        RUN_ID,
        text("table_name", "The table or view that the metric is about.", is_nullable=False),
        text("slice", "Which rows of that table: all, or the rows of one slice, such as one group.", is_nullable=False),
        text("metric", "Name of the metric; docs/metrics.md explains it.", is_nullable=False),
        Column("value", Type.DOUBLE, "The value; NULL: there is no row to compute it from."),
    ),
    JOB,
)

GATE_RUNS = Table(
    "gate_runs",
    "run and suite",
    "The result of each suite in each run. A suite is a file of expectations about one table.",
    ("cluster", "run_id", "suite"),
    ("cluster", "run_id", "suite"),
    (
        CLUSTER,
        RUN_ID,
        text("suite", "Name of the suite: the name of its file without .json.", is_nullable=False),
        Column("started_time", Type.TIMESTAMP, "When the check of the suite began.", is_nullable=False),
        Column("finished_time", Type.TIMESTAMP, "When the check of the suite ended.", is_nullable=False),
        text("verdict", "Result of the suite; dim_enum explains the values.", is_nullable=False),
        Column("num_expectations", Type.INT, "Number of expectations of the suite.", is_nullable=False),
        Column("num_failed", Type.INT, "Number of these expectations that failed.", is_nullable=False),
        Column("num_errors", Type.INT, "Number of these expectations that could not be evaluated.", is_nullable=False),
        text("narrowed_by", "The flags that left out some findings of the run, such as --group; NULL: none, so the "
             "run is a whole one. v_findings, the report and later runs go by whole runs."),
    ),
    JOB,
)  # fmt: skip

GATE_RESULTS = Table(
    "gate_results",
    "run, suite, expectation and metric",
    "The result of each expectation in each run.",
    ("cluster", "run_id", "suite", "expectation", "column_name"),
    ("cluster", "run_id", "suite", "expectation", "column_name"),
    (
        CLUSTER,
        RUN_ID,
        text("suite", "The suite.", is_nullable=False),
        text("expectation", "Type of the expectation, by its name in Great Expectations.", is_nullable=False),
        text(
            "column_name",
            "The metric that the expectation checks; empty: it checks the whole table of metrics.",
            is_nullable=False,
        ),
        text("severity", "Severity if the expectation fails: critical, warning or info.", is_nullable=False),
        Column(
            "success", Type.BOOLEAN, "TRUE: the expectation is met; FALSE: it failed; NULL: it could not be evaluated."
        ),
        text("error", "Why the expectation could not be evaluated; NULL: it was evaluated."),
        text("observed", "The value that was found, as JSON."),
        text("threshold", "What the expectation requires, as JSON."),
        Column("num_unexpected", Type.BIGINT, "Number of slices that failed; NULL: not counted."),
        text("first_evidence", "The first slice that failed; NULL: none."),
        text("query", "SQL that lists the rows that the metric counts; NULL: the metric counts no rows."),
    ),
    JOB,
)

GATE_SPANS = Table(
    "gate_spans",
    "validation of a span, at the time when it was recorded",
    "Spans: ranges of messages whose data was validated before a consumer committed them.",
    ("cluster", "group_id", "topic", "partition", "from_offset", "to_offset", "recorded_time"),
    ("cluster", "group_id", "topic", "partition", "from_offset", "recorded_time"),
    (
        CLUSTER,
        text("group_id", "The group that reads and commits these messages.", is_nullable=False),
        text("topic", TOPIC.comment.partition(";")[0] + ".", is_nullable=False),
        Column("partition", Type.INT, "The partition.", is_nullable=False),
        Column("from_offset", Type.BIGINT, "Offset of the first message of the span.", is_nullable=False),
        Column("to_offset", Type.BIGINT, "Offset after the last message of the span.", is_nullable=False),
        Column(
            "num_rows_written", Type.BIGINT, "Rows that the consumer wrote from these messages; NULL: not reported."
        ),
        text("suite", "The suite that validated the data; NULL: the validation result does not name it."),
        text("verdict", "passed, failed or overridden; dim_enum explains the values.", is_nullable=False),
        text("override_reason", "Why somebody accepted a failed span; NULL: no override."),
        text("actor", "Who accepted the failed span; NULL: no override."),
        Column("until_time", Type.TIMESTAMP, "Time until which the override is valid; NULL: no override."),
        Column("recorded_time", Type.TIMESTAMP, "When the row was written.", is_nullable=False),
        text("result_hash", "SHA-256 of the validation result that was reported for the span.", is_nullable=False),
    ),
    SPAN_JOB,
)

MARKS = Table(
    "marks",
    "mark, at the time when it was recorded",
    "Marks: when somebody deployed or changed something, in their own words. A removed mark stays, with removed_time.",
    ("cluster", "recorded_time", "mark_time", "text"),
    ("cluster", "recorded_time", "mark_time"),
    (
        CLUSTER,
        Column("mark_time", Type.TIMESTAMP, "When it was deployed or changed.", is_nullable=False),
        text("text", "What was deployed or changed.", is_nullable=False),
        text(
            "group_pattern",
            "Regular expression: the mark is about groups whose id contains a match; NULL: about all groups.",
        ),
        Column("recorded_time", Type.TIMESTAMP, "When the row was written.", is_nullable=False),
        Column("removed_time", Type.TIMESTAMP, "When somebody removed the mark; NULL: it is not removed."),
    ),
    MARK_JOB,
)

OWNERS = ListOf(
    StructOf(
        (
            text("member_id", "The member."),
            text("client_id", "Client id of the member's connection."),
            text("client_host", "The member's address as Java prints it."),
            Column("num_partitions", Type.BIGINT, "Number of these partitions that it owns."),
        )
    )
)
TOPIC_PARTITIONS = ListOf(
    StructOf(
        (
            text("topic", "The topic; NULL: only its id is known."),
            text("topic_id", "The topic's id; NULL: not known."),
            Column("partitions", ListOf(Type.INT), "The partitions; empty: the topic as a whole."),
        )
    )
)

FINDINGS = Table(
    "findings",
    "run and finding",
    "Problems that each gate run found, worst first.",
    ("cluster", "run_id", "rank"),
    ("cluster", "run_id", "rank"),
    (
        CLUSTER,
        RUN_ID,
        Column("rank", Type.BIGINT, "1: the worst finding of the run.", is_nullable=False),
        text("kind", "Kind of the finding, such as partition_stopped; docs/findings.md explains all kinds.",
             is_nullable=False),
        text("severity", "critical, warning or info.", is_nullable=False),
        text("subject", "What the finding is about: the group; without one the offsets partition, or the suite and its "
             "metric, or else the cluster. The same kind, subject and at_time in two runs are the same finding."),
        text("group_id", "The group; NULL: the finding is not about a group."),
        text("topic", "The topic; NULL: the finding is not about one topic, or only the topic's id is known."),
        Column("partition", Type.INT, "The partition; NULL: the finding is not about one partition."),
        text("message", "What was found, in words.", is_nullable=False),
        Column("at_time", Type.TIMESTAMP, "When the event began. It stays the same while the event goes on. NULL: a "
               "condition, which still lasts."),
        Column("since_time", Type.TIMESTAMP, "Since when the condition lasts; NULL: an event, or not known."),
        Column("messages_waiting", Type.BIGINT, "Messages to read in these partitions, as far as their lag is known; "
               "NULL: not known, or the finding is not about that."),
        Column("owners", OWNERS, "Members that own these partitions, those of most partitions first; empty: none, or "
               "the finding is not about that."),
        Column("topic_partitions", TOPIC_PARTITIONS, "The topics and partitions that the finding is about; empty: "
               "it is not about some of them."),
        Column("num_rows", Type.BIGINT, "Number of table rows that show the problem.", is_nullable=False),
        Column("evidence_partition", Type.INT, "Partition of __consumer_offsets with the records that show the "
               "problem; NULL: no record shows it."),
        Column("evidence_first_offset", Type.BIGINT, "Offset of the first of these records; NULL: none."),
        Column("evidence_last_offset", Type.BIGINT, "Offset of the last of these records; NULL: none."),
        text("confidence", "How sure: certain, likely or possible.", is_nullable=False),
        Column("first_seen_time", Type.TIMESTAMP, "As-of time of the first whole run that reported this finding; for "
               "a condition, of the first since which all of them did.", is_nullable=False),
        Column("is_new", Type.BOOLEAN, "TRUE: no whole run of an earlier as-of time reported this finding, or the last "
               "one that did called it less severe. Waived findings count as reported. NULL: an older release wrote "
               "the row."),
        Column("waived_until_time", Type.TIMESTAMP, "Time until which a waiver accepts the finding; NULL: no waiver, "
               "so the finding counts."),
        text("waiver", "Reason of the waiver, and who accepts the finding; NULL: no waiver."),
        text("query", "SQL that lists all table rows that show the problem.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

GATE_LIMITS = Table(
    "gate_limits",
    "setting",
    "The settings of [gate] that are numbers, as the newest gate run used them. Views compare with them what findings "
    "compare with the settings, so that both have the same rows.",
    ("cluster", "setting"),
    ("cluster", "setting"),
    (
        CLUSTER,
        Column("run_id", RUN_ID.type, "The run that was the first with all of these values.", is_nullable=False),
        text("setting", "Name of the setting, such as storm_rebalances; docs/settings.md explains it.",
             is_nullable=False),
        Column("value", Type.BIGINT, "Its value, in the setting's unit.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

TABLES: tuple[Table, ...] = (GATE_METRICS, GATE_RUNS, GATE_RESULTS, GATE_SPANS, MARKS, FINDINGS, GATE_LIMITS)
