-- States of groups, from when to when.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_groups: Number of groups that ever had a state.
-- rows_failing_overlap: States that end after the next state of the group begins.
-- rule overlap: next_from_offset IS NOT NULL AND (to_offset IS NULL OR to_offset > next_from_offset)
-- rows_failing_gap: States that end before the next one begins, though the group was not deleted and no records are
--   missing.
-- rule gap: to_offset < next_from_offset AND ended_by NOT IN ('deleted', 'coverage_hole')
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
-- rows_failing_interval_order: Intervals that end before they begin, by offset.
-- rule interval_order: to_offset < from_offset
WITH judged AS (
  SELECT intervals.*, lead(from_offset) OVER (
      PARTITION BY cluster, evidence_partition, group_id ORDER BY from_offset, to_offset NULLS LAST
    ) AS next_from_offset
  FROM group_state_intervals AS intervals WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, from_offset, state,
  evidence_partition)) AS num_repeated_keys,   count(DISTINCT group_id) AS num_groups,   :rules
FROM judged
