-- Groups with more than needless_commits_per_day commits in the last 24 hours that change nothing or come too often.
WITH daily AS (
  SELECT group_id, offsets_partition, CAST(sum(num_commits) AS BIGINT) AS num_commits,
    CAST(sum(num_unchanged) AS BIGINT) AS num_unchanged, CAST(sum(num_at_5_s) AS BIGINT) AS num_at_5_s,
    CAST(sum(num_bytes) AS BIGINT) AS num_bytes
  FROM commit_volume
  WHERE cluster = :cluster AND hour_time >= :as_of_time - INTERVAL '24' HOUR AND hour_time <= :as_of_time
  GROUP BY group_id, offsets_partition
)
SELECT {about_group group_id}, {lasting},
  CAST(num_commits AS STRING) || ' commits in 24 hours, ' || CAST(num_unchanged AS STRING)
    || ' of them with the same offset as before; one commit of each partition every 5 s would be '
    || CAST(num_at_5_s AS STRING) AS message,
  {records offsets_partition, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)}, 'certain' AS confidence, {harm num_bytes}
FROM daily
WHERE num_commits > :needless_commits_per_day
  AND (num_unchanged * 10 > num_commits * 9 OR num_commits > num_at_5_s * 2)
