"""The view v_gate_spans: validated spans beside the spans before them, and rows expected beside rows written.

An overlap is with the span that was recorded before. A gap is offsets that no span has, whatever the order of
recording: no gap comes from a span that is validated again, and a span that is recorded late ends a gap."""

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import RANK, column_list
from schemas.words.gate import SpanCause, SpanVerdict

OWN = ("suite", "verdict", "override_reason", "actor", "until_time", "recorded_time", "result_hash")
COLUMNS = (
    TABLES["gate_spans"].column("cluster"),
    RANK,
    *map(TABLES["gate_spans"].column, ("group_id", "topic", "partition")),
    Column(
        "span_number",
        Type.BIGINT,
        "Number of the span among those of the group and partition, in the order of recording.",
    ),
    *map(TABLES["gate_spans"].column, ("from_offset", "to_offset")),
    Column("previous_end_offset", Type.BIGINT, "to_offset of the previous span; NULL: no previous span."),
    Column(
        "num_gap",
        Type.BIGINT,
        "Number of offsets before from_offset that no span covers, back to the nearest span below, whenever that was "
        "recorded; NULL: there is none below.",
    ),
    Column(
        "num_overlap",
        Type.BIGINT,
        "Number of offsets of this span that are below previous_end_offset; NULL: no previous span.",
    ),
    Column(
        "cause",
        Type.STRING,
        "Why there is a gap or an overlap; dim_enum explains the values. NULL: no gap or overlap, or the history does "
        "not show why.",
    ),
    Column(
        "num_rows_expected",
        Type.BIGINT,
        "Offsets in the span, including those of transaction markers and compacted messages.",
    ),
    TABLES["gate_spans"].column("num_rows_written"),
    Column(
        "deviation",
        Type.DOUBLE,
        "(num_rows_written - num_rows_expected) / num_rows_expected: -0.1 means that a tenth of the expected rows is "
        "missing. NULL: num_rows_written is NULL.",
    ),
    Column("num_attempts", Type.BIGINT, "How often the span was recorded; the row shows the newest record of it."),
    *map(TABLES["gate_spans"].column, OWN),
)
READS = ("gate_spans", "offset_history", "offset_resets", "lag_points")

KEY = "cluster, group_id, topic, partition"
BY_TIME = "recorded_time, from_offset, to_offset, verdict, result_hash, num_rows_written NULLS FIRST"


def on_key(left: str, right: str) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in KEY.split(", "))


def key_columns(table: str) -> str:
    return ", ".join(f"{table}.{name}" for name in (*KEY.split(", "), "span_number"))


APART = "coalesce(num_gap + num_overlap, num_gap, num_overlap)"
# Between the two spans.
SINCE = "BETWEEN spans.previous_time AND spans.recorded_time"
# An attempt that failed is none of the spans when the same span was recorded again, nor is one repeated at once.
SPANS = f"""\
tried AS (
  SELECT gate_spans.*, count(*) OVER (PARTITION BY {KEY}, from_offset, to_offset) AS num_attempts,
    lead(verdict) OVER (PARTITION BY {KEY}, from_offset, to_offset ORDER BY {BY_TIME}) AS later_verdict
  FROM gate_spans
),
followed AS (
  SELECT tried.*, lead(from_offset) OVER (PARTITION BY {KEY} ORDER BY {BY_TIME}) AS next_from_offset,
    lead(to_offset) OVER (PARTITION BY {KEY} ORDER BY {BY_TIME}) AS next_to_offset
  FROM tried
  WHERE verdict <> '{SpanVerdict.FAILED}' OR later_verdict IS NULL
),
ordered AS (
  SELECT followed.*, row_number() OVER (PARTITION BY {KEY} ORDER BY {BY_TIME}) AS span_number,
    lag(to_offset) OVER (PARTITION BY {KEY} ORDER BY {BY_TIME}) AS previous_end_offset,
    lag(recorded_time) OVER (PARTITION BY {KEY} ORDER BY {BY_TIME}) AS previous_time
  FROM followed
  WHERE next_from_offset IS NULL OR next_from_offset <> from_offset OR next_to_offset <> to_offset
),
placed AS (
  SELECT ordered.*, max(to_offset) OVER (PARTITION BY {KEY} ORDER BY from_offset, span_number
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_end_offset
  FROM ordered
),
spans AS (
  SELECT placed.*, to_offset - from_offset AS num_rows_expected,
    CASE WHEN from_offset > covered_end_offset THEN from_offset - covered_end_offset
      WHEN covered_end_offset IS NOT NULL THEN 0 END AS num_gap,
    CASE WHEN from_offset >= previous_end_offset THEN 0 WHEN to_offset < previous_end_offset
      THEN to_offset - from_offset ELSE previous_end_offset - from_offset END AS num_overlap
  FROM placed
)"""
SQL = f"""\
WITH {SPANS},
stepped AS (
  SELECT {key_columns("spans")},
    max(CASE WHEN step.delta < 0 THEN 1 ELSE 0 END) AS went_back,
    max(CASE WHEN step.delta > 0 AND step.previous_offset >= spans.covered_end_offset
      AND step.committed_offset <= spans.from_offset THEN 1 ELSE 0 END) AS was_committed,
    max(CASE WHEN step.committed_offset = spans.from_offset
      AND step.previous_offset < spans.covered_end_offset THEN 1 ELSE 0 END) AS was_stepped_over
  FROM spans JOIN offset_history AS step ON {on_key("step", "spans")}
    AND coalesce(step.commit_time, step.from_time) {SINCE}
  GROUP BY {key_columns("spans")}
),
moved AS (
  SELECT DISTINCT {key_columns("spans")}
  FROM spans
  JOIN offset_history AS step ON {on_key("step", "spans")}
  JOIN offset_resets AS event ON event.cluster = spans.cluster AND event.group_id = spans.group_id
    AND event.topic = spans.topic AND event.evidence_partition = step.evidence_partition AND event.at_time {SINCE}
    AND (step.from_offset BETWEEN event.evidence_first_offset AND event.evidence_last_offset
      OR step.to_offset BETWEEN event.evidence_first_offset AND event.evidence_last_offset)
),
lost AS (
  SELECT DISTINCT {key_columns("spans")}
  FROM spans JOIN lag_points AS point ON {on_key("point", "spans")}
    AND point.snapshot_time <= spans.recorded_time AND point.log_start_offset > spans.covered_end_offset
),
explained AS (
  SELECT spans.*,
    CASE WHEN {APART} = 0 THEN NULL
      WHEN moved.span_number IS NOT NULL THEN '{SpanCause.RESET}'
      WHEN num_overlap > 0 AND went_back = 1 THEN '{SpanCause.REWIND}'
      WHEN num_gap > 0 AND lost.span_number IS NOT NULL THEN '{SpanCause.RETENTION_LOSS}'
      WHEN num_gap > 0 AND was_committed = 1 THEN '{SpanCause.UNGATED_COMMIT}'
      WHEN num_gap > 0 AND was_stepped_over = 1 THEN '{SpanCause.TRANSACTION_HOLE}' END AS cause,
    CASE WHEN num_rows_expected <> 0 THEN CAST(num_rows_written - num_rows_expected AS DOUBLE)
      / CAST(num_rows_expected AS DOUBLE) END AS deviation
  FROM spans
  LEFT JOIN stepped ON {on_key("stepped", "spans")} AND stepped.span_number = spans.span_number
  LEFT JOIN moved ON {on_key("moved", "spans")} AND moved.span_number = spans.span_number
  LEFT JOIN lost ON {on_key("lost", "spans")} AND lost.span_number = spans.span_number
),
ranked AS (
  SELECT explained.*, CAST(row_number() OVER (PARTITION BY cluster
    ORDER BY CASE WHEN verdict = '{SpanVerdict.FAILED}' THEN 0 ELSE 1 END, {APART} DESC NULLS LAST,
    abs(deviation) DESC NULLS LAST, group_id, topic, partition, span_number) AS BIGINT) AS rank
  FROM explained
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
