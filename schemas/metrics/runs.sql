-- Counts of all runs, and whether they add up.
-- num_read: Records that ingest runs read.
-- num_decoded: Rows that these runs report as written to decoded tables.
-- num_counts_broken: Pairs of a run and an offsets partition whose counts do not add up: the records read should be
--   decoded + rejected + already known.
-- limit num_counts_broken critical: 0, rows by SELECT run_id, job, ingest_counts FROM runs WHERE cluster = :cluster AND
--   job = 'ingest'
-- num_rows_missing: Rows that runs report as written to decoded tables, minus the rows that these tables have. Below 0:
--   the tables have more rows than reported.
-- limit num_rows_missing critical: 0
-- share_rejected: Share of the records read that were rejected, 0 to 1; NULL if no records were read.
WITH counted AS (
  SELECT run_id, unnest(ingest_counts) AS counts FROM runs WHERE cluster = :cluster
),
judged AS (
  SELECT run_id, counts.read AS num_read, counts.decoded AS num_decoded, counts.rejected AS num_rejected,
    counts.already_known AS num_known
  FROM counted
)
SELECT coalesce(sum(num_read), 0) AS num_read,
  coalesce(sum(num_decoded), 0) AS num_decoded,
  count(*) FILTER (WHERE num_read <> num_decoded + num_rejected + num_known) AS num_counts_broken,
  coalesce(sum(num_decoded), 0) - (
    SELECT sum(number) FROM (
      SELECT count(*) AS number FROM offset_commits WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM classic_group_metadata WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM group_metadata WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM group_member_metadata WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM target_assignment_metadata WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM target_assignment_members WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM current_member_assignments WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM group_partition_metadata WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM group_regular_expressions WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM streams_group_topologies WHERE cluster = :cluster
      UNION ALL SELECT count(*) FROM transaction_markers WHERE cluster = :cluster
    ) AS written
  ) AS num_rows_missing,
  CAST(sum(num_rejected) AS DOUBLE) / NULLIF(sum(num_read), 0) AS share_rejected
FROM judged
