-- Rebalances by day, group and trigger, with the metrics of KIP-429 that a log can show. Comments say whether a number
-- is exact, likely or a bound.
-- reads: rebalances partition_moves
--   +rebalances: cluster
--   day_time timestamp  The UTC day on which the rebalances began or static members came back.
--   +rebalances: group_id group_type trigger
--   num_rebalances bigint  Rebalances that left a record. Exact. 0: static members came back without one; the row has
--       how long their partitions were unread.
--   num_completed bigint  Of these, those that completed. Exact.
--   num_follow_ups bigint  Of these, cooperative follow-ups, which assign what the previous rebalance withheld.
--       Exact.
--   rebalance_total bigint  For the metric rebalance-total: by how much the generation rose. This includes rebalances
--       that left no record. Upper bound.
--   failed_rebalance_total bigint  For the metric failed-rebalance-total: rebalances that left no record, because
--       they failed for the whole group. A client counts only its own failures.
--   rebalance_rate_per_hour double  For the metric rebalance-rate-per-hour: rebalance_total / 24. Lower bound if only
--       a part of the day is known.
--   last_rebalance_time timestamp  For the metric last-rebalance-seconds-ago, but as a time: end of the last
--       completed rebalance, by the broker's clock.
--   rebalance_ms bigint  Sum of duration_ms. Classic: lower bound, since the join phase is not known.
--   longest_rebalance_ms bigint  For the metric rebalance-latency-max: the longest duration_ms. Classic: lower bound.
--   sync_ms bigint  Sum of sync_ms: how long leaders took to assign. Classic: exact by the broker's clock.
--   longest_sync_ms bigint  For the metric sync-time-max: the longest sync_ms. This is the time of the leader; the
--       log does not show the times of other members.
--   assigned_partitions bigint  For the metric assigned-partitions: the largest number of partitions that members of
--       the group were assigned. Exact.
--   num_moved bigint  Partitions that moved from one member to another. Exact. NULL: there is no rebalance.
--   num_returned bigint  Partitions that were revoked and reassigned to the same member. Exact.
--   num_withheld bigint  Partitions that were withheld for the next rebalance (cooperative). Exact. That clients ran
--       onPartitionsRevoked is likely.
--   num_ready_to_migrate bigint  Partitions that were assigned at once, since no member claimed them. Exact. That
--       clients ran onPartitionsAssigned is likely.
--   num_lost bigint  Partitions that members lost: they rejoined with generation -1 and no claim. Likely.
--   stopped_partition_ms bigint  Sum of the times in which partitions had no owner. Upper bound.
--   +unread
WITH lost AS (
  SELECT cluster, group_id, assignment_offset, count(*) AS num_lost
  FROM partition_moves
  WHERE kind = 'lost'
  GROUP BY cluster, group_id, assignment_offset
),
dated AS (
  SELECT rebalance.*, date_trunc('day', start_time) AS day_time, coalesce(num_lost, 0) AS num_lost,
    CASE WHEN to_generation > from_generation THEN CAST(to_generation AS BIGINT) - from_generation ELSE 1 END AS rounds
  FROM rebalances AS rebalance
  LEFT JOIN lost ON {same_assignment lost, rebalance}
),
counted AS (
  SELECT cluster, day_time, group_id, group_type, trigger, 1 AS is_rebalance, outcome, is_follow_up, rounds,
    unpersisted_rounds, duration_ms, sync_ms, end_time, num_partitions, num_moved, num_returned, num_withheld,
    num_ready_to_migrate, num_lost, stopped_partition_ms, unread_partition_low_ms, unread_partition_high_ms,
    longest_unread_high_ms
  FROM dated
--- Of a static member that came back without a rebalance, only its moves say for how long its partitions were unread.
  UNION ALL
  SELECT move.cluster, date_trunc('day', move_time), move.group_id, move.group_type, 'static_restart', 0,
    NULL AS outcome, NULL AS is_follow_up, NULL AS rounds, NULL AS unpersisted_rounds, NULL AS duration_ms,
      NULL AS sync_ms, NULL AS end_time, NULL AS num_partitions, NULL AS num_moved, NULL AS num_returned,
      NULL AS num_withheld, NULL AS num_ready_to_migrate, NULL AS num_lost,
    idle_ms, unread_low_ms, unread_high_ms, unread_high_ms
  FROM partition_moves AS move
  LEFT JOIN rebalances AS rebalance ON {same_assignment rebalance, move}
  WHERE move.kind = 'returned' AND rebalance.assignment_offset IS NULL
)
SELECT cluster, day_time, group_id, group_type, trigger, {total is_rebalance} AS num_rebalances,
  {total CASE WHEN outcome = 'completed' THEN 1 ELSE 0 END} AS num_completed,
  {total CASE WHEN is_follow_up THEN 1 ELSE 0 END} AS num_follow_ups,
  {total coalesce(rounds, 0)} AS rebalance_total,
  {total coalesce(unpersisted_rounds, 0)} AS failed_rebalance_total,
  CAST(sum(coalesce(rounds, 0)) AS DOUBLE) / 24 AS rebalance_rate_per_hour,
  max(CASE WHEN outcome = 'completed' THEN end_time END) AS last_rebalance_time,
  {capped_total duration_ms} AS rebalance_ms, max(duration_ms) AS longest_rebalance_ms,
  {capped_total sync_ms} AS sync_ms, max(sync_ms) AS longest_sync_ms,
  CAST(max(num_partitions) AS BIGINT) AS assigned_partitions,
  {total num_moved} AS num_moved, {total num_returned} AS num_returned,
  {total num_withheld} AS num_withheld, {total num_ready_to_migrate} AS num_ready_to_migrate,
  {total coalesce(num_lost, 0)} AS num_lost, {capped_total stopped_partition_ms} AS stopped_partition_ms,
  {unread_sums}
FROM counted
GROUP BY cluster, day_time, group_id, group_type, trigger
ORDER BY cluster, day_time DESC NULLS LAST, num_rebalances DESC, group_id, group_type, trigger
