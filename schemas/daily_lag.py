"""The views lag_daily and v_freshness_slo: lag of each group, topic and day, in messages and in time. Percentiles are
those of nearest rank over all partitions and snapshots of the day: values that were seen, none between two."""

from schemas.columns import Column, Type
from schemas.lag_tables import LAG_POINTS
from schemas.view_parts import RANK, named, nearest_rank

DAY = Column("day_time", Type.TIMESTAMP, "The day of the snapshots, in the time zone of the session.")
SUBJECT = (
    LAG_POINTS.column("group_id"),
    Column("group_type", Type.STRING, "classic, consumer, share or streams; the last of these that it was that day."),
    LAG_POINTS.column("topic"),
    LAG_POINTS.column("topic_id"),
)
NUM_POINTS = Column("num_points", Type.BIGINT, "Partitions at snapshots of the day, those with lag unknown too.")
NUM_MINUTES = Column("num_minutes", Type.BIGINT, "Minutes of the day with a snapshot.")
PERCENTS = (50, 95, 99)


def percentiles(column: str, comment: str) -> tuple[Column, ...]:
    """The first of them says what they are about."""
    first, *others = (f"{column}_p{percent}" for percent in PERCENTS)
    return (
        Column(first, Type.BIGINT, f"{comment}: half of the known values are not above; NULL: none is known."),
        *(Column(name, Type.BIGINT, f"The same of {name[-2:]} in 100.") for name in others),
        Column(f"{column}_max", Type.BIGINT, "The largest."),
    )


LAG = percentiles("lag_floor", "Lag in messages")
TIME_LAG = percentiles("time_lag_ms", "Time lag")


def measured(column: str) -> str:
    each = (f"{nearest_rank(percent, column, f'{column}_place', f'{column}_number')} AS {column}_p{percent}"
            for percent in PERCENTS)  # fmt: skip
    return ",\n    ".join((*each, f"max({column}) AS {column}_max"))


BY_DAY = "PARTITION BY cluster, day_time, group_id, topic, topic_id"


def placed(column: str) -> str:
    return f"""row_number() OVER ({BY_DAY} ORDER BY {column} NULLS LAST) AS {column}_place,
    count({column}) OVER ({BY_DAY}) AS {column}_number"""


DATED = """\
dated AS (
  SELECT cluster, date_trunc('day', snapshot_time) AS day_time, date_trunc('minute', snapshot_time) AS minute_time,
    group_id, group_type, topic, topic_id, lag_floor, time_lag_ms, time_lag_method, is_open
  FROM lag_points
)"""
READS = ("lag_points",)

LAG_COLUMNS = (
    LAG_POINTS.column("cluster"),
    DAY,
    *SUBJECT,
    NUM_POINTS,
    NUM_MINUTES,
    Column("num_minutes_unknown", Type.BIGINT, "Of these, minutes in which lag_floor of a partition is unknown."),
    *LAG,
    *TIME_LAG,
)
LAG_SQL = f"""\
WITH {DATED},
placed AS (
  SELECT dated.*, {placed("lag_floor")},
    {placed("time_lag_ms")}
  FROM dated
),
days AS (
  SELECT cluster, day_time, group_id, max(group_type) AS group_type, topic, topic_id, count(*) AS num_points,
    count(DISTINCT minute_time) AS num_minutes,
    count(DISTINCT CASE WHEN lag_floor IS NULL THEN minute_time END) AS num_minutes_unknown,
    {measured("lag_floor")},
    {measured("time_lag_ms")}
  FROM placed
  GROUP BY cluster, day_time, group_id, topic, topic_id
)
SELECT {named(LAG_COLUMNS)}
FROM days
ORDER BY cluster, day_time DESC, lag_floor_p95 DESC NULLS LAST, lag_floor_max DESC NULLS LAST, group_id,
  topic NULLS LAST, topic_id NULLS LAST
"""

# Of 100 known minutes of a day so many may be over the objective.
PERCENT_OVER = 5
OBJECTIVE = Column(
    "objective_ms", Type.BIGINT, "Time lag that the group shall not exceed, by [[groups]] of the settings in the "
    "newest run; NULL: nothing is asked."
)  # fmt: skip
FRESHNESS_COLUMNS = (
    LAG_POINTS.column("cluster"),
    RANK,
    DAY,
    *SUBJECT,
    NUM_POINTS,
    NUM_MINUTES,
    Column("num_minutes_known", Type.BIGINT, "Of these, minutes in which the time lag of a partition is known."),
    *TIME_LAG,
    OBJECTIVE,
    Column(
        "num_minutes_over",
        Type.BIGINT,
        "Of these, minutes in which a partition was later than that. What may still "
        "change, since the log is not known so far, does not count, neither here nor as known.",
    ),
    Column(
        "budget_left",
        Type.DOUBLE,
        f"Share left of the {PERCENT_OVER} in 100 known minutes that may be over; below 0: "
        "missed; NULL: no objective, or nothing is known.",
    ),
    Column(
        "is_met", Type.BOOLEAN, "FALSE: the objective was missed that day; NULL: there is none, or nothing is known."
    ),
    Column("last_over_time", Type.TIMESTAMP, "The last minute that was over; NULL: none was."),
    Column("time_lag_method", Type.STRING, "How the known values are known; NULL: in several ways, or none is known."),
)
FRESHNESS_READS = ("lag_points", "group_verdicts")
OVER = "time_lag_ms > objective_ms"
FRESHNESS_SQL = f"""\
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
  SELECT asked.*, {OVER} AND NOT is_open AS is_over, coalesce({OVER} AND is_open, FALSE) AS is_over_unproven,
    {placed("time_lag_ms")}
  FROM asked
),
days AS (
  SELECT cluster, day_time, group_id, max(group_type) AS group_type, topic, topic_id, count(*) AS num_points,
    count(DISTINCT minute_time) AS num_minutes,
    count(DISTINCT CASE WHEN time_lag_ms IS NOT NULL AND NOT is_over_unproven THEN minute_time END)
      AS num_minutes_known,
    max(objective_ms) AS objective_ms, count(DISTINCT CASE WHEN is_over THEN minute_time END) AS num_over,
    max(CASE WHEN is_over THEN minute_time END) AS last_over_time,
    {measured("time_lag_ms")},
    min(CASE WHEN time_lag_ms IS NOT NULL THEN time_lag_method END) AS least_method,
    max(CASE WHEN time_lag_ms IS NOT NULL THEN time_lag_method END) AS time_lag_method
  FROM placed
  GROUP BY cluster, day_time, group_id, topic, topic_id
),
judged AS (
  SELECT days.*, CASE WHEN objective_ms IS NOT NULL THEN num_over END AS num_minutes_over,
    CASE WHEN objective_ms IS NOT NULL AND num_minutes_known > 0
      THEN 1 - CAST(num_over * 100 AS DOUBLE) / (num_minutes_known * {PERCENT_OVER}) END AS budget_left,
    CASE WHEN objective_ms IS NOT NULL AND num_minutes_known > 0
      THEN num_over * 100 <= num_minutes_known * {PERCENT_OVER} END AS is_met
  FROM days
),
ranked AS (
  SELECT cluster, day_time, group_id, group_type, topic, topic_id, num_points, num_minutes, num_minutes_known,
    {named(TIME_LAG)}, objective_ms, num_minutes_over, budget_left, is_met, last_over_time,
    CASE WHEN least_method = time_lag_method THEN time_lag_method END AS time_lag_method,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY coalesce(is_met, TRUE), time_lag_ms_p95 DESC NULLS LAST,
      time_lag_ms_max DESC NULLS LAST, day_time DESC, group_id, topic NULLS LAST, topic_id NULLS LAST) AS BIGINT)
      AS rank
  FROM judged
)
SELECT {named(FRESHNESS_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
