-- Elections of offsets partitions.
-- num_rows: Rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- rows_failing_order: Leader epochs that end before they begin.
-- rule order: last_offset < first_offset
WITH judged AS (
  SELECT * FROM coordinator_epochs WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, partition_leader_epoch)) AS
  num_repeated_keys,   :rules
FROM judged
