-- Leader epochs of the offsets partitions: when another broker became coordinator. The log does not show which one.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- rows_failing_order: Leader epochs that end before they begin.
-- rule order: last_offset < first_offset
WITH judged AS (
  SELECT * FROM coordinator_epochs WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, partition_leader_epoch)) AS
  num_repeated_keys,   :rules
FROM judged
