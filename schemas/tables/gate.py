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
    "run by table by slice by metric",
    "The numbers that suites judge: each is one aggregate over a table.",
    ("cluster", "run_id", "table_name", "slice", "metric"),
    ("cluster", "run_id", "table_name", "slice", "metric"),
    (
        CLUSTER,
        RUN_ID,
        text("table_name", "The table or view that was measured.", is_nullable=False),
        text("slice", "What part of it: all, or a value such as a group.", is_nullable=False),
        text("metric", "Its name; docs/metrics.md says what it is.", is_nullable=False),
        Column("value", Type.DOUBLE, "The number; NULL: the table has no row that it is about."),
    ),
    JOB,
)

GATE_RUNS = Table(
    "gate_runs",
    "run by suite",
    "How each suite of expectations ended.",
    ("cluster", "run_id", "suite"),
    ("cluster", "run_id", "suite"),
    (
        CLUSTER,
        RUN_ID,
        text("suite", "The suite: a file of conf/expectations, without its ending.", is_nullable=False),
        Column("started_time", Type.TIMESTAMP, "When it began.", is_nullable=False),
        Column("finished_time", Type.TIMESTAMP, "When it ended.", is_nullable=False),
        text("verdict", "How it ended.", is_nullable=False),
        Column("num_expectations", Type.INT, "How many it has.", is_nullable=False),
        Column("num_failed", Type.INT, "How many of them do not hold.", is_nullable=False),
        Column("num_errors", Type.INT, "How many could not be evaluated.", is_nullable=False),
    ),
    JOB,
)

GATE_RESULTS = Table(
    "gate_results",
    "run by suite by expectation",
    "What came of each expectation.",
    ("cluster", "run_id", "suite", "expectation", "column_name"),
    ("cluster", "run_id", "suite", "expectation", "column_name"),
    (
        CLUSTER,
        RUN_ID,
        text("suite", "The suite.", is_nullable=False),
        text("expectation", "Its type, in the words of Great Expectations.", is_nullable=False),
        text("column_name", "The metric that it is about; empty: the frame as a whole.", is_nullable=False),
        text("severity", "How bad it is when it does not hold.", is_nullable=False),
        Column("success", Type.BOOLEAN, "Whether it holds; NULL: it was not evaluated."),
        text("error", "Why it was not evaluated; NULL: it was."),
        text("observed", "What was found, as JSON."),
        text("threshold", "What was asked for, as JSON."),
        Column("num_unexpected", Type.BIGINT, "Slices that break it; NULL: not counted."),
        text("first_evidence", "The first of these slices; NULL: none."),
        text("query", "The SQL that lists the rows that it counts; NULL: the metric has no rows of its own."),
    ),
    JOB,
)

GATE_SPANS = Table(
    "gate_spans",
    "validated span of data",
    "Spans of messages whose data was validated before a consumer committed them.",
    ("cluster", "group_id", "topic", "partition", "from_offset", "to_offset", "recorded_time"),
    ("cluster", "group_id", "topic", "partition", "from_offset", "recorded_time"),
    (
        CLUSTER,
        text("group_id", "The group that is to commit.", is_nullable=False),
        text("topic", TOPIC.comment.partition(";")[0] + ".", is_nullable=False),
        Column("partition", Type.INT, "The partition.", is_nullable=False),
        Column("from_offset", Type.BIGINT, "Its first message.", is_nullable=False),
        Column("to_offset", Type.BIGINT, "The one after its last.", is_nullable=False),
        Column("num_rows_written", Type.BIGINT, "Rows that the consumer wrote of it; NULL: not said."),
        text("suite", "The suite that validated the data; NULL: the result does not say."),
        text("verdict", "What came of it.", is_nullable=False),
        text("override_reason", "Why it was let through; NULL: it was not."),
        text("actor", "Who let it through; NULL: nobody."),
        Column("until_time", Type.TIMESTAMP, "Until when that holds; NULL: no override."),
        Column("recorded_time", Type.TIMESTAMP, "When this was recorded.", is_nullable=False),
        text("result_hash", "SHA-256 of the result that it rests on.", is_nullable=False),
    ),
    SPAN_JOB,
)

FINDINGS = Table(
    "findings",
    "run by finding",
    "What each run found, worst first.",
    ("cluster", "run_id", "rank"),
    ("cluster", "run_id", "rank"),
    (
        CLUSTER,
        RUN_ID,
        Column("rank", Type.BIGINT, "1 is the worst of the run.", is_nullable=False),
        text("kind", "What it is.", is_nullable=False),
        text("severity", "How bad.", is_nullable=False),
        text("group_id", "The group; NULL: it is about none."),
        text("topic", "The topic; NULL: it is about none, or only its id is known."),
        Column("partition", Type.INT, "The partition; NULL: it is about none, or several."),
        text("message", "What was found, in words.", is_nullable=False),
        Column("at_time", Type.TIMESTAMP, "When it happened; NULL: it continues."),
        Column("num_rows", Type.BIGINT, "Rows that show it.", is_nullable=False),
        Column("evidence_partition", Type.INT, "Partition of __consumer_offsets; NULL: it rests on no record."),
        Column("evidence_first_offset", Type.BIGINT, "First record that shows it; NULL: none."),
        Column("evidence_last_offset", Type.BIGINT, "Last record that shows it; NULL: none."),
        text("confidence", "How sure: certain, likely or possible.", is_nullable=False),
        Column("first_seen_time", Type.TIMESTAMP, "As-of of the first of the runs without a break that found it.",
               is_nullable=False),
        Column("waived_until_time", Type.TIMESTAMP, "Until when it does not count; NULL: it counts."),
        text("waiver", "Why and by whom it is waived; NULL: it is not."),
        text("query", "The SQL that lists all rows that show it.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

TABLES: tuple[Table, ...] = (GATE_METRICS, GATE_RUNS, GATE_RESULTS, GATE_SPANS, FINDINGS)
