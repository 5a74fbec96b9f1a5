-- Record types 4, 9, 15 and 18: topics of consumer groups (up to 4.0), share and streams groups.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
WITH judged AS (
  SELECT * FROM group_partition_metadata WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, record_offset,
  partition_leader_epoch)) AS num_repeated_keys
FROM judged
