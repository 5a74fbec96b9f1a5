-- Partitions with messages to read that nobody seems to read, at the as-of time.
WITH {newest_verdicts}
SELECT group_id, topic, topic_id AS topic_id, partition, CAST(NULL AS TIMESTAMP) AS at_time, message,
  since_time AS since_time, lag_floor AS messages_waiting, member_id AS member_id, client_id AS client_id,
  client_host AS client_host,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(lag_floor, 0) AS DOUBLE) AS harm
FROM newest_verdicts
WHERE rule = 'no_reader'
