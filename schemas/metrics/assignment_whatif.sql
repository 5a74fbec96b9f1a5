-- What each assignor would assign to the group in its current state.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM assignment_whatif WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, group_protocol, assignor)) AS
  num_repeated_keys,   :rules
FROM judged
