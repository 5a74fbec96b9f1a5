-- Topics of partitions that have an owner and of which only the id is known.
SELECT group_id, CAST(NULL AS STRING) AS topic, topic_id AS topic_id, partition, {lasting},
  'topic id ' || coalesce(topic_id, '?') || ': no record or snapshot has its name' AS message, {evidence}, {harm 1}
FROM {held ownership_intervals} AS stays
WHERE topic IS NULL
