-- Offsets that were moved or deleted otherwise than by reading on or by expiry.
SELECT group_id, topic, CAST(NULL AS INT) AS partition, at_time,
  CAST(num_partitions AS STRING) || ' partitions of ' || coalesce(topic, '?') || ' ' || kind || ' by ' || actor || ': '
    || coalesce(CAST(messages_reread AS STRING), 'an unknown number of') || ' messages are read again, '
    || coalesce(CAST(messages_skipped AS STRING), 'an unknown number') || ' skipped' AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CASE WHEN kind = 'deleted' THEN 'info' ELSE 'warning' END AS severity,
  CAST(coalesce(messages_reread, 0) + coalesce(messages_skipped, 0) AS DOUBLE) AS harm
FROM offset_resets
WHERE cluster = :cluster AND kind <> 'expired'
