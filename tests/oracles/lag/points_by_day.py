"""What the views of days mean: each answered from all points of lag_points, by a sort of them."""

PERCENTS = (50, 95, 99)
BY_DAY = "PARTITION BY cluster, day_time, group_id, topic, topic_id, evidence_partition"
DATED = """\
dated AS (
  SELECT cluster, date_trunc('day', snapshot_time) AS day_time, date_trunc('minute', snapshot_time) AS minute_time,
    group_id, group_type, topic, topic_id, evidence_partition, lag, time_lag_ms, time_lag_method, is_provisional,
    confidence
  FROM lag_points
)"""


def placed(column: str) -> str:
    return f"""row_number() OVER ({BY_DAY} ORDER BY {column} NULLS LAST) AS {column}_place,
    count({column}) OVER ({BY_DAY}) AS {column}_number"""


def measured(column: str) -> str:
    ranks = (
        f"min(CASE WHEN 100 * {column}_place >= {percent} * {column}_number THEN {column} END) AS {column}_p{percent}"
        for percent in PERCENTS
    )
    return ", ".join((*ranks, f"max({column}) AS {column}_max"))


LAG_DAILY = f"""\
WITH {DATED},
placed AS (
  SELECT dated.*, {placed("lag")}, {placed("time_lag_ms")}
  FROM dated
)
SELECT cluster, day_time, group_id, max(group_type) AS group_type, topic, topic_id, count(*) AS num_points,
  count(DISTINCT minute_time) AS num_minutes,
  count(DISTINCT CASE WHEN lag IS NULL THEN minute_time END) AS num_minutes_unknown,
  {measured("lag")}, {measured("time_lag_ms")}
FROM placed
GROUP BY cluster, day_time, group_id, topic, topic_id, evidence_partition
"""

OVER = "time_lag_ms > objective_ms"
FRESHNESS = f"""\
WITH {DATED},
newest AS (
  SELECT cluster, group_id, freshness_objective_ms,
    row_number() OVER (PARTITION BY cluster, group_id ORDER BY as_of_time DESC) AS place
  FROM group_verdicts
  WHERE partition IS NULL
),
asked AS (
  SELECT dated.*, freshness_objective_ms AS objective_ms
  FROM dated
  LEFT JOIN newest ON newest.cluster = dated.cluster AND newest.group_id = dated.group_id AND newest.place = 1
),
placed AS (
  SELECT asked.*, {OVER} AND NOT is_provisional AS is_over,
    coalesce({OVER} AND is_provisional, FALSE) AS is_over_unproven,
    {placed("time_lag_ms")}
  FROM asked
),
days AS (
  SELECT cluster, day_time, group_id, max(group_type) AS group_type, topic, topic_id, count(*) AS num_points,
    count(DISTINCT minute_time) AS num_minutes,
    count(DISTINCT CASE WHEN time_lag_ms IS NOT NULL AND NOT is_over_unproven THEN minute_time END)
      AS num_minutes_known,
    max(objective_ms) AS objective_ms, count(DISTINCT CASE WHEN is_over THEN minute_time END) AS num_over,
    min(CASE WHEN is_over THEN minute_time END) AS first_over_time,
    max(CASE WHEN is_over THEN minute_time END) AS last_over_time, {measured("time_lag_ms")},
    min(CASE WHEN time_lag_ms IS NOT NULL THEN time_lag_method END) AS least_method,
    max(CASE WHEN time_lag_ms IS NOT NULL THEN time_lag_method END) AS greatest_method,
    -- The words stand in the order of doubt.
    max(confidence) AS confidence
  FROM placed
  GROUP BY cluster, day_time, group_id, topic, topic_id, evidence_partition
)
SELECT days.*, CASE WHEN objective_ms IS NOT NULL THEN num_over END AS num_minutes_over,
  CASE WHEN objective_ms IS NOT NULL AND num_minutes_known > 0
    THEN 1 - CAST(num_over * 100 AS DOUBLE) / (num_minutes_known * 5) END AS budget_left,
  CASE WHEN objective_ms IS NOT NULL AND num_minutes_known > 0 THEN num_over * 100 <= num_minutes_known * 5 END
    AS is_met,
  CASE WHEN least_method = greatest_method THEN least_method END AS time_lag_method
FROM days
"""
BY_VIEW = {"v_lag_daily": LAG_DAILY, "v_freshness_slo": FRESHNESS}
