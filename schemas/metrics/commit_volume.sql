-- How much each group commits, by hour. Each group is a slice.
-- num_commits: Number of commits.
-- num_bytes: Bytes of these commits.
-- share_unchanged: Share of commits that repeat the previous offset, 0 to 1.
-- limit share_unchanged info: 0 to 0.9
-- peak_per_minute: Number of commits in the busiest minute.
-- rows_failing_more_unchanged_than_all: Rows (hours) that count more commits of a repeated offset than commits.
-- rule more_unchanged_than_all critical: num_unchanged > num_commits
SELECT group_id AS slice, sum(num_commits) AS num_commits,
  sum(num_bytes) AS num_bytes,
  CAST(sum(num_unchanged) AS DOUBLE) / NULLIF(sum(num_commits), 0) AS share_unchanged,
  max(peak_per_minute) AS peak_per_minute, :rules
FROM judged
GROUP BY group_id
