-- Odd commits, such as commits of an offset outside of the log, of a lower offset than before, while the group had no
--   members, or for a partition that no member owned.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_commits: Number of these commits.
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM commit_findings WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, topic, topic_id, partition, kind,
  day_time)) AS num_repeated_keys,   coalesce(sum(num_commits), 0) AS num_commits,   :rules
FROM judged
