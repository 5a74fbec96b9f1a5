-- Each change of the coordinator of an offsets partition, those that lost the most first: when, which brokers, how long
-- nothing was written, which records the new coordinator did not get, and what groups were doing. What did the failure
-- of a broker cost?
--- Among what is read, `offsets_partitions` is only named: a table has the name of the column of cluster_snapshots.
-- reads: offset_commits classic_group_metadata group_metadata group_member_metadata target_assignment_metadata
--     target_assignment_members current_member_assignments group_partition_metadata group_regular_expressions
--     streams_group_topologies transaction_markers rejected_records coordinator_epochs group_state_intervals rebalances
--     cluster_snapshots topic_snapshots history_coverage topic_snapshots offsets_partitions
--   +offset_commits: cluster
--   +rank
--   +offset_commits: offsets_partition
--   failover_time timestamp  Time of the first record of the new leader epoch; NULL: it has none.
--   old_leader_epoch int  The leader epoch before, of which records count; NULL: none is known.
--   new_leader_epoch int  The new leader epoch.
--   old_coordinator int  Id of the broker that was the coordinator before: by a snapshot that names the leader of
--       this leader epoch, or that lies between two records of it. NULL: none does.
--   new_coordinator int  Id of the broker that was the coordinator from then on, by the same rule. It may be the same
--       broker, elected again. NULL: no snapshot shows it.
--   last_record_time timestamp  Time of the last record before that still counts; NULL: none is known right before,
--       or it has no time.
--   gap_ms bigint  How long nothing was written: from last_record_time to failover_time, in milliseconds (whole
--       seconds only). NULL: one of them is unknown, part of the log between them was never read, or the new broker's
--       clock is behind.
--   is_gap_exact boolean  TRUE: no offset is missing between these two records. FALSE: records between them may have
--       been compacted, so the gap may have been shorter. NULL: gap_ms is NULL.
--   num_groups bigint  Groups that existed in the offsets partition then.
--   failure_case string  What the groups were doing when the old coordinator failed: the worst case that records
--       show; v_enums explains the values. NULL: the log does not show it.
--   failure_case_confidence string  How sure failure_case is: certain or likely; NULL: there is none.
--   num_records_lost bigint  Records of lower leader epochs at or after the first record of the new one: a copy of
--       the log has them, and the new coordinator's log has not. 0: no copy that was read has any. Records that the
--       cleaner removed do not count.
--   num_commits_lost bigint  Of these, offset commits.
--   num_generations_lost bigint  Generations of classic groups, and targets of others, among them that the new
--       coordinator does not know. Their numbers may be used again.
--   num_deletions_lost bigint  Of these, tombstones: what they deleted is back.
--   num_markers_lost bigint  Of these, COMMIT markers of transactions: their commits wait again.
--   num_groups_lost bigint  Groups of these records.
--   groups [string]  These groups, by name; NULL: none.
--   first_lost_time timestamp  Time of the earliest of these records; NULL: none, or without time.
--   last_lost_time timestamp  Time of the latest of these records; NULL: none, or without time.
--   evidence_partition int  The same as offsets_partition.
--   evidence_first_offset bigint  Offset of the first record of the new leader epoch.
--   evidence_last_offset bigint  Offset of the last overwritten record; none: evidence_first_offset.
--   +as_of
WITH {clusters},
{lost_records},
terms AS (
  SELECT cluster, offsets_partition, partition_leader_epoch AS new_leader_epoch, first_offset, last_offset,
    from_time AS failover_time,
    lag(partition_leader_epoch) OVER (PARTITION BY cluster, offsets_partition ORDER BY partition_leader_epoch)
      AS old_leader_epoch,
    lag(last_offset) OVER (PARTITION BY cluster, offsets_partition ORDER BY partition_leader_epoch) AS before_offset,
    lag(to_time) OVER (PARTITION BY cluster, offsets_partition ORDER BY partition_leader_epoch) AS last_record_time
  FROM coordinator_epochs
),
failovers AS (
  SELECT terms.*, coalesce(num_records_lost, 0) AS num_records_lost, coalesce(num_commits_lost, 0) AS num_commits_lost,
    coalesce(num_deletions_lost, 0) AS num_deletions_lost, coalesce(num_markers_lost, 0) AS num_markers_lost,
    coalesce(num_generations_lost, 0) AS num_generations_lost, coalesce(num_worked_by, 0) AS num_worked_by,
    coalesce(num_groups_lost, 0) AS num_groups_lost, groups, first_lost_time, last_lost_time,
    terms.offsets_partition AS evidence_partition, first_offset AS evidence_first_offset,
    coalesce(last_lost_offset, first_offset) AS evidence_last_offset
  FROM terms
  LEFT JOIN lost_records ON {same_failover lost_records, terms}
  WHERE old_leader_epoch IS NOT NULL OR num_records_lost > 0
),
captured AS (
  SELECT snapshots.cluster, snapshots.captured_time, map_from_entries(offsets_partitions) AS leaders
  FROM cluster_snapshots AS snapshots
  WHERE offsets_partitions IS NOT NULL
),
led AS (
  SELECT epochs.cluster, epochs.offsets_partition, epochs.partition_leader_epoch,
    CASE WHEN coalesce(array_position(map_keys(leaders), epochs.offsets_partition), 0) > 0
      THEN leaders[epochs.offsets_partition] END AS leader
  FROM coordinator_epochs AS epochs
  JOIN captured ON captured.cluster = epochs.cluster
  LEFT JOIN topic_snapshots AS ends ON ends.cluster = epochs.cluster AND ends.topic = '__consumer_offsets'
    AND ends.partition = epochs.offsets_partition AND ends.captured_time = captured.captured_time
  WHERE ends.leader_epoch = epochs.partition_leader_epoch
    OR (ends.leader_epoch IS NULL AND captured.captured_time BETWEEN from_time AND to_time)
),
-- An epoch has one leader. If snapshots disagree, one of them is of another time than it says.
leaders AS (
  SELECT cluster, offsets_partition, partition_leader_epoch, max(leader) AS leader
  FROM led
  GROUP BY cluster, offsets_partition, partition_leader_epoch
  HAVING max(leader) = min(leader)
),
there AS (
  SELECT DISTINCT terms.cluster, offsets_partition, new_leader_epoch, first_offset, last_offset, states.group_id,
    states.state
  FROM terms
  JOIN group_state_intervals AS states ON states.cluster = terms.cluster
    AND states.evidence_partition = terms.offsets_partition AND states.from_record_offset < first_offset
    AND (states.to_record_offset IS NULL OR states.to_record_offset >= first_offset)
),
next_rebalances AS (
  SELECT there.cluster, offsets_partition, new_leader_epoch, there.group_id, min(assignment_offset) AS next_offset
  FROM there
  JOIN rebalances AS after ON after.cluster = there.cluster AND after.group_id = there.group_id
    AND after.evidence_partition = there.offsets_partition AND assignment_offset BETWEEN first_offset AND last_offset
  GROUP BY there.cluster, offsets_partition, new_leader_epoch, there.group_id
),
first_commits AS (
  SELECT cluster, offsets_partition, partition_leader_epoch, group_id, min(record_offset) AS commit_offset
  FROM offset_commits
  WHERE NOT is_tombstone
  GROUP BY cluster, offsets_partition, partition_leader_epoch, group_id
),
-- Members that go on commit to the new coordinator; those of a round that it does not know must join again first.
judged AS (
  SELECT there.cluster, there.offsets_partition, there.new_leader_epoch, there.group_id, state,
    CASE WHEN commit_offset <= last_offset THEN next_offset IS NULL OR commit_offset < next_offset
      ELSE state = 'Empty' AND next_offset IS NULL END AS is_stable
  FROM there
  LEFT JOIN next_rebalances ON {same_failover next_rebalances, there} AND next_rebalances.group_id = there.group_id
  LEFT JOIN first_commits ON there.cluster = first_commits.cluster
    AND there.offsets_partition = first_commits.offsets_partition
    AND there.new_leader_epoch = first_commits.partition_leader_epoch
    AND first_commits.group_id = there.group_id
),
of_groups AS (
  SELECT cluster, offsets_partition, new_leader_epoch, count(DISTINCT group_id) AS num_groups,
    {how_many state = 'PreparingRebalance'} AS num_joining,
    {how_many NOT coalesce(is_stable, FALSE)} AS num_unsure
  FROM judged
  GROUP BY cluster, offsets_partition, new_leader_epoch
),
joined AS (
  SELECT failovers.*, as_of_time, history_since_time, coalesce(num_groups, 0) AS num_groups,
    old.leader AS old_coordinator, new.leader AS new_coordinator,
    CASE WHEN stretch.cluster IS NOT NULL AND failover_time >= last_record_time
      THEN 1000 * {seconds_between last_record_time, failover_time} END AS gap_ms,
    CASE WHEN num_worked_by > 0 THEN 'after_sync'
      WHEN num_generations_lost > 0 THEN 'awaiting_sync'
      WHEN num_joining > 0 THEN 'joining'
      WHEN num_unsure = 0 THEN 'stable' END AS failure_case
  FROM failovers
  LEFT JOIN clusters ON clusters.cluster = failovers.cluster
  LEFT JOIN of_groups ON {same_failover of_groups, failovers}
  LEFT JOIN leaders AS old ON old.cluster = failovers.cluster AND old.offsets_partition = failovers.offsets_partition
    AND old.partition_leader_epoch = failovers.old_leader_epoch
  LEFT JOIN leaders AS new ON failovers.cluster = new.cluster
    AND failovers.offsets_partition = new.offsets_partition AND failovers.new_leader_epoch = new.partition_leader_epoch
  LEFT JOIN history_coverage AS stretch ON stretch.cluster = failovers.cluster
    AND stretch.offsets_partition = failovers.offsets_partition AND before_offset >= stretch.first_offset
    AND failovers.first_offset <= stretch.last_offset
),
ranked AS (
  SELECT joined.*, CASE WHEN gap_ms IS NOT NULL THEN evidence_first_offset = before_offset + 1 END AS is_gap_exact,
    CASE failure_case WHEN 'after_sync' THEN 'certain'
      ELSE CASE WHEN failure_case IS NOT NULL THEN 'likely' END END AS failure_case_confidence,
    {rank num_generations_lost + num_commits_lost + num_markers_lost DESC, num_records_lost DESC,
      failover_time DESC NULLS LAST, offsets_partition, new_leader_epoch DESC} AS rank
  FROM joined
)
