-- Which offsets partitions there are, which of them were never read, and which end early.
-- num_rows: Number of rows.
-- num_never_read: Partitions that no source had.
-- num_early: Partitions with groups that probably go on after the last record that was read.
SELECT count(*) AS num_rows, count(CASE WHEN reading = 'never_read' THEN 1 END) AS num_never_read,
  count(CASE WHEN early_end IS NOT NULL AND num_groups > 0 THEN 1 END) AS num_early
FROM offsets_partitions
WHERE cluster = :cluster
