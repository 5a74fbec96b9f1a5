-- Partitions whose committed offset lies below the start of their log, at the newest snapshot.
SELECT group_id, topic, partition, CAST(NULL AS TIMESTAMP) AS at_time,
  topic || '-' || CAST(partition AS STRING) || ': ' || CAST(lost_messages AS STRING)
    || CASE lost_messages WHEN 1 THEN ' message was deleted before the group read it'
      ELSE ' messages were deleted before the group read them' END AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(lost_messages AS DOUBLE) AS harm
FROM lag_points
WHERE cluster = :cluster AND lost_messages > 0
  AND snapshot_time = (SELECT max(snapshot_time) FROM lag_points WHERE cluster = :cluster)
