"""The view expectation_daily: how often each expectation of the gate fails, day by day, and whether that is unusual."""

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import column_list, total

COLUMNS = (
    TABLES["gate_results"].column("cluster"),
    Column("day_time", Type.TIMESTAMP, "The UTC day on which the suites began."),
    *map(TABLES["gate_results"].column, ("suite", "expectation", "column_name")),
    Column("num_runs", Type.BIGINT, "How often the expectation was evaluated on that day."),
    Column("num_failures", Type.BIGINT, "How often the expectation failed on that day."),
    Column("num_errors", Type.BIGINT, "How often the expectation could not be evaluated on that day; not part of "
           "num_runs."),
    Column("share_failing", Type.DOUBLE, "num_failures / num_runs, 0 to 1; NULL: no run."),
    Column("share_failing_7_days", Type.DOUBLE, "The same for this day and the 6 days before it."),
    Column("share_failing_28_days", Type.DOUBLE, "The same for this day and the 27 days before it."),
    Column("z_score", Type.DOUBLE, "How unusual num_failures is, in standard deviations: its distance from the number "
           "that the share of failures in the 28 days before this day predicts. NULL: no run "
           "on this day or on those 28 days, or all runs of those days had the same result."),
    Column("is_always_failing", Type.BOOLEAN, "TRUE: every run of this day and the 27 days before it failed, so the "
           "expectation may be too strict."),
    Column("is_never_failing", Type.BOOLEAN, "TRUE: the expectation is known for 90 days, and no run of the last 90 "
           "days failed, so it may be too loose."),
)  # fmt: skip
READS = ("gate_results", "gate_runs")
KEY = ("cluster", "suite", "expectation", "column_name")
BEFORE_TODAY = "earlier.day_time < today.day_time AND earlier.day_time >= today.day_time - INTERVAL '28' DAY"


def ratio(failures: str, runs: str) -> str:
    return f"CASE WHEN {runs} > 0 THEN CAST({failures} AS DOUBLE) / CAST({runs} AS DOUBLE) END"


def sum_where(column: str, condition: str) -> str:
    return total(f"CASE WHEN {condition} THEN earlier.{column} ELSE 0 END")


def counts_of(days: str, condition: str) -> str:
    runs, failures = sum_where("num_runs", condition), sum_where("num_failures", condition)
    return f"{runs} AS runs_{days}, {failures} AS failures_{days}"


ON_KEY = " AND ".join(f"earlier.{name} = today.{name}" for name in KEY)
TODAY = ", ".join(
    f"today.{name}" for name in (*KEY, "day_time", "first_day_time", "num_runs", "num_failures", "num_errors")
)
SQL = f"""\
WITH dated AS (
  SELECT outcome.cluster, outcome.suite, outcome.expectation, outcome.column_name, outcome.success,
    date_trunc('day', run.started_time) AS day_time
  FROM gate_results AS outcome
  JOIN gate_runs AS run ON run.cluster = outcome.cluster AND run.run_id = outcome.run_id AND run.suite = outcome.suite
),
counted AS (
  SELECT {", ".join(KEY)}, day_time, count(success) AS num_runs,
    {total("CASE WHEN NOT success THEN 1 ELSE 0 END")} AS num_failures, count(*) - count(success) AS num_errors
  FROM dated
  GROUP BY {", ".join(KEY)}, day_time
),
days AS (
  SELECT counted.*, min(day_time) OVER (PARTITION BY {", ".join(KEY)}) AS first_day_time FROM counted
),
windows AS (
  SELECT {TODAY},
    {counts_of("7", "earlier.day_time > today.day_time - INTERVAL '7' DAY")},
    {counts_of("28", "earlier.day_time > today.day_time - INTERVAL '28' DAY")},
    {counts_of("before", BEFORE_TODAY)},
    {counts_of("90", "TRUE")}
  FROM days AS today
  JOIN days AS earlier ON {ON_KEY} AND earlier.day_time <= today.day_time
    AND earlier.day_time > today.day_time - INTERVAL '90' DAY
  GROUP BY {TODAY}
),
shares AS (
  SELECT windows.*, {ratio("num_failures", "num_runs")} AS share_failing,
    {ratio("failures_7", "runs_7")} AS share_failing_7_days, {ratio("failures_28", "runs_28")} AS share_failing_28_days,
    CASE WHEN num_runs * failures_before * (runs_before - failures_before) > 0
      THEN CAST(num_failures * runs_before - num_runs * failures_before AS DOUBLE)
        / sqrt(CAST(num_runs * failures_before * (runs_before - failures_before) AS DOUBLE)) END AS z_score,
    runs_28 > 0 AND failures_28 = runs_28 AS is_always_failing,
    first_day_time <= day_time - INTERVAL '89' DAY AND runs_90 > 0 AND failures_90 = 0 AS is_never_failing
  FROM windows
)
SELECT {column_list(COLUMNS)}
FROM shares
ORDER BY cluster, day_time DESC, share_failing DESC NULLS LAST, num_failures DESC, num_errors DESC, suite, expectation,
  column_name
"""
