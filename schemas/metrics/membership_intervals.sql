-- When each member was in its group.
-- num_open: Intervals without an end: members that are still in their group.
-- rows_failing_overlap: Intervals that end after the next interval of the same member id in the group begins.
-- rule overlap critical: next_from_record_offset IS NOT NULL AND (to_record_offset IS NULL OR to_record_offset >
--   next_from_record_offset)
WITH judged AS (
  SELECT intervals.*, lead(from_record_offset) OVER (
      PARTITION BY cluster, evidence_partition, group_id, member_id ORDER BY from_record_offset,
        to_record_offset NULLS LAST
    ) AS next_from_record_offset
  FROM membership_intervals AS intervals WHERE cluster = :cluster
)
SELECT {keys}, count(*) FILTER (WHERE to_record_offset IS NULL) AS num_open, :rules
FROM judged
