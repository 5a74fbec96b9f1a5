-- Rebalances that may have left a partition unread for longer than max_unread_ms.
-- The time is an upper bound: it is rounded up, to tenths of a second.
WITH rounded AS (
  SELECT *, CAST((longest_unread_high_ms + 99 - (longest_unread_high_ms + 99) % 100) / 100 AS BIGINT) AS tenths
  FROM rebalances
  WHERE cluster = :cluster AND longest_unread_high_ms > :max_unread_ms
)
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  coalesce(start_time, end_time) AS at_time, coalesce(end_time, start_time) AS last_time,
  substring(CAST(coalesce(start_time, end_time) AS STRING), 1, 10) AS event,
  'a partition may have been unread for up to '
    || CASE WHEN longest_unread_high_ms < 1000 THEN CAST(longest_unread_high_ms AS STRING) || ' ms'
      ELSE CAST(CAST((tenths - tenths % 10) / 10 AS BIGINT) AS STRING) || '.' || CAST(tenths % 10 AS STRING) || ' s' END
    || ': '
    || coalesce(trigger_detail, trigger) AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(longest_unread_high_ms AS DOUBLE) AS harm
FROM rounded
