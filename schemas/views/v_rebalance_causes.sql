-- How often each trigger caused rebalances of each group, and how long partitions were unread, the longest first.
-- reads: rebalances history_coverage topic_snapshots
--   +rebalances: cluster
--   +rank
--   +rebalances: group_id group_type trigger
--   num_rebalances bigint  Rebalances of the group with this trigger.
--   share_of_group double  Share of these among all rebalances of the group, 0 to 1.
--   num_certain bigint  Of these, rebalances whose trigger is certain.
--   first_start_time timestamp  start_time of the first of these rebalances.
--   last_start_time timestamp  start_time of the last of these rebalances.
--   duration_ms bigint  Sum of duration_ms of these rebalances; NULL: all are open.
--   longest_duration_ms bigint  The largest duration_ms of these rebalances.
--   num_moved bigint  Partitions that moved from one member to another.
--   stopped_partition_ms bigint  Sum of the times in which partitions had no owner.
--   +unread
--   +rebalances: evidence_partition evidence_first_offset evidence_last_offset
--   +as_of
WITH {clusters},
causes AS (
  SELECT cluster, group_id, group_type, trigger, count(*) AS num_rebalances,
    {total CASE WHEN confidence = 'certain' THEN 1 ELSE 0 END} AS num_certain,
    min(start_time) AS first_start_time, max(start_time) AS last_start_time,
    {capped_total duration_ms} AS duration_ms, max(duration_ms) AS longest_duration_ms,
    {total num_moved} AS num_moved, {capped_total stopped_partition_ms} AS stopped_partition_ms,
    {unread_sums},
    min(evidence_partition) AS evidence_partition, min(evidence_first_offset) AS evidence_first_offset,
    max(evidence_last_offset) AS evidence_last_offset
  FROM rebalances
  GROUP BY cluster, group_id, group_type, trigger
),
shared AS (
  SELECT causes.*, CAST(num_rebalances AS DOUBLE)
    / CAST(sum(num_rebalances) OVER (PARTITION BY cluster, group_id) AS DOUBLE) AS share_of_group
  FROM causes
),
ranked AS (
  SELECT shared.*, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY shared.cluster ORDER BY unread_partition_high_ms DESC NULLS LAST,
      stopped_partition_ms DESC NULLS LAST, num_rebalances DESC, group_id, group_type, trigger) AS BIGINT) AS rank
  FROM shared LEFT JOIN clusters ON clusters.cluster = shared.cluster
)
