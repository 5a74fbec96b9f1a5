-- Time lag of each group and topic by day, compared with the objective (freshness_objective_s in [[groups]] of the
-- settings). Missed objectives are first, then the largest 95th percentiles. Is the data fresh enough?
-- reads: lag_days lag_minutes group_verdicts gate_limits
--   +lag_days: cluster
--   +rank
--   +lag_days: day_time group_id group_type topic topic_id num_points num_minutes
--   num_minutes_known bigint!  Of num_minutes, those in which the time lag of one or more partitions is known. If
--       there is an objective: points that a later run may change count only while they meet the objective.
--   +lag_days: time_lag_ms_p50 time_lag_ms_p95 time_lag_ms_p99 time_lag_ms_max
--   objective_ms bigint  Time lag that the group must not exceed: freshness_objective_s in [[groups]] of the settings
--       of the newest run. NULL: no objective.
--   num_minutes_over bigint  Of num_minutes_known, those in which the time lag of a partition was above objective_ms.
--       Points that a later run may change do not count. NULL: no objective.
--   budget_left double  Share of the error budget that is left. The budget: freshness_missed_percent in [gate] of the
--       settings, of num_minutes_known, may be over. Below 0: the objective was missed. NULL: no objective, no time
--       lag is known, or no run of `groupscope gate` has noted that setting yet.
--   is_met boolean  FALSE: the objective was missed that day; NULL: where budget_left is NULL.
--   first_over_time timestamp  The first minute with a time lag above objective_ms; NULL: none.
--   last_over_time timestamp  The last minute with a time lag above objective_ms; NULL: none.
--   +lag_days: time_lag_method confidence
WITH limits AS (
  SELECT cluster, {limit freshness_missed_percent}
  FROM gate_limits
  GROUP BY cluster
),
newest AS (
  SELECT cluster, group_id, freshness_objective_ms AS objective_ms,
    row_number() OVER (PARTITION BY cluster, group_id ORDER BY as_of_time DESC) AS place
  FROM group_verdicts
  WHERE partition IS NULL
),
asked AS (
  SELECT cluster, group_id, objective_ms
  FROM newest
  WHERE place = 1 AND objective_ms IS NOT NULL
),
held AS (
  SELECT lag_minutes.cluster, day_time, lag_minutes.group_id, topic, topic_id, evidence_partition,
    {how_many time_lag_ms_max IS NOT NULL OR open_time_lag_ms_min <= objective_ms} AS num_known,
    {how_many time_lag_ms_max > objective_ms} AS num_over,
    min(CASE WHEN time_lag_ms_max > objective_ms THEN minute_time END) AS first_over_time,
    max(CASE WHEN time_lag_ms_max > objective_ms THEN minute_time END) AS last_over_time
  FROM lag_minutes
  JOIN asked ON asked.cluster = lag_minutes.cluster AND asked.group_id = lag_minutes.group_id
  GROUP BY lag_minutes.cluster, day_time, lag_minutes.group_id, topic, topic_id, evidence_partition
),
days AS (
  SELECT lag_days.cluster, lag_days.day_time, lag_days.group_id, lag_days.group_type, lag_days.topic,
    lag_days.topic_id, lag_days.num_points, lag_days.num_minutes,
    CASE WHEN objective_ms IS NULL THEN num_minutes_known ELSE num_known END AS num_minutes_known,
    time_lag_ms_p50, time_lag_ms_p95, time_lag_ms_p99, time_lag_ms_max, objective_ms, num_over, first_over_time,
      last_over_time, time_lag_method,
    confidence, freshness_missed_percent
  FROM lag_days
  LEFT JOIN limits ON limits.cluster = lag_days.cluster
  LEFT JOIN asked ON asked.cluster = lag_days.cluster AND asked.group_id = lag_days.group_id
--- A topic may have no name, or no id.
  LEFT JOIN held ON held.cluster = lag_days.cluster AND held.day_time = lag_days.day_time
    AND held.group_id = lag_days.group_id AND held.topic IS NOT DISTINCT FROM lag_days.topic
    AND held.topic_id IS NOT DISTINCT FROM lag_days.topic_id
    AND held.evidence_partition = lag_days.evidence_partition
),
judged AS (
  SELECT days.*, CASE WHEN objective_ms IS NOT NULL THEN num_over END AS num_minutes_over,
    CASE WHEN objective_ms IS NOT NULL AND num_minutes_known > 0
      THEN 1 - CAST(num_over * 100 AS DOUBLE) / (num_minutes_known * freshness_missed_percent) END AS budget_left,
    CASE WHEN objective_ms IS NOT NULL AND num_minutes_known > 0
      THEN num_over * 100 <= num_minutes_known * freshness_missed_percent END AS is_met
  FROM days
),
ranked AS (
  SELECT judged.*,
    {rank coalesce(is_met, TRUE), time_lag_ms_p95 DESC NULLS LAST, time_lag_ms_max DESC NULLS LAST, day_time DESC,
      group_id, topic NULLS LAST, topic_id NULLS LAST} AS rank
  FROM judged
)
