-- How often each expectation of the gate fails, by day, newest first. Does the quality change, and which expectations
-- are too strict or too loose?
-- reads: gate_results gate_runs
--   +gate_results: cluster
--   day_time timestamp  The UTC day on which the suites began.
--   +gate_results: suite expectation column_name
--   num_runs bigint  How often the expectation was evaluated on that day.
--   num_failures bigint  How often the expectation failed on that day.
--   num_errors bigint  How often the expectation could not be evaluated on that day; not part of num_runs.
--   share_failing double  num_failures / num_runs, 0 to 1; NULL: no run.
--   share_failing_7_days double  The same for this day and the 6 days before it.
--   share_failing_28_days double  The same for this day and the 27 days before it.
--   z_score double  How unusual num_failures is, in standard deviations: its distance from the number that the share
--       of failures in the 28 days before this day predicts. NULL: no run on this day or on those 28 days, or all
--       runs of those days had the same result.
--   is_always_failing boolean  TRUE: every run of this day and the 27 days before it failed, so the expectation may
--       be too strict.
--   is_never_failing boolean  TRUE: the expectation is known for 90 days, and no run of the last 90 days failed, so
--       it may be too loose.
WITH dated AS (
  SELECT outcome.cluster, outcome.suite, outcome.expectation, outcome.column_name, outcome.success,
    date_trunc('day', run.started_time) AS day_time
  FROM gate_results AS outcome
  JOIN gate_runs AS run ON run.cluster = outcome.cluster AND run.run_id = outcome.run_id AND run.suite = outcome.suite
),
counted AS (
  SELECT cluster, suite, expectation, column_name, day_time, count(success) AS num_runs,
    {total CASE WHEN NOT success THEN 1 ELSE 0 END} AS num_failures, count(*) - count(success) AS num_errors
  FROM dated
  GROUP BY cluster, suite, expectation, column_name, day_time
),
days AS (
  SELECT counted.*, min(day_time) OVER (PARTITION BY cluster, suite, expectation,
    column_name) AS first_day_time FROM counted
),
windows AS (
  SELECT today.cluster, today.suite, today.expectation, today.column_name, today.day_time, today.first_day_time,
    today.num_runs, today.num_failures, today.num_errors,
    {total_where earlier.day_time > today.day_time - INTERVAL '7' DAY, num_runs} AS runs_7,
    {total_where earlier.day_time > today.day_time - INTERVAL '7' DAY, num_failures} AS failures_7,
    {total_where earlier.day_time > today.day_time - INTERVAL '28' DAY, num_runs} AS runs_28,
    {total_where earlier.day_time > today.day_time - INTERVAL '28' DAY, num_failures} AS failures_28,
    {total_where earlier.day_time < today.day_time AND earlier.day_time >= today.day_time - INTERVAL '28' DAY,
      num_runs} AS runs_before,
    {total_where earlier.day_time < today.day_time AND earlier.day_time >= today.day_time - INTERVAL '28' DAY,
      num_failures} AS failures_before,
    {total_where TRUE, num_runs} AS runs_90,
    {total_where TRUE, num_failures} AS failures_90
  FROM days AS today
  JOIN days AS earlier ON {same_expectation earlier, today} AND earlier.day_time <= today.day_time
    AND earlier.day_time > today.day_time - INTERVAL '90' DAY
  GROUP BY today.cluster, today.suite, today.expectation, today.column_name, today.day_time, today.first_day_time,
    today.num_runs, today.num_failures, today.num_errors
),
shares AS (
  SELECT windows.*, {ratio num_failures, num_runs} AS share_failing,
    {ratio failures_7, runs_7} AS share_failing_7_days, {ratio failures_28, runs_28} AS share_failing_28_days,
    CASE WHEN num_runs * failures_before * (runs_before - failures_before) > 0
      THEN CAST(num_failures * runs_before - num_runs * failures_before AS DOUBLE)
        / sqrt(CAST(num_runs * failures_before * (runs_before - failures_before) AS DOUBLE)) END AS z_score,
    runs_28 > 0 AND failures_28 = runs_28 AS is_always_failing,
    first_day_time <= day_time - INTERVAL '89' DAY AND runs_90 > 0 AND failures_90 = 0 AS is_never_failing
  FROM windows
)
SELECT {columns}
FROM shares
ORDER BY cluster, day_time DESC, share_failing DESC NULLS LAST, num_failures DESC, num_errors DESC, suite, expectation,
  column_name
