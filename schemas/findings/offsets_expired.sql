-- Offsets that expired, with messages left to read, or an unknown number of them.
SELECT group_id, topic, topic_id AS topic_id, CAST(NULL AS INT) AS partition, partitions AS partitions, at_time,
  CASE num_partitions WHEN 1 THEN 'the offset of ' ELSE 'the offsets of ' END
    || {counted num_partitions, ' partition of ', ' partitions of '} || coalesce(topic, '?') || ' expired: '
    || coalesce(CAST(messages_reread AS STRING), 'an unknown number of')
    || CASE messages_reread WHEN 1 THEN ' message' ELSE ' messages' END || ' may be read again, '
    || coalesce(CAST(messages_skipped AS STRING), 'an unknown number') || ' skipped' AS message,
  {evidence},
  CASE WHEN messages_reread > 0 OR messages_skipped > 0 THEN 'warning' ELSE 'info' END AS severity,
  CAST(coalesce(messages_reread, 0) AS DOUBLE) + CAST(coalesce(messages_skipped, 0) AS DOUBLE) AS harm
FROM offset_resets
WHERE cluster = :cluster AND kind = 'expired'
  AND (messages_reread IS NULL OR messages_reread > 0 OR messages_skipped IS NULL OR messages_skipped > 0)
