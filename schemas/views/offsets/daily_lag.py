"""The views lag_daily and v_freshness_slo: lag of each group, topic and day, in messages and in time. What days have in
common was added up when their points were made; objectives are held against minutes when they are asked for."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import LIMITS_READ, RANK, column_list, how_many, limits

SUBJECT = tuple(map(TABLES["lag_days"].column, ("day_time", "group_id", "group_type", "topic", "topic_id")))
COUNTS = tuple(map(TABLES["lag_days"].column, ("num_points", "num_minutes")))

LAG_COLUMNS = (
    TABLES["lag_days"].column("cluster"),
    *SUBJECT,
    *COUNTS,
    TABLES["lag_days"].column("num_minutes_unknown"),
    *GROUPS["LAG_PERCENTILES"],
    *GROUPS["TIME_LAG_PERCENTILES"],
)
LAG_READS = ("lag_days",)
LAG_SQL = f"""\
SELECT {column_list(LAG_COLUMNS)}
FROM lag_days
ORDER BY cluster, day_time DESC, lag_floor_p95 DESC NULLS LAST, lag_floor_max DESC NULLS LAST, group_id,
  topic NULLS LAST, topic_id NULLS LAST
"""

FRESHNESS_COLUMNS = (
    TABLES["lag_days"].column("cluster"),
    RANK,
    *SUBJECT,
    *COUNTS,
    Column(
        "num_minutes_known",
        Type.BIGINT,
        "Of num_minutes, those in which the time lag of one or more partitions is known. If there is an objective: "
        "points that a later run may change count only while they meet the objective.",
        is_nullable=False,
    ),
    *GROUPS["TIME_LAG_PERCENTILES"],
    Column(
        "objective_ms",
        Type.BIGINT,
        "Time lag that the group must not exceed: freshness_objective_s in [[groups]] of the settings of the newest "
        "run. NULL: no objective.",
    ),
    Column(
        "num_minutes_over",
        Type.BIGINT,
        "Of num_minutes_known, those in which the time lag of a partition was above objective_ms. Points that a later "
        "run may change do not count. NULL: no objective.",
    ),
    Column(
        "budget_left",
        Type.DOUBLE,
        "Share of the error budget that is left. The budget: freshness_missed_percent in [gate] of the settings, of "
        "num_minutes_known, may be over. Below 0: the objective was missed. NULL: no objective, no time lag is known, "
        "or no run of `groupscope gate` has noted that setting yet.",
    ),
    Column("is_met", Type.BOOLEAN, "FALSE: the objective was missed that day; NULL: where budget_left is NULL."),
    Column("first_over_time", Type.TIMESTAMP, "The first minute with a time lag above objective_ms; NULL: none."),
    Column("last_over_time", Type.TIMESTAMP, "The last minute with a time lag above objective_ms; NULL: none."),
    TABLES["lag_days"].column("time_lag_method"),
    TABLES["lag_days"].column("confidence"),
)
FRESHNESS_READS = ("lag_days", "lag_minutes", "group_verdicts", *LIMITS_READ)
OVER = "time_lag_ms_max > objective_ms"
# A topic may have no name, or no id.
SAME_DAY = """held.cluster = lag_days.cluster AND held.day_time = lag_days.day_time
    AND held.group_id = lag_days.group_id AND held.topic IS NOT DISTINCT FROM lag_days.topic
    AND held.topic_id IS NOT DISTINCT FROM lag_days.topic_id
    AND held.evidence_partition = lag_days.evidence_partition"""
FRESHNESS_SQL = f"""\
WITH {limits("freshness_missed_percent")},
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
    {how_many("time_lag_ms_max IS NOT NULL OR open_time_lag_ms_min <= objective_ms")} AS num_known,
    {how_many(OVER)} AS num_over,
    min(CASE WHEN {OVER} THEN minute_time END) AS first_over_time,
    max(CASE WHEN {OVER} THEN minute_time END) AS last_over_time
  FROM lag_minutes
  JOIN asked ON asked.cluster = lag_minutes.cluster AND asked.group_id = lag_minutes.group_id
  GROUP BY lag_minutes.cluster, day_time, lag_minutes.group_id, topic, topic_id, evidence_partition
),
days AS (
  SELECT {", ".join(f"lag_days.{each.name}" for each in (*GROUPS["CLUSTER"], *SUBJECT, *COUNTS))},
    CASE WHEN objective_ms IS NULL THEN num_minutes_known ELSE num_known END AS num_minutes_known,
    {column_list(GROUPS["TIME_LAG_PERCENTILES"])}, objective_ms, num_over, first_over_time, last_over_time,
    time_lag_method, confidence, freshness_missed_percent
  FROM lag_days
  LEFT JOIN limits ON limits.cluster = lag_days.cluster
  LEFT JOIN asked ON asked.cluster = lag_days.cluster AND asked.group_id = lag_days.group_id
  LEFT JOIN held ON {SAME_DAY}
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
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY coalesce(is_met, TRUE), time_lag_ms_p95 DESC NULLS LAST,
      time_lag_ms_max DESC NULLS LAST, day_time DESC, group_id, topic NULLS LAST, topic_id NULLS LAST) AS BIGINT)
      AS rank
  FROM judged
)
SELECT {column_list(FRESHNESS_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
