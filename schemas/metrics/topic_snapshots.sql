-- Start and end offsets of partitions at the time of each snapshot.
-- num_snapshots: Number of snapshots.
-- num_without_end: Partitions without an end offset in the snapshot.
-- rows_failing_end_before_start: Partitions whose end offset is below their start offset.
-- rule end_before_start warning: log_end_offset < log_start_offset
SELECT {keys}, count(DISTINCT captured_time) AS num_snapshots,
  count(*) FILTER (WHERE log_end_offset IS NULL) AS num_without_end, :rules
FROM judged
