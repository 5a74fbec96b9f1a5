-- Partitions that moved from one member to another, or that no member read during a rebalance.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- rows_failing_unread_bounds: Moves whose lower bound of unread time is above the upper one.
-- rule unread_bounds: unread_low_ms > unread_high_ms
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM partition_moves WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, assignment_offset, topic, topic_id,
  partition, role, kind, from_member_id, to_member_id, move_offset, evidence_partition)) AS num_repeated_keys,
  :rules
FROM judged
