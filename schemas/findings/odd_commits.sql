-- Commits by or for what should not commit.
SELECT group_id, topic, topic_id AS topic_id, partition, coalesce(first_time, last_time) AS at_time,
  last_time AS last_time,
  substring(CAST(coalesce(first_time, last_time) AS STRING), 1, 10) AS event,
  coalesce(topic, '?') || '-' || CAST(partition AS STRING) || ': ' 
    || {counted num_commits, ' commit; ', ' commits; '} || detail AS message,
  {evidence}, {harm coalesce(num_messages, num_commits)}
FROM odd_commits
WHERE cluster = :cluster
