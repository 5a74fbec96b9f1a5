-- Each partition of the offsets topic: its records, how many of its commits are live, and whether an open transaction
-- prevents compaction of the rest. Partitions with the longest open transaction are first. Is the topic compacted?
-- reads: offset_commits offset_history transactions cluster_snapshots history_coverage topic_snapshots
--   +offset_commits: cluster
--   +rank
--   +offset_commits: offsets_partition
--   num_records bigint  Records of every kind that were read.
--   num_commits bigint  Offset commits that were read, tombstones included (commit_volume leaves them out).
--   commit_bytes bigint  Bytes of the keys and values of these commits, uncompressed.
--   num_live_offsets bigint  Committed offsets in effect now: what a full compaction would leave of these commits.
--   share_live double  num_live_offsets / num_commits. A small share means that much can be compacted. NULL: no
--       commits.
--   num_tombstones bigint  Tombstones of offset commits that were read.
--   num_old_tombstones bigint  Of these, tombstones older than delete_retention_ms. The cleaner removes them from the
--       log; the warehouse keeps them.
--   delete_retention_ms bigint  log.cleaner.delete.retention.ms of the newest snapshot, else Kafka's default of 24
--       hours.
--   complete_from_offset bigint  From this offset to the end no record is missing, so nothing was compacted there;
--       NULL: no record could be decoded.
--   complete_from_time timestamp  Time of the record at complete_from_offset.
--   compacted_records_estimate bigint  Offsets without a record: an upper bound of what was compacted away.
--   damaged_records bigint  Records that could not be read.
--   num_open_transactions bigint  Transactions without a marker. The cleaner compacts nothing after the oldest of
--       them.
--   oldest_open_time timestamp  Time of the first record of the oldest open transaction; NULL: no transaction is
--       open.
--   oldest_open_ms bigint  Age of the oldest open transaction, in milliseconds (whole seconds only); NULL: no
--       transaction is open.
--   +as_of
WITH {clusters},
{newest_settings},
known AS (
  SELECT clusters.cluster, as_of_time, history_since_time,
    coalesce({number_setting log.cleaner.delete.retention.ms}, 86400000) AS delete_retention_ms
  FROM clusters LEFT JOIN newest_settings ON newest_settings.cluster = clusters.cluster
),
placed AS (
  SELECT stretch.*,
    row_number() OVER (PARTITION BY cluster, offsets_partition
      ORDER BY first_offset DESC, last_offset DESC, complete_from_offset, complete_from_time) AS place
  FROM history_coverage AS stretch
),
covered AS (
  SELECT cluster, offsets_partition, {total num_records} AS num_records,
    {total compacted_records_estimate} AS compacted_records_estimate,
    {total damaged_records} AS damaged_records,
    max(CASE WHEN place = 1 THEN complete_from_offset END) AS complete_from_offset,
    max(CASE WHEN place = 1 THEN complete_from_time END) AS complete_from_time
  FROM placed
  GROUP BY cluster, offsets_partition
),
committed AS (
  SELECT cluster, offsets_partition, count(*) AS num_commits, {total record_bytes} AS commit_bytes
  FROM offset_commits
  GROUP BY cluster, offsets_partition
),
deleted AS (
  SELECT commits.cluster, offsets_partition, count(*) AS num_tombstones,
    {how_many 1000 * {seconds_between record_time, as_of_time} > delete_retention_ms} AS num_old_tombstones
  FROM offset_commits AS commits JOIN known ON known.cluster = commits.cluster
  WHERE is_tombstone
  GROUP BY commits.cluster, offsets_partition
),
live AS (
  SELECT cluster, evidence_partition, count(*) AS num_live_offsets
  FROM offset_history
  WHERE to_record_offset IS NULL
  GROUP BY cluster, evidence_partition
),
waiting AS (
  SELECT cluster, evidence_partition, count(*) AS num_open_transactions, min(first_time) AS oldest_open_time
  FROM transactions
  WHERE outcome = 'open'
  GROUP BY cluster, evidence_partition
),
joined AS (
  SELECT covered.*, as_of_time, history_since_time, delete_retention_ms, coalesce(num_commits, 0) AS num_commits,
    coalesce(commit_bytes, 0) AS commit_bytes, coalesce(num_live_offsets, 0) AS num_live_offsets,
    CAST(coalesce(num_live_offsets, 0) AS DOUBLE) / CAST(num_commits AS DOUBLE) AS share_live,
    coalesce(num_tombstones, 0) AS num_tombstones, coalesce(num_old_tombstones, 0) AS num_old_tombstones,
    coalesce(num_open_transactions, 0) AS num_open_transactions, oldest_open_time,
    1000 * {seconds_between oldest_open_time, as_of_time} AS oldest_open_ms
  FROM covered
  LEFT JOIN known ON known.cluster = covered.cluster
  LEFT JOIN committed ON committed.cluster = covered.cluster
    AND committed.offsets_partition = covered.offsets_partition
  LEFT JOIN deleted ON deleted.cluster = covered.cluster AND deleted.offsets_partition = covered.offsets_partition
  LEFT JOIN live ON live.cluster = covered.cluster AND live.evidence_partition = covered.offsets_partition
  LEFT JOIN waiting ON waiting.cluster = covered.cluster AND waiting.evidence_partition = covered.offsets_partition
),
{ranked joined, oldest_open_ms DESC NULLS LAST, commit_bytes DESC, offsets_partition}
