-- Topics by name and id.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_without_partitions: Topics whose number of partitions is unknown.
WITH judged AS (
  SELECT * FROM topics WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, topic, topic_id, from_time)) AS
  num_repeated_keys,   count(*) FILTER (WHERE num_partitions IS NULL) AS num_without_partitions
FROM judged
