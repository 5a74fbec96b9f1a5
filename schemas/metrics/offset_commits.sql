-- Offset commits as recorded in the log: one row for each partition and commit.
-- num_rows: Number of rows.
-- num_tombstones: Tombstones: they delete a committed offset.
-- num_plain: Commits outside of transactions.
-- num_transactional: Commits that belong to a transaction.
-- share_with_leader_epoch: Share of commits that have the leader epoch of the last message read, 0 to 1; NULL if there
--   are no commits.
-- num_long_metadata: Commits with more than 4,096 characters of metadata, the default of offset.metadata.max.bytes.
-- limit num_long_metadata warning: 0
-- num_metadata_characters: Characters of metadata in all commits.
-- num_after_as_of: Records that are newer than the as-of time.
-- limit num_after_as_of info: 0
-- rows_failing_negative_offset: Commits of a negative offset. Brokers store them, clients ignore them.
-- rule negative_offset warning as odd_commits: committed_offset < 0
-- rows_failing_negative_partition: Commits for a partition number below 0.
-- rule negative_partition warning: partition < 0
-- rows_failing_clock_apart: Commits whose commit time is more than an hour later than the time of their record.
-- rule clock_apart warning: commit_time > record_time + INTERVAL '1' HOUR
SELECT count(*) AS num_rows, count(*) FILTER (WHERE is_tombstone) AS num_tombstones,
  count(*) FILTER (WHERE NOT is_tombstone AND is_transactional IS NOT TRUE) AS num_plain,
  count(*) FILTER (WHERE is_transactional) AS num_transactional,
  CAST(count(*) FILTER (WHERE NOT is_tombstone AND leader_epoch IS NOT NULL) AS DOUBLE) / NULLIF(count(*) FILTER
    (WHERE NOT is_tombstone), 0) AS share_with_leader_epoch,
  count(*) FILTER (WHERE length(metadata) > 4096) AS num_long_metadata,
  coalesce(sum(length(metadata)), 0) AS num_metadata_characters,
  count(*) FILTER (WHERE record_time > :as_of_time) AS num_after_as_of, :rules
FROM judged
