-- What happened to a group, in the order of time: what is said of a rebalance is in its own row.
WITH states AS (
  SELECT group_id, group_type, to_time, ended_by, state, from_record_offset, to_record_offset, evidence_partition,
    lead(group_type) OVER (PARTITION BY group_id ORDER BY from_record_offset, to_record_offset) AS next_type
  FROM group_state_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups})
),
epochs AS (
  SELECT offsets_partition, partition_leader_epoch, first_offset, from_time,
    lag(partition_leader_epoch) OVER (PARTITION BY offsets_partition ORDER BY partition_leader_epoch) AS epoch_before
  FROM coordinator_epochs
  WHERE cluster = {cluster}
),
stays AS (
  SELECT group_id, group_instance_id, member_id, from_record_offset, to_record_offset, to_time, away_since_time,
    leave_kind
  FROM membership_intervals
  WHERE cluster = {cluster} AND group_id IN ({groups}) AND group_instance_id IS NOT NULL
)
SELECT group_id, start_time AS at_time, 'rebalance' AS kind, NULL AS sentence, turn AS rebalance,
  assignment_offset AS event_offset
FROM turns
UNION ALL
SELECT group_id, to_time, ended_by,
  CASE ended_by WHEN 'converted' THEN concat(group_type, ' → ', next_type)
    ELSE concat('the group was ', coalesce(state, 'in an unknown state'), ' when it was deleted') END,
  -1, to_record_offset
FROM states
WHERE ended_by IN ('converted', 'deleted') AND to_time IS NOT NULL
UNION ALL
SELECT DISTINCT states.group_id, epochs.from_time, 'coordinator_failover',
  concat('leader epoch ', epoch_before, ' → ', partition_leader_epoch, ' of __consumer_offsets-', offsets_partition), -1,
  first_offset
FROM epochs
JOIN states ON states.evidence_partition = epochs.offsets_partition AND states.from_record_offset < epochs.first_offset
  AND (states.to_record_offset IS NULL OR epochs.first_offset <= states.to_record_offset)
WHERE epoch_before IS NOT NULL AND epochs.from_time IS NOT NULL
UNION ALL
SELECT gone.group_id, coalesce(gone.away_since_time, gone.to_time), 'static_restart',
  concat('instance ', gone.group_instance_id, ' restarted: ', gone.member_id, ' → ', back.member_id), -1,
  gone.to_record_offset
FROM stays AS gone
JOIN stays AS back ON back.group_id = gone.group_id AND back.group_instance_id = gone.group_instance_id
  AND back.from_record_offset = gone.to_record_offset
WHERE gone.leave_kind = 'static_replaced' AND gone.to_time IS NOT NULL
UNION ALL
SELECT group_id, since, 'static_away',
  concat(
    'static member ', group_instance_id, ' is away since then, until the end of the log: ', member_id,
    CASE count(place) WHEN 0 THEN '' WHEN 1 THEN '; nobody reads its only partition'
      ELSE concat('; nobody reads its ', count(place), ' partitions') END
  ), -1, event_offset
FROM away
GROUP BY group_id, since, group_instance_id, member_id, event_offset
UNION ALL
SELECT group_id, at_time, 'reset',
  concat(
    'offsets of ', num_partitions, ' partition', CASE num_partitions WHEN 1 THEN '' ELSE 's' END, ' of ',
    coalesce(topic, 'an unnamed topic'),
    CASE kind
      WHEN 'to_earliest' THEN ' were moved to the beginning of the log'
      WHEN 'to_latest' THEN ' were moved to the end of the log'
      WHEN 'shift' THEN ' were all moved by the same number of messages'
      WHEN 'to_offset' THEN ' were moved to other offsets'
      WHEN 'expired' THEN ' expired'
      WHEN 'deleted' THEN ' were deleted'
      ELSE ' followed the log, which was cut or made anew'
    END,
    CASE actor
      WHEN 'admin_likely' THEN ', probably by an admin tool'
      WHEN 'member' THEN ' by a member'
      WHEN 'transaction' THEN ' by a transaction'
      WHEN 'coordinator' THEN ' by the broker itself'
      ELSE ''
    END,
    '; ', change,
    CASE WHEN messages_reread > 0 THEN format('; messages read again: {:,}', messages_reread) ELSE '' END,
    CASE WHEN messages_skipped > 0 THEN format('; messages skipped: {:,}', messages_skipped) ELSE '' END
  ), -1, evidence_first_offset
FROM resets
UNION ALL
SELECT silences.group_id, since, 'silence',
  concat(
    'no commit since then in ',
    CASE WHEN silences.place >= 0 THEN concat(name, '-', partition)
      WHEN num_partitions = 1 THEN 'its only partition' ELSE concat('all ', num_partitions, ' partitions') END,
    CASE silences.lag WHEN 1 THEN '; 1 message waits' ELSE coalesce(format('; {:,} messages wait', silences.lag), '') END
  ), -1, NULL
FROM silences
LEFT JOIN places ON places.group_id = silences.group_id AND places.place = silences.place
WHERE silences.place < 0
  OR silences.group_id NOT IN (SELECT group_id FROM silences AS whole WHERE whole.place < 0)
