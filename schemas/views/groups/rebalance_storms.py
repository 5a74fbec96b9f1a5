"""The view v_rebalance_storms: rebalances of a group that follow one another too soon."""

from schemas.declarations.columns import Column, Type
from schemas.tables.history import REBALANCES
from schemas.tables.history_columns import EVIDENCE
from schemas.views.parts import (
    AS_OF,
    CLUSTERS,
    CLUSTERS_READ,
    RANK,
    UNREAD,
    UNREAD_SUMS,
    capped_total,
    column_list,
    seconds_between,
    total,
)

# At least so many, each beginning so soon after the one before.
FEWEST, MINUTES = 5, 5

COLUMNS = (
    REBALANCES.column("cluster"),
    RANK,
    REBALANCES.column("group_id"),
    REBALANCES.column("group_type"),
    Column("from_time", Type.TIMESTAMP, "Start of the first rebalance of the storm."),
    Column("to_time", Type.TIMESTAMP, "End of the last rebalance of the storm; its start, if it has not ended."),
    Column("num_rebalances", Type.BIGINT, "Rebalances that left a record."),
    Column(
        "num_generations",
        Type.BIGINT,
        "By how much the generation or target epoch rose during the storm. This includes rebalances that left no "
        "record.",
    ),
    Column(
        "generations_per_hour",
        Type.DOUBLE,
        "num_generations per hour; a storm of less than an hour counts as one hour.",
    ),
    Column("num_members_changed", Type.BIGINT, "Member ids that joined, left or restarted."),
    Column(
        "repeated_client_id",
        Type.STRING,
        "Client id with the most joins, leaves and restarts; NULL: no member changed.",
    ),
    Column("repeated_client_host", Type.STRING, "Host of that client."),
    Column("num_repeated", Type.BIGINT, "How often members of that client joined, left or restarted."),
    Column("rebalancing_ms", Type.BIGINT, "Sum of duration_ms: a lower bound for classic groups."),
    Column(
        "share_rebalancing",
        Type.DOUBLE,
        "rebalancing_ms divided by the length of the storm (from_time to to_time, in whole seconds); 0 to 1.",
    ),
    Column("stopped_partition_ms", Type.BIGINT, "Sum of the times in which partitions had no owner."),
    *UNREAD,
    *EVIDENCE[:3],
    *AS_OF,
)
READS = ("rebalances", "generation_members", "membership_intervals", *CLUSTERS_READ)
SQL = f"""\
WITH {CLUSTERS},
followed AS (
  SELECT rebalances.*, lag(start_time) OVER (PARTITION BY cluster, group_id ORDER BY assignment_offset) AS before_time
  FROM rebalances
  WHERE start_time IS NOT NULL
),
numbered AS (
  SELECT followed.*, sum(CASE WHEN start_time <= before_time + INTERVAL '{MINUTES}' MINUTE THEN 0 ELSE 1 END) OVER (
    PARTITION BY cluster, group_id ORDER BY assignment_offset ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS streak
  FROM followed
),
storms AS (
  SELECT cluster, group_id, streak, max(group_type) AS group_type, count(*) AS num_rebalances,
    min(start_time) AS from_time, max(coalesce(end_time, start_time)) AS to_time,
    {total("CASE WHEN to_generation > from_generation THEN CAST(to_generation AS BIGINT) - from_generation ELSE 1 END")}
      AS num_generations,
    {capped_total("duration_ms")} AS rebalancing_ms, {capped_total("stopped_partition_ms")} AS stopped_partition_ms,
    {UNREAD_SUMS},
    min(evidence_partition) AS evidence_partition, min(evidence_first_offset) AS evidence_first_offset,
    max(evidence_last_offset) AS evidence_last_offset
  FROM numbered
  GROUP BY cluster, group_id, streak
  HAVING count(*) >= {FEWEST}
),
clients AS (
  SELECT cluster, group_id, member_id, min(client_id) AS client_id, min(client_host) AS client_host
  FROM membership_intervals
  GROUP BY cluster, group_id, member_id
),
changes AS (
  SELECT numbered.cluster, numbered.group_id, numbered.streak, members.member_id, clients.client_id,
    clients.client_host
  FROM numbered
  JOIN generation_members AS members ON members.cluster = numbered.cluster AND members.group_id = numbered.group_id
    AND members.assignment_offset = numbered.assignment_offset AND members.change <> 'kept'
  LEFT JOIN clients ON clients.cluster = members.cluster AND clients.group_id = members.group_id
    AND clients.member_id = members.member_id
),
changed AS (
  SELECT cluster, group_id, streak, count(DISTINCT member_id) AS num_members_changed
  FROM changes
  GROUP BY cluster, group_id, streak
),
counted AS (
  SELECT cluster, group_id, streak, client_id, client_host, count(*) AS num_repeated
  FROM changes
  GROUP BY cluster, group_id, streak, client_id, client_host
),
repeated AS (
  SELECT counted.*, row_number() OVER (PARTITION BY cluster, group_id, streak
    ORDER BY num_repeated DESC, client_id NULLS LAST, client_host NULLS LAST) AS place
  FROM counted
),
lengths AS (
  SELECT storms.*, {seconds_between("from_time", "to_time")} AS length_s
  FROM storms
),
joined AS (
  SELECT storms.*, CAST(num_generations AS DOUBLE)
      / (CASE WHEN length_s > 3600 THEN CAST(length_s AS DOUBLE) / 3600 ELSE 1 END) AS generations_per_hour,
    CASE WHEN rebalancing_ms >= length_s * 1000 THEN 1
      ELSE CAST(rebalancing_ms AS DOUBLE) / CAST(length_s * 1000 AS DOUBLE) END AS share_rebalancing,
    coalesce(changed.num_members_changed, 0) AS num_members_changed, repeated.client_id AS repeated_client_id,
    repeated.client_host AS repeated_client_host, repeated.num_repeated, as_of_time, history_since_time
  FROM lengths AS storms
  LEFT JOIN clusters ON clusters.cluster = storms.cluster
  LEFT JOIN changed ON changed.cluster = storms.cluster AND changed.group_id = storms.group_id
    AND changed.streak = storms.streak
  LEFT JOIN repeated ON repeated.cluster = storms.cluster AND repeated.group_id = storms.group_id
    AND repeated.streak = storms.streak AND repeated.place = 1
),
ranked AS (
  SELECT joined.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY generations_per_hour DESC,
    num_rebalances DESC, group_id, from_time) AS BIGINT) AS rank
  FROM joined
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
