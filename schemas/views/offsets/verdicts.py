"""The view v_group_verdict: how each partition of each group stands now, since when, and what it was before."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import RANK, column_list
from schemas.words.lag import WORST_FIRST

COLUMNS = (
    TABLES["group_verdicts"].column("cluster"),
    RANK,
    *map(TABLES["group_verdicts"].column, ("group_id", "group_type", "topic", "topic_id", "partition")),
    *map(TABLES["group_verdicts"].column, ("own_verdict", "rule", "reason", "burrow_verdict", "burrow_rule")),
    *map(TABLES["group_verdicts"].column, ("since_time", "last_commit_time", "lag_floor", "time_lag_ms")),
    Column("num_alike", Type.BIGINT, "Partitions of the group with the same own_verdict; 1 in the row of a group."),
    Column(
        "is_only_one",
        Type.BOOLEAN,
        "TRUE: own_verdict of this partition is not OK, and all other partitions of the group are OK.",
    ),
    Column("previous_verdict", Type.STRING, "own_verdict at the previous as-of time; NULL: no previous verdict."),
    Column("num_changes", Type.BIGINT, "How often own_verdict changed in the 7 days before as_of_time."),
    *GROUPS["EVIDENCE"],
    TABLES["group_verdicts"].column("as_of_time"),
)
READS = ("group_verdicts",)
KEY = "cluster, group_id, topic, topic_id, partition"
BADNESS = " ".join(f"WHEN '{verdict.value}' THEN {place}" for place, verdict in enumerate(WORST_FIRST, 1))
SQL = f"""\
WITH newest AS (
  SELECT cluster AS of_cluster, max(as_of_time) AS newest_time
  FROM group_verdicts
  GROUP BY cluster
),
followed AS (
  SELECT verdicts.*, newest_time,
    lag(own_verdict) OVER (PARTITION BY {KEY} ORDER BY as_of_time) AS previous_verdict
  FROM group_verdicts AS verdicts
  JOIN newest ON of_cluster = cluster
),
counted AS (
  SELECT followed.*, count(CASE WHEN as_of_time > newest_time - INTERVAL '7' DAY AND own_verdict <> previous_verdict
    THEN 1 END) OVER (PARTITION BY {KEY}) AS num_changes
  FROM followed
),
judged AS (
  SELECT counted.*,
    CASE own_verdict {BADNESS} END AS badness,
    CASE WHEN partition IS NULL THEN 1
      ELSE count(partition) OVER (PARTITION BY cluster, group_id, own_verdict) END AS num_alike,
    count(CASE WHEN own_verdict <> 'OK' THEN partition END) OVER (PARTITION BY cluster, group_id) AS num_in_trouble,
    count(partition) OVER (PARTITION BY cluster, group_id) AS num_partitions
  FROM counted
  WHERE as_of_time = newest_time
),
ranked AS (
  SELECT judged.*,
    partition IS NOT NULL AND own_verdict <> 'OK' AND num_in_trouble = 1 AND num_partitions > 1 AS is_only_one,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY badness, lag_floor DESC NULLS LAST, group_id,
      topic NULLS FIRST, topic_id NULLS FIRST, partition NULLS FIRST) AS BIGINT) AS rank
  FROM judged
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
