SELECT captured_time, topic, partition, log_start_offset, log_end_offset
FROM topic_snapshots
WHERE cluster = {cluster}
ORDER BY captured_time DESC, topic, partition
