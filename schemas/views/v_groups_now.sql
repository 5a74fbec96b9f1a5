-- Each group as of the newest audit, the worst first: its verdict and why, since when, messages that wait, and its last
-- rebalance. `groupscope status` shows it. Which groups are not well now?
-- reads: group_verdicts group_state_intervals rebalances
--   +group_verdicts: cluster
--   +rank
--   +group_state_intervals: group_id group_type state num_members
--   own_verdict string  Lag verdict by Groupscope's rules; NULL: none, as the group has no committed offset and its
--       members own no partition.
--   rule string  The rule that decided; v_enums explains the values.
--   reason string  Why own_verdict has this value, in words with numbers.
--   +group_verdicts: since_time lag time_lag_ms last_commit_time
--   num_partitions bigint  Partitions of the group that have a verdict.
--   num_not_ok bigint  Of num_partitions, those whose verdict is not OK.
--   last_rebalance_time timestamp  Start of the group's last rebalance; NULL: none is known.
--   last_rebalance_trigger string  What started that rebalance; v_enums explains the values.
--   last_rebalance_detail string  Who or what that was, in words.
--   +group_verdicts: as_of_time
WITH {judged_now},
{one_state_each states, {held_now group_state_intervals}},
-- Without those that are gone: Burrow counts their commits for a while.
known AS (
  SELECT cluster, group_id FROM states
  UNION
  (SELECT cluster, group_id FROM judged
  EXCEPT
  SELECT cluster, group_id
  FROM group_state_intervals
  JOIN newest ON of_cluster = cluster
  WHERE from_time IS NULL OR from_time <= newest_time)
),
of_partitions AS (
  SELECT cluster, group_id, count(*) AS num_partitions,
    {how_many own_verdict <> 'OK'} AS num_not_ok
  FROM judged
  WHERE partition IS NOT NULL
  GROUP BY cluster, group_id
),
followed AS (
  SELECT cluster, group_id, start_time, trigger, trigger_detail,
    row_number() OVER (PARTITION BY cluster, group_id
      ORDER BY start_time DESC NULLS LAST, evidence_partition, assignment_offset DESC) AS place
  FROM rebalances
  JOIN newest ON of_cluster = cluster
  WHERE start_time <= newest_time
),
joined AS (
  SELECT known.cluster, known.group_id, coalesce(states.group_type, of_group.group_type) AS group_type, state,
    num_members, own_verdict, rule, reason, since_time, lag, time_lag_ms, last_commit_time,
    coalesce(num_partitions, 0) AS num_partitions, coalesce(num_not_ok, 0) AS num_not_ok,
    followed.start_time AS last_rebalance_time, followed.trigger AS last_rebalance_trigger,
    followed.trigger_detail AS last_rebalance_detail, newest.newest_time AS as_of_time
  FROM known
  JOIN newest ON of_cluster = known.cluster
  LEFT JOIN states ON states.cluster = known.cluster AND states.group_id = known.group_id
  LEFT JOIN judged AS of_group ON of_group.cluster = known.cluster AND of_group.group_id = known.group_id
    AND of_group.partition IS NULL
  LEFT JOIN of_partitions ON of_partitions.cluster = known.cluster AND of_partitions.group_id = known.group_id
  LEFT JOIN followed ON followed.cluster = known.cluster AND followed.group_id = known.group_id AND place = 1
),
--- Groups without a verdict are last.
{ranked joined, CASE own_verdict {worst_first} END NULLS LAST, lag DESC NULLS LAST, group_id}
