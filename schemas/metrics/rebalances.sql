-- Rebalances of groups.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_unknown_trigger: Rebalances whose trigger no record shows.
-- num_assignments: Rebalances that produced an assignment.
-- longest_unread_high_ms: The longest time for which a partition may have had no reader (an upper bound); NULL if no
--   member stopped reading a partition.
-- rows_failing_negative_duration: Rebalances that end before they begin.
-- rule negative_duration: duration_ms < 0
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM rebalances WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, assignment_offset, evidence_partition)) AS
  num_repeated_keys,   count(*) FILTER (WHERE trigger = 'unknown') AS num_unknown_trigger,   count(*) FILTER
  (WHERE outcome <> 'emptied') AS num_assignments,   max(longest_unread_high_ms) AS longest_unread_high_ms,
  :rules
FROM judged
