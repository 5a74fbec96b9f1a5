-- Commits by or for what should not commit.
SELECT group_id, topic, topic_id AS topic_id, partition, coalesce(first_time, last_time) AS at_time,
  last_time AS last_time,
  substring(CAST(coalesce(first_time, last_time) AS STRING), 1, 10) AS event,
  coalesce(topic, '?') || '-' || CAST(partition AS STRING) || ': ' || CAST(num_commits AS STRING)
    || CASE num_commits WHEN 1 THEN ' commit; ' ELSE ' commits; ' END || detail AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(num_messages, num_commits) AS DOUBLE) AS harm
FROM odd_commits
WHERE cluster = :cluster
