-- Partitions that nobody read for longer than max_unread_ms: in a rebalance, by an upper bound, which is rounded up, to
-- tenths of a second; or while a group had no members, because the last ones timed out or since it was down at an
-- earlier as-of time, up to when somebody came.
WITH stays AS (
  SELECT states.*, lead(from_time) OVER of_group AS back_time,
    lead(num_members) OVER of_group AS num_back,
    lag(num_members) OVER of_group AS num_before
  FROM group_state_intervals AS states
  WHERE cluster = :cluster
  WINDOW of_group AS (PARTITION BY group_id, evidence_partition ORDER BY from_offset, from_time)
),
timed_out AS (
  SELECT DISTINCT group_id AS left_id, to_time AS left_time
  FROM membership_intervals
  WHERE cluster = :cluster AND leave_kind IN ({timed_out})
  UNION
  SELECT DISTINCT group_id, since_time FROM group_verdicts WHERE cluster = :cluster AND own_verdict = 'DOWN'
),
unread AS (
  SELECT group_id, coalesce(start_time, end_time) AS begin_time, coalesce(end_time, start_time) AS last_time,
    longest_unread_high_ms AS unread_ms, 'a partition may have been unread for up to ' AS words,
    coalesce(trigger_detail, trigger) AS what, evidence_partition, evidence_first_offset, evidence_last_offset,
    confidence
  FROM rebalances
  WHERE cluster = :cluster
  UNION ALL
  SELECT group_id, from_time, back_time, 1000 * {seconds_away},
    'the group had no members for ', 'then somebody came back', evidence_partition, evidence_first_offset,
    evidence_last_offset, 'likely'
  FROM stays
  JOIN timed_out ON left_id = group_id AND left_time = from_time
  WHERE num_members = 0 AND num_before > 0 AND num_back > 0
),
rounded AS (
  SELECT unread.*, CAST((unread_ms + 99 - (unread_ms + 99) % 100) / 100 AS BIGINT) AS tenths
  FROM unread
  WHERE unread_ms > :max_unread_ms
)
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, begin_time AS at_time,
  last_time AS last_time, substring(CAST(begin_time AS STRING), 1, 10) AS event,
  words
    || CASE WHEN unread_ms < 1000 THEN CAST(unread_ms AS STRING) || ' ms'
      ELSE CAST(CAST((tenths - tenths % 10) / 10 AS BIGINT) AS STRING) || '.' || CAST(tenths % 10 AS STRING) || ' s' END
    || ': ' || what AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(unread_ms AS DOUBLE) AS harm
FROM rounded
