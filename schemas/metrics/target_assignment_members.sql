-- Record types 7, 13 and 21: the target of each member, written for members whose target changed.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
WITH judged AS (
  SELECT * FROM target_assignment_members WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, record_offset,
  partition_leader_epoch)) AS num_repeated_keys
FROM judged
