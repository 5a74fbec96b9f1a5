-- Rebalances that may have left a partition unread for longer than max_unread_ms.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  coalesce(end_time, start_time) AS at_time,
  'a partition may have been unread for '
      || CAST(CAST((longest_unread_high_ms - longest_unread_high_ms % 1000) / 1000 AS BIGINT) AS STRING) || ' s: '
    || coalesce(trigger_detail, trigger) AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(longest_unread_high_ms AS DOUBLE) AS harm
FROM rebalances
WHERE cluster = :cluster AND longest_unread_high_ms > :max_unread_ms
