-- How much groups commit, one slice a group.
-- num_commits: Commits.
-- num_bytes: Bytes of these.
-- share_unchanged: Share of commits that repeat the offset before, 0 to 1.
-- peak_per_minute: Commits in the busiest minute.
-- rows_failing_more_unchanged_than_all: Hours with more unchanged commits than commits.
-- rule more_unchanged_than_all: num_unchanged > num_commits
WITH judged AS (
  SELECT * FROM commit_volume WHERE cluster = :cluster
)
SELECT group_id AS slice,   sum(num_commits) AS num_commits,   sum(num_bytes) AS num_bytes,
  CAST(sum(num_unchanged) AS DOUBLE) / NULLIF(sum(num_commits), 0) AS share_unchanged,   max(peak_per_minute) AS
  peak_per_minute,   :rules
FROM judged
GROUP BY group_id
