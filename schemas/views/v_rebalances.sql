-- Rebalances: trigger, who joined and left, what moved, and how long partitions were unread, the longest first. Why did
-- this group rebalance?
-- reads: rebalances partition_moves generation_members membership_intervals group_state_intervals group_verdicts
--     history_coverage topic_snapshots
--   +rebalances: cluster
--   +rank
--   +rebalances: group_id group_type assignment_offset from_generation to_generation start_time is_start_exact
--       end_time is_provisional duration_ms outcome trigger mode members_joined members_departed num_members_before
--       num_members_after leader_before leader_after num_partitions num_moved num_returned num_withheld
--       num_maybe_revoking num_ready_to_migrate num_unknown_owned num_unowned is_follow_up unpersisted_rounds sync_ms
--       stopped_partition_ms assignor_before assignor_after trigger_detail unread_partition_low_ms
--       unread_partition_high_ms longest_unread_high_ms evidence_partition evidence_first_offset evidence_last_offset
--       confidence
--   changed_member_id string  A member that joined, left or restarted, the first by member id; NULL: none.
--   changed_client_id string  Client id of that member.
--   changed_client_host string  Host of that member.
--   commit_gap_ms bigint  The largest commit_gap_ms of its partition_moves; NULL: none is known.
--   is_complete boolean  TRUE: no record of the log is missing from evidence_first_offset to the end of the range
--       that was read.
--   unread_so_far_ms bigint  If the group has no members, and nobody has had partitions since this rebalance took
--       them from their owners: how long that was up to the as-of time, in whole seconds, summed over these
--       partitions. It counts in the rank if a member timed out, or the group is down. NULL: there are none.
--   +as_of
WITH {clusters},
gaps AS (
  SELECT cluster, group_id, assignment_offset, max(commit_gap_ms) AS commit_gap_ms
  FROM partition_moves
  GROUP BY cluster, group_id, assignment_offset
),
changes AS (
  SELECT cluster, group_id, assignment_offset, min(member_id) AS changed_member_id
  FROM generation_members
  WHERE change <> 'kept'
  GROUP BY cluster, group_id, assignment_offset
),
clients AS (
  SELECT cluster, group_id, member_id, min(client_id) AS client_id, min(client_host) AS client_host
  FROM membership_intervals
  GROUP BY cluster, group_id, member_id
),
newest_moves AS (
  SELECT placed.*
  FROM (
    SELECT move.*, row_number() OVER (
      PARTITION BY cluster, group_id, evidence_partition, coalesce(topic, topic_id), partition ORDER BY move_offset DESC
    ) AS place
    FROM partition_moves AS move
    WHERE coalesce(role, 'active') = 'active'
  ) AS placed
  WHERE place = 1 AND to_member_id IS NULL
),
waiting AS (
  SELECT move.cluster, move.group_id, move.assignment_offset,
    {capped_total 1000 * {seconds_between move_time, as_of_time}} AS unread_so_far_ms
  FROM newest_moves AS move
  JOIN group_state_intervals AS state ON state.cluster = move.cluster AND state.group_id = move.group_id
    AND state.evidence_partition = move.evidence_partition AND state.to_record_offset IS NULL AND state.num_members = 0
  JOIN clusters ON clusters.cluster = move.cluster
  WHERE move_time <= as_of_time
  GROUP BY move.cluster, move.group_id, move.assignment_offset
),
missed AS (
  SELECT rebalance.cluster, rebalance.group_id, rebalance.assignment_offset, rebalance.evidence_partition
  FROM rebalances AS rebalance
  JOIN membership_intervals AS stay ON stay.cluster = rebalance.cluster AND stay.group_id = rebalance.group_id
    AND stay.evidence_partition = rebalance.evidence_partition
    AND stay.to_record_offset BETWEEN rebalance.evidence_first_offset AND rebalance.evidence_last_offset
  WHERE stay.leave_kind IN ({timed_out})
  GROUP BY rebalance.cluster, rebalance.group_id, rebalance.assignment_offset, rebalance.evidence_partition
),
newest_verdicts AS (
  SELECT cluster, group_id, max(CASE WHEN own_verdict = 'DOWN' THEN 1 ELSE 0 END) AS is_down
  FROM (
    SELECT verdict.*, max(as_of_time) OVER (PARTITION BY cluster) AS newest_time
    FROM group_verdicts AS verdict
    WHERE partition IS NULL
  ) AS verdicts
  WHERE as_of_time = newest_time
  GROUP BY cluster, group_id
),
joined AS (
  SELECT rebalance.*, changes.changed_member_id,
    clients.client_id AS changed_client_id,
    clients.client_host AS changed_client_host, gaps.commit_gap_ms,
    rebalance.evidence_first_offset >= stretch.complete_from_offset AS is_complete, waiting.unread_so_far_ms,
    missed.group_id IS NOT NULL OR coalesce(newest_verdicts.is_down, 0) = 1 AS is_missed,
    clusters.as_of_time, clusters.history_since_time
  FROM rebalances AS rebalance
  LEFT JOIN clusters ON clusters.cluster = rebalance.cluster
  LEFT JOIN gaps ON {same_assignment gaps, rebalance}
  LEFT JOIN changes ON {same_assignment changes, rebalance}
  LEFT JOIN clients ON clients.cluster = rebalance.cluster AND clients.group_id = rebalance.group_id
    AND clients.member_id = changes.changed_member_id
  LEFT JOIN waiting ON {same_assignment waiting, rebalance}
  LEFT JOIN missed ON {same_assignment missed, rebalance} AND missed.evidence_partition = rebalance.evidence_partition
  LEFT JOIN newest_verdicts ON newest_verdicts.cluster = rebalance.cluster
    AND newest_verdicts.group_id = rebalance.group_id
  LEFT JOIN history_coverage AS stretch ON stretch.cluster = rebalance.cluster
    AND stretch.offsets_partition = rebalance.evidence_partition
    AND rebalance.evidence_last_offset BETWEEN stretch.first_offset AND stretch.last_offset
),
--- What nobody has yet has no upper bound, but it was unread for so long already. What was stopped on purpose is not
--- missed.
{ranked joined,
  CASE WHEN unread_so_far_ms IS NULL OR NOT is_missed THEN {wide unread_partition_high_ms}
    ELSE {wide coalesce(unread_partition_high_ms, 0)} + unread_so_far_ms END DESC NULLS LAST,
  stopped_partition_ms DESC NULLS LAST, duration_ms DESC NULLS LAST, group_id, assignment_offset, evidence_partition}
