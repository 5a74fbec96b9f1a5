-- Many rebalances of a group in a row: storm_rebalances or more, each within storm_gap_s after the previous one began,
-- by [gate] of the settings that the newest run of `groupscope gate` used. Storms are first, those with the most
-- generations per hour before others, then restarts and upgrades of members, one after the other. Which groups had
-- storms, and whose members caused them?
-- reads: rebalances generation_members membership_intervals gate_limits history_coverage topic_snapshots
--   +rebalances: cluster
--   +rank
--   +rebalances: group_id group_type
--   kind string  storm, rolling_restart or rolling_upgrade; v_enums explains them.
--   from_time timestamp  Start of the first of these rebalances.
--   to_time timestamp  End of the last of these rebalances; its start, if it has not ended.
--   num_rebalances bigint  Rebalances that left a record.
--   num_generations bigint  By how much the generation or target epoch rose during these rebalances. This includes
--       rebalances that left no record.
--   generations_per_hour double  num_generations per hour; less than an hour counts as one hour.
--   num_members_changed bigint  Member ids that joined, left or restarted.
--   repeated_client_id string  Client id with the most joins, leaves and restarts; NULL: no member changed.
--   repeated_client_host string  Host of that client.
--   num_repeated bigint  How often members of that client joined, left or restarted.
--   num_member_changes bigint  How often members of any client joined, left or restarted.
--   rebalancing_ms bigint  Sum of duration_ms: a lower bound for classic groups.
--   share_rebalancing double  rebalancing_ms divided by the time from from_time to to_time, in whole seconds; 0 to 1.
--   stopped_partition_ms bigint  Sum of the times in which partitions had no owner.
--   +unread
--   +rebalances: evidence_partition evidence_first_offset evidence_last_offset
--   +as_of
--- A group may have records in several offsets partitions, whose offsets say nothing of each other's order.
--- A group may have records in several offsets partitions, whose offsets say nothing of each other's order.
WITH {clusters},
limits AS (
  SELECT cluster, {limit storm_rebalances},
    {limit storm_gap_s}
  FROM gate_limits
  GROUP BY cluster
),
followed AS (
  SELECT rebalances.*, storm_rebalances, storm_gap_s, lag(start_time) OVER (
    PARTITION BY rebalances.cluster, group_id, evidence_partition ORDER BY assignment_offset) AS before_time
  FROM rebalances
  JOIN limits ON limits.cluster = rebalances.cluster
  WHERE start_time IS NOT NULL
),
-- A group that was deleted and made anew is another one.
begun AS (
  SELECT followed.*, CASE WHEN start_time <= before_time + INTERVAL '1' SECOND * storm_gap_s
    AND trigger <> 'group_created' THEN 0 ELSE 1 END AS is_first
  FROM followed
),
numbered AS (
  SELECT begun.*, sum(is_first) OVER (PARTITION BY cluster, group_id, evidence_partition ORDER BY assignment_offset
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS streak
  FROM begun
),
streaks AS (
  SELECT cluster, group_id, evidence_partition, streak, max(group_type) AS group_type, count(*) AS num_rebalances,
    max(storm_rebalances) AS storm_rebalances, max(CASE WHEN is_first = 1 THEN start_time END) AS from_time,
    max(coalesce(end_time, start_time)) AS to_time,
    {total CASE WHEN to_generation > from_generation THEN CAST(to_generation AS BIGINT) - from_generation ELSE 1 END}
      AS num_generations,
    {how_many is_follow_up} AS num_follow_ups,
    {how_many trigger = 'protocol_migration' OR assignor_before <> assignor_after}
      + count(DISTINCT group_type) - 1 AS num_upgrades,
    {capped_total duration_ms} AS rebalancing_ms, {capped_total stopped_partition_ms} AS stopped_partition_ms,
    {unread_sums},
    min(evidence_first_offset) AS evidence_first_offset, max(evidence_last_offset) AS evidence_last_offset
  FROM numbered
  GROUP BY cluster, group_id, evidence_partition, streak
  HAVING count(*) >= max(storm_rebalances)
),
clients AS (
  SELECT cluster, group_id, evidence_partition, member_id, min(client_id) AS client_id,
    min(client_host) AS client_host
  FROM membership_intervals
  GROUP BY cluster, group_id, evidence_partition, member_id
),
members AS (
  SELECT numbered.cluster, numbered.group_id, numbered.evidence_partition, numbered.streak, numbered.assignment_offset,
    is_first, listed.member_id,
    change, client_id, client_host, group_instance_id AS instance_id
  FROM numbered
  JOIN streaks ON {same_streak streaks, numbered}
  JOIN generation_members AS listed ON listed.cluster = numbered.cluster AND listed.group_id = numbered.group_id
    AND listed.evidence_partition = numbered.evidence_partition
    AND listed.assignment_offset = numbered.assignment_offset
    AND (listed.change <> 'kept' OR is_first = 1)
  LEFT JOIN clients ON clients.cluster = listed.cluster AND clients.group_id = listed.group_id
    AND clients.evidence_partition = listed.evidence_partition AND clients.member_id = listed.member_id
),
changed AS (
  SELECT cluster, group_id, evidence_partition, streak, count(DISTINCT member_id) AS num_members_changed,
    count(*) AS num_member_changes, count(DISTINCT assignment_offset) AS num_with_changes
  FROM members
  WHERE change <> 'kept'
  GROUP BY cluster, group_id, evidence_partition, streak
),
counted AS (
  SELECT cluster, group_id, evidence_partition, streak, client_id, client_host, count(*) AS num_repeated
  FROM members
  WHERE change <> 'kept'
  GROUP BY cluster, group_id, evidence_partition, streak, client_id, client_host
),
repeated AS (
  SELECT counted.*, row_number() OVER (PARTITION BY cluster, group_id, evidence_partition, streak
    ORDER BY num_repeated DESC, client_id NULLS LAST, client_host NULLS LAST) AS place
  FROM counted
),
identified AS (
  SELECT cluster, group_id, evidence_partition, streak, assignment_offset, is_first, change, instance_id,
    CASE WHEN instance_id IS NULL THEN client_id END AS client_id,
    CASE WHEN instance_id IS NULL THEN client_host END AS client_host,
    CASE WHEN instance_id IS NULL AND (client_id IS NULL OR client_host IS NULL) THEN member_id END AS unknown_id
  FROM members
),
turns AS (
  SELECT cluster, group_id, evidence_partition, streak, instance_id, client_id, client_host, unknown_id,
    assignment_offset,
    {how_many change IN ('left', 'restarted')} AS num_gone,
    {how_many change IN ('joined', 'restarted')} AS num_come,
    {how_many is_first = 1 AND change <> 'joined'} AS num_before
  FROM identified
  GROUP BY cluster, group_id, evidence_partition, streak, instance_id, client_id, client_host, unknown_id,
    assignment_offset
),
balances AS (
  SELECT turns.*, sum(num_come - num_gone) OVER (PARTITION BY cluster, group_id, evidence_partition, streak,
    instance_id, client_id, client_host, unknown_id ORDER BY assignment_offset
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
  FROM turns
),
-- Who comes while as many are there as ever comes for the first time. Within a rebalance members leave before others
-- join.
sums AS (
  SELECT cluster, group_id, evidence_partition, streak, instance_id, client_id, client_host, unknown_id,
    {total num_come} AS num_come,
    CASE WHEN max(balance) > 0 THEN max(balance) ELSE 0 END AS num_first_joins,
    CASE WHEN sum(num_before) > max(num_come - balance) THEN sum(num_before) ELSE max(num_come - balance) END
      AS num_before
  FROM balances
  GROUP BY cluster, group_id, evidence_partition, streak, instance_id, client_id, client_host, unknown_id
),
returned AS (
  SELECT cluster, group_id, evidence_partition, streak,
--- A deployment, and one more that takes it back.
    {how_many num_come - num_first_joins > 2 * (num_before + num_first_joins)} AS num_flapping
  FROM sums
  GROUP BY cluster, group_id, evidence_partition, streak
),
lengths AS (
  SELECT streaks.*, coalesce(num_members_changed, 0) AS num_members_changed, num_member_changes,
    num_flapping,
    {seconds_between from_time, to_time} AS length_s,
    num_rebalances - num_follow_ups - coalesce(num_with_changes, 0) AS num_without_changes
  FROM streaks
  LEFT JOIN changed ON {same_streak changed, streaks}
  LEFT JOIN returned ON {same_streak returned, streaks}
),
joined AS (
  SELECT storms.*,
    CASE WHEN num_flapping > 0 THEN 'storm'
      -- Nobody restarts where most rebalances have the same members as the one before.
      WHEN num_without_changes >= storm_rebalances AND num_without_changes > num_rebalances - num_without_changes
        THEN 'storm'
      WHEN num_upgrades > 0 THEN 'rolling_upgrade'
      ELSE 'rolling_restart' END AS kind,
    CAST(num_generations AS DOUBLE)
      / (CASE WHEN length_s > 3600 THEN CAST(length_s AS DOUBLE) / 3600 ELSE 1 END) AS generations_per_hour,
    CASE WHEN rebalancing_ms >= length_s * 1000 THEN 1
      ELSE CAST(rebalancing_ms AS DOUBLE) / CAST(length_s * 1000 AS DOUBLE) END AS share_rebalancing,
    repeated.client_id AS repeated_client_id, repeated.client_host AS repeated_client_host, repeated.num_repeated,
    as_of_time, history_since_time
  FROM lengths AS storms
  LEFT JOIN clusters ON clusters.cluster = storms.cluster
  LEFT JOIN repeated ON {same_streak repeated, storms} AND repeated.place = 1
),
{ranked joined, CASE kind WHEN 'storm' THEN 1 ELSE 2 END, generations_per_hour DESC, num_rebalances DESC, group_id,
  from_time, evidence_partition}
