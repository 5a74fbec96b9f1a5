SELECT count(DISTINCT captured_time) AS num_snapshots, max(captured_time) AS last_time
FROM topic_snapshots
WHERE cluster = {cluster}
