-- States of groups, from when to when.
-- rows due if: classic_group_metadata.num_values group_metadata.num_values
-- num_groups: Number of groups that ever had a state.
-- rows_failing_overlap: States that end after the next state of the group begins.
-- rule overlap critical: next_from_record_offset IS NOT NULL AND (to_record_offset IS NULL OR to_record_offset >
--   next_from_record_offset)
-- rows_failing_gap: States that end before the next one begins, though the group was not deleted and no records are
--   missing.
-- rule gap critical: to_record_offset < next_from_record_offset AND ended_by NOT IN ('deleted', 'coverage_hole')
WITH judged AS (
  SELECT intervals.*, lead(from_record_offset) OVER (
      PARTITION BY cluster, evidence_partition, group_id ORDER BY from_record_offset, to_record_offset NULLS LAST
    ) AS next_from_record_offset
  FROM group_state_intervals AS intervals WHERE cluster = :cluster
)
SELECT {keys}, count(DISTINCT group_id) AS num_groups, :rules
FROM judged
