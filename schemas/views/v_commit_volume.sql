-- How many records and bytes of each offsets partition the commits of each group take, most bytes first, and what
-- committing every 5 s would save. Who fills __consumer_offsets?
-- reads: commit_volume history_coverage topic_snapshots
--   +commit_volume: cluster
--   +rank
--   +commit_volume: offsets_partition group_id
--   from_time timestamp  The first hour with a commit of the group.
--   to_time timestamp  The last hour with a commit. Rates are over the time from from_time to the end of this hour,
--       without what lies before history_since_time or after as_of_time.
--   num_commits bigint  Offset commits, one for each partition of a request, without tombstones.
--   num_bytes bigint  Bytes of the keys and values of these commits, uncompressed.
--   share_of_bytes double  num_bytes / the bytes of all groups of the cluster.
--   commits_per_s double  Commits per second; NULL: less than a second is known.
--   bytes_per_day double  Bytes per 24 hours; NULL: less than a second is known.
--   share_unchanged double  Share of commits that repeat the previous offset, 0 to 1.
--   peak_per_minute bigint  Commits in the busiest minute.
--   num_at_5_s bigint  How many commits there would be if each partition were committed every 5 s.
--   share_saved_at_5_s double  Share of commits that committing every 5 s would save.
--   bytes_saved_per_day_at_5_s double  Bytes per day that this would save, at the mean size of commits; NULL: less
--       than a second is known.
--   +as_of
WITH {clusters},
summed AS (
  SELECT cluster, offsets_partition, group_id, min(hour_time) AS from_time, max(hour_time) AS to_time,
    {total num_commits} AS num_commits, {total num_bytes} AS num_bytes,
    {total num_unchanged} AS num_unchanged, max(peak_per_minute) AS peak_per_minute,
    {total num_at_5_s} AS num_at_5_s
  FROM commit_volume
  GROUP BY cluster, offsets_partition, group_id
),
-- The first and the last hour may lie in the history only in part. Without a history they count as whole hours.
observed AS (
  SELECT summed.*, as_of_time, history_since_time,
    CASE WHEN history_since_time > from_time THEN history_since_time ELSE from_time END AS observed_since_time,
    CASE WHEN as_of_time < to_time + INTERVAL '1' HOUR THEN as_of_time
      ELSE to_time + INTERVAL '1' HOUR END AS observed_until_time
  FROM summed LEFT JOIN clusters ON clusters.cluster = summed.cluster
),
timed AS (
  SELECT observed.*,
    CASE WHEN {seconds_between observed_since_time,
      observed_until_time} > 0 THEN CAST({seconds_between observed_since_time,
      observed_until_time} AS DOUBLE) END AS length_s,
    CAST(num_commits - num_at_5_s AS DOUBLE) / CAST(NULLIF(num_commits, 0) AS DOUBLE) AS share_saved_at_5_s,
    CAST(sum(num_bytes) OVER (PARTITION BY cluster) AS DOUBLE) AS bytes_of_cluster
  FROM observed
),
ranked AS (
  SELECT timed.*,
    CAST(num_bytes AS DOUBLE) / NULLIF(bytes_of_cluster, 0) AS share_of_bytes,
    CAST(num_commits AS DOUBLE) / length_s AS commits_per_s,
    CAST(num_bytes AS DOUBLE) * 86400 / length_s AS bytes_per_day,
    CAST(num_unchanged AS DOUBLE) / CAST(NULLIF(num_commits, 0) AS DOUBLE) AS share_unchanged,
    CAST(num_bytes AS DOUBLE) * 86400 / length_s * share_saved_at_5_s AS bytes_saved_per_day_at_5_s,
    {rank num_bytes DESC, num_commits DESC, offsets_partition, group_id} AS rank
  FROM timed
)
