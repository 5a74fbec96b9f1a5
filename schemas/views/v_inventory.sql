-- Every group that exists, first those that are not in use (is_dead). Which groups can be deleted?
-- reads: group_state_intervals offset_history gate_limits history_coverage topic_snapshots
--   +group_state_intervals: cluster
--   +rank
--   +group_state_intervals: group_id group_type state protocol_type assignor num_members
--   since_time timestamp  Since when the group is in this state.
--   last_commit_time timestamp  Time of the group's newest commit that took effect; NULL: none is known.
--   num_topics bigint  Topics for which the group has a committed offset.
--   num_offsets bigint  Partitions for which the group has a committed offset.
--   is_dead boolean  TRUE: the group has offsets, and had no member and no commit for longer than dead_group_days in
--       [gate] of the settings. NULL: no run of `groupscope gate` has noted that setting yet. This is not Kafka's
--       state Dead.
--   is_tool boolean  TRUE: a group that a tool makes for itself, by the default patterns of [gate] tool_groups. Your
--       own patterns do not count here.
--   +group_state_intervals: evidence_partition evidence_first_offset evidence_last_offset confidence
--   +as_of
WITH {clusters},
limits AS (
  SELECT cluster, {limit dead_group_days}
  FROM gate_limits
  GROUP BY cluster
),
{present_states},
committed AS (
  SELECT cluster, group_id, evidence_partition AS place, max(last_commit_time) AS last_commit_time,
    count(DISTINCT CASE WHEN to_record_offset IS NULL THEN topic END) AS num_topics,
    {total CASE WHEN to_record_offset IS NULL THEN 1 ELSE 0 END} AS num_offsets
  FROM offset_history
  GROUP BY cluster, group_id, evidence_partition
),
joined AS (
  SELECT states.*, from_time AS since_time, last_commit_time, coalesce(num_topics, 0) AS num_topics,
    coalesce(num_offsets, 0) AS num_offsets, as_of_time, history_since_time,
    CASE WHEN dead_group_days IS NOT NULL
      THEN coalesce(num_members = 0 AND num_offsets > 0
        AND from_time < as_of_time - INTERVAL '1' DAY * dead_group_days
        AND last_commit_time < as_of_time - INTERVAL '1' DAY * dead_group_days, FALSE) END AS is_dead,
    {is_of_a_tool} AS is_tool
  FROM present_states AS states
  LEFT JOIN clusters ON clusters.cluster = states.cluster
  LEFT JOIN limits ON limits.cluster = states.cluster
  LEFT JOIN committed ON committed.cluster = states.cluster AND committed.group_id = states.group_id
    AND committed.place = states.evidence_partition
),
{ranked joined, coalesce(is_dead, FALSE) DESC, num_members NULLS LAST, last_commit_time NULLS LAST, group_id,
  from_record_offset}
