-- Record types 6, 12 and 20: the epoch of a new target assignment.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
WITH judged AS (
  SELECT * FROM target_assignment_metadata WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, record_offset,
  partition_leader_epoch)) AS num_repeated_keys
FROM judged
