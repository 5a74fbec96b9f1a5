-- Record types 3, 11 and 17: epochs of consumer, share and streams groups.
-- num_rows: Rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_values: Records that are no deletions.
-- largest_record_bytes: Bytes of the largest record; NULL: no rows.
WITH judged AS (
  SELECT * FROM group_metadata WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, record_offset,
  partition_leader_epoch)) AS num_repeated_keys,   count(*) FILTER (WHERE NOT is_tombstone) AS num_values,
  max(record_bytes) AS largest_record_bytes
FROM judged
