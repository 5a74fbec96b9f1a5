-- Each partition of each group as of the newest audit, the worst first: committed offset, end of the log, lag, owner
-- and verdict. `groupscope status GROUP` shows it. Which partitions wait, and who owns them?
-- reads: group_verdicts offset_history ownership_intervals topic_snapshots
--   +group_verdicts: cluster
--   +rank
--   +group_verdicts: group_id group_type topic topic_id partition
--   own_verdict string  Lag verdict by Groupscope's rules; NULL: none, as the group has no committed offset and its
--       members own no partition.
--   rule string  The rule that decided; v_enums explains the values.
--   reason string  Why own_verdict has this value, in words with numbers.
--   +group_verdicts: since_time lag time_lag_ms last_commit_time
--   +offset_history: committed_offset
--   +topic_snapshots: log_end_offset
--   end_time timestamp  When the snapshot with log_end_offset was captured; NULL: none has it.
--   owner_member_id string  Member that owns the partition; NULL: none, or not known.
--   owner_client_id string  Client id of that member's connection.
--   owner_client_host string  That member's address as Java prints it.
--   +group_verdicts: as_of_time
WITH {judged_now},
committed AS (
  SELECT held.*, row_number() OVER (PARTITION BY cluster, group_id, evidence_partition, coalesce(topic, topic_id),
    partition
      ORDER BY from_record_offset DESC) AS place
  FROM {held_now offset_history} AS held
),
owned AS (
  SELECT held.*, row_number() OVER (PARTITION BY cluster, group_id, evidence_partition, coalesce(topic, topic_id),
    partition
      ORDER BY from_record_offset DESC, member_id) AS place
  FROM {held_now ownership_intervals} AS held
  WHERE phase <> 'held' AND group_type <> 'share' AND coalesce(role, 'active') = 'active'
),
ends AS (
  SELECT cluster, topic, topic_id, partition, captured_time, log_end_offset,
    row_number() OVER (PARTITION BY cluster, topic, partition ORDER BY captured_time DESC) AS place
  FROM topic_snapshots
  JOIN newest ON of_cluster = cluster
  WHERE captured_time <= newest_time AND log_end_offset IS NOT NULL
),
joined AS (
  SELECT judged.*, committed_offset, ends.log_end_offset, ends.captured_time AS end_time,
    member_id AS owner_member_id, client_id AS owner_client_id, client_host AS owner_client_host
  FROM judged
  LEFT JOIN committed ON committed.cluster = judged.cluster AND committed.group_id = judged.group_id
    AND committed.evidence_partition = judged.evidence_partition AND committed.partition = judged.partition
    AND coalesce(committed.topic, committed.topic_id) = coalesce(judged.topic, judged.topic_id) AND committed.place = 1
  LEFT JOIN owned ON owned.cluster = judged.cluster AND owned.group_id = judged.group_id
    AND owned.evidence_partition = judged.evidence_partition AND owned.partition = judged.partition
    AND coalesce(owned.topic, owned.topic_id) = coalesce(judged.topic, judged.topic_id) AND owned.place = 1
  LEFT JOIN ends ON ends.cluster = judged.cluster AND ends.topic = judged.topic AND ends.partition = judged.partition
    AND (ends.topic_id IS NULL OR judged.topic_id IS NULL OR ends.topic_id = judged.topic_id) AND ends.place = 1
  WHERE judged.partition IS NOT NULL
),
--- Groups without a verdict are last.
{ranked joined, CASE own_verdict {worst_first} END NULLS LAST, lag DESC NULLS LAST, group_id, topic NULLS FIRST,
  topic_id NULLS FIRST, partition}
