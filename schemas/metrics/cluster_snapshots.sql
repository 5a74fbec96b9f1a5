-- Brokers, leaders of the offsets partitions and settings of the cluster at one time.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
WITH judged AS (
  SELECT * FROM cluster_snapshots WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,
  count(*) - count(DISTINCT (cluster, captured_time)) AS num_repeated_keys
FROM judged
