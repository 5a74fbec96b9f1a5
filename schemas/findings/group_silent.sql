-- Partitions with messages that wait, of groups that commit nothing any more, at the as-of time.
WITH {newest_verdicts},
silent AS (
  SELECT * FROM newest_verdicts WHERE own_verdict = 'STOP' AND rule = 'group_silent'
),
{events_before}
SELECT silent.group_id, topic, topic_id AS topic_id, partition, CAST(NULL AS TIMESTAMP) AS at_time, message,
  silent.since_time AS since_time, lag_floor AS messages_waiting, member_id AS member_id, client_id AS client_id,
  client_host AS client_host, num_of_group AS num_of_whole,
  what || ' (' || substring(CAST(start_time AS STRING), 1, 19) || ')' AS before,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(lag_floor, 0) AS DOUBLE) AS harm
FROM silent
LEFT JOIN followed ON followed.place = 1 AND followed.group_id = silent.group_id
  AND followed.since_time = silent.since_time
