-- What of the log is known, by offsets partition.
-- num_records: Records known.
-- num_holes: Parts of the log between known ones that were never seen.
-- damaged_records: Records in bytes that no copy could give.
-- compacted_records: Offsets without a record: compacted away before they were read, at most.
-- share_known: Share of the offsets between first and last that have a known record, 0 to 1.
-- rows_failing_overlap: Parts that begin before the one before ends.
-- rule overlap: first_offset <= previous_last_offset
WITH judged AS (
  SELECT coverage.*, lag(last_offset) OVER (
      PARTITION BY cluster, offsets_partition ORDER BY first_offset
    ) AS previous_last_offset
  FROM history_coverage AS coverage WHERE cluster = :cluster
)
SELECT CAST(offsets_partition AS STRING) AS slice,   sum(num_records) AS num_records,   count(*) - 1 AS num_holes,
  sum(damaged_records) AS damaged_records,   sum(compacted_records_estimate) AS compacted_records,
  CAST(sum(num_records) AS DOUBLE) / (max(last_offset) - min(first_offset) + 1) AS share_known,   :rules
FROM judged
GROUP BY offsets_partition
