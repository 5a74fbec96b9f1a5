"""Metrics of every table, what suites said of them, validated spans of data, and findings: written by `gate`."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.history_columns import TOPIC
from schemas.tables.record_columns import CLUSTER, RUN_ID

JOB = "gate"
SPAN_JOB = "gate --span"


def text(name: str, comment: str, *, is_nullable: bool = True) -> Column:
    return Column(name, Type.STRING, comment, is_nullable)


GATE_METRICS = Table(
    "gate_metrics",
    "run, table, slice and metric",
    "Metrics: numbers about a table or view, to which expectations apply.",
    ("cluster", "run_id", "table_name", "slice", "metric"),
    ("cluster", "run_id", "table_name", "slice", "metric"),
    (
        CLUSTER,
        RUN_ID,
        text("table_name", "The table or view that the metric is about.", is_nullable=False),
        text("slice", "Which rows of it: all, or those with one value, such as one group.", is_nullable=False),
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
        Column("started_time", Type.TIMESTAMP, "When it began.", is_nullable=False),
        Column("finished_time", Type.TIMESTAMP, "When it ended.", is_nullable=False),
        text("verdict", "Result of the suite; dim_enum explains the values.", is_nullable=False),
        Column("num_expectations", Type.INT, "How many expectations it has.", is_nullable=False),
        Column("num_failed", Type.INT, "How many of them failed.", is_nullable=False),
        Column("num_errors", Type.INT, "How many of them could not be evaluated.", is_nullable=False),
    ),
    JOB,
)

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
            "The metric that it is about; empty: the expectation is about the whole table of metrics.",
            is_nullable=False,
        ),
        text("severity", "How bad it is if it fails.", is_nullable=False),
        Column("success", Type.BOOLEAN, "TRUE: met; FALSE: failed; NULL: could not be evaluated."),
        text("error", "Why it could not be evaluated; NULL: it was."),
        text("observed", "What was found, as JSON."),
        text("threshold", "What the expectation requires, as JSON."),
        Column("num_unexpected", Type.BIGINT, "How many slices failed; NULL: not counted."),
        text("first_evidence", "The first slice that failed; NULL: none."),
        text("query", "SQL that lists the rows behind the metric; NULL: the metric has no rows of its own."),
    ),
    JOB,
)

GATE_SPANS = Table(
    "gate_spans",
    "validated span and time of the record of it",
    "Spans: ranges of messages whose data was validated before a consumer committed them.",
    ("cluster", "group_id", "topic", "partition", "from_offset", "to_offset", "recorded_time"),
    ("cluster", "group_id", "topic", "partition", "from_offset", "recorded_time"),
    (
        CLUSTER,
        text("group_id", "The group that reads and commits these messages.", is_nullable=False),
        text("topic", TOPIC.comment.partition(";")[0] + ".", is_nullable=False),
        Column("partition", Type.INT, "The partition.", is_nullable=False),
        Column("from_offset", Type.BIGINT, "Offset of the first message of the span.", is_nullable=False),
        Column("to_offset", Type.BIGINT, "Offset after its last message.", is_nullable=False),
        Column(
            "num_rows_written", Type.BIGINT, "Rows that the consumer wrote from these messages; NULL: not reported."
        ),
        text("suite", "The suite that validated the data; NULL: the validation result does not name it."),
        text("verdict", "passed, failed or overridden; dim_enum explains the values.", is_nullable=False),
        text("override_reason", "Why a failed span was overridden; NULL: it was not."),
        text("actor", "Who overrode it; NULL: it was not."),
        Column("until_time", Type.TIMESTAMP, "Until when the override applies; NULL: no override."),
        Column("recorded_time", Type.TIMESTAMP, "When the row was written.", is_nullable=False),
        text("result_hash", "SHA-256 of the validation result that was reported for the span.", is_nullable=False),
    ),
    SPAN_JOB,
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
        Column("rank", Type.BIGINT, "1 is the worst of the run.", is_nullable=False),
        text("kind", "Kind of the finding, such as partition_stopped; docs/findings.md explains them.",
             is_nullable=False),
        text("severity", "critical, warning or info.", is_nullable=False),
        text("group_id", "The group; NULL: it is about none."),
        text("topic", "The topic; NULL: it is about none, or only its id is known."),
        Column("partition", Type.INT, "The partition; NULL: it is about none, or several."),
        text("message", "What was found, in words.", is_nullable=False),
        Column("at_time", Type.TIMESTAMP, "When it happened; NULL: it has not ended."),
        Column("num_rows", Type.BIGINT, "How many rows show it.", is_nullable=False),
        Column("evidence_partition", Type.INT, "Partition of __consumer_offsets with the records that show it; "
               "NULL: no record does."),
        Column("evidence_first_offset", Type.BIGINT, "Offset of the first record that shows it; NULL: none."),
        Column("evidence_last_offset", Type.BIGINT, "Offset of the last record that shows it; NULL: none."),
        text("confidence", "How sure: certain, likely or possible.", is_nullable=False),
        Column("first_seen_time", Type.TIMESTAMP, "Since when it is there: as-of time of the first of the runs in a "
               "row that all found it.", is_nullable=False),
        Column("waived_until_time", Type.TIMESTAMP, "Until when a waiver keeps it from counting; NULL: it counts."),
        text("waiver", "Why and by whom it is waived; NULL: it is not."),
        text("query", "SQL that lists all rows that show it.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

TABLES: tuple[Table, ...] = (GATE_METRICS, GATE_RUNS, GATE_RESULTS, GATE_SPANS, FINDINGS)
