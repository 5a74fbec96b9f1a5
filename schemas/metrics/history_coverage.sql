-- Which offsets of the log were read, by offsets partition.
-- rows due if: runs.num_decoded
-- num_records: Number of records read.
-- num_holes: Ranges of offsets that were never read, between ranges that were.
-- limit num_holes info as history_hole: 0
-- damaged_records: Damaged records of which no other copy of the log has an undamaged one.
-- limit damaged_records warning as damaged_records: 0
-- compacted_records: Offsets without a record: compaction removed up to this number of records before they were read.
-- share_known: Share of the offsets from first to last that have a record, 0 to 1.
-- limit share_known critical: 0 to 1
-- rows_failing_overlap: Ranges that begin before the previous range ends.
-- rule overlap critical: first_offset <= previous_last_offset
WITH judged AS (
  SELECT coverage.*, lag(last_offset) OVER (
      PARTITION BY cluster, offsets_partition ORDER BY first_offset
    ) AS previous_last_offset
  FROM history_coverage AS coverage WHERE cluster = :cluster
)
SELECT CAST(offsets_partition AS STRING) AS slice, sum(num_records) AS num_records,
  count(*) - 1 AS num_holes,
  sum(damaged_records) AS damaged_records,
  sum(compacted_records_estimate) AS compacted_records,
  CAST(sum(num_records) AS DOUBLE) / (CAST(max(last_offset) AS DOUBLE) - min(first_offset) + 1) AS share_known, :rules
FROM judged
GROUP BY offsets_partition
