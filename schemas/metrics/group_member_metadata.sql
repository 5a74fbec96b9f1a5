-- Record types 5, 10 and 19: members of consumer, share and streams groups and what they subscribe to.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
WITH judged AS (
  SELECT * FROM group_member_metadata WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, offsets_partition, record_offset,
  partition_leader_epoch)) AS num_repeated_keys
FROM judged
