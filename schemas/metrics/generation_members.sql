-- Members of each assignment.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM generation_members WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, assignment_offset, member_id,
  evidence_partition)) AS num_repeated_keys,   :rules
FROM judged
