"""The view v_findings: what the newest whole run of the gate found."""

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import SHOWN_RUN, column_list, seconds_between

FIRST = ("cluster", "rank", "severity", "is_new")
COLUMNS = (
    *map(TABLES["findings"].column, FIRST),
    Column("age_ms", Type.BIGINT, "Time from the begin of the event or condition to the as-of time of the run, to the "
           "second. It counts from at_time; without one from since_time, or else from first_seen_time."),
    *(column for column in TABLES["findings"].columns if column.name not in FIRST),
    TABLES["runs"].column("as_of_time"),
    TABLES["gate_runs"].column("narrowed_by"),
)  # fmt: skip
READS = ("findings", "gate_runs", "runs")
BEGIN = "coalesce(found.at_time, found.since_time, found.first_seen_time)"
SQL = f"""\
WITH shown AS (
  SELECT cluster, {SHOWN_RUN} AS run_id FROM gate_runs GROUP BY cluster
),
dated AS (
  SELECT shown.cluster, shown.run_id, max(run.as_of_time) AS as_of_time, max(judged.narrowed_by) AS narrowed_by
  FROM shown
  JOIN gate_runs AS judged ON judged.cluster = shown.cluster AND judged.run_id = shown.run_id
  LEFT JOIN runs AS run ON run.cluster = shown.cluster AND run.run_id = shown.run_id AND run.job = 'gate'
  GROUP BY shown.cluster, shown.run_id
),
aged AS (
  SELECT found.*, as_of_time, narrowed_by, 1000 * {seconds_between(BEGIN, "as_of_time")} AS age_ms
  FROM dated
  JOIN findings AS found ON found.cluster = dated.cluster AND found.run_id = dated.run_id
)
SELECT {column_list(COLUMNS)}
FROM aged
ORDER BY cluster, rank
"""
