-- When each member was in its group.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_open: Intervals without an end: members that are still in their group.
-- rows_failing_overlap: Intervals that end after the next interval of the same member id in the group begins.
-- rule overlap: next_from_offset IS NOT NULL AND (to_offset IS NULL OR to_offset > next_from_offset)
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
-- rows_failing_interval_order: Intervals that end before they begin, by offset.
-- rule interval_order: to_offset < from_offset
WITH judged AS (
  SELECT intervals.*, lead(from_offset) OVER (
      PARTITION BY cluster, evidence_partition, group_id, member_id ORDER BY from_offset, to_offset NULLS LAST
    ) AS next_from_offset
  FROM membership_intervals AS intervals WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, member_id, from_offset,
  evidence_partition)) AS num_repeated_keys,   count(*) FILTER (WHERE to_offset IS NULL) AS num_open,   :rules
FROM judged
