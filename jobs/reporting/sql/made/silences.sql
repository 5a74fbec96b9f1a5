-- Partitions of which nothing is committed any more though messages wait, each since its last commit, by the newest
-- verdicts; of all partitions of a group in one row more.
WITH judged AS (
  SELECT group_id, place, lag, rule, coalesce(commit_time, since_time) AS since, own_verdict = 'STOP'
      AND rule IN ('group_down', 'group_silent', 'member_silent', 'silent') AS is_silent
  FROM places
  WHERE own_verdict IS NOT NULL AND rule NOT IN ('not_subscribed', 'nothing_held')
)
SELECT group_id, place, since, rule = 'group_down' AS is_down, lag, 1 AS num_partitions
FROM judged
WHERE is_silent AND since IS NOT NULL
UNION ALL
SELECT group_id, -1, max(since) FILTER (WHERE is_silent), bool_or(rule = 'group_down'),
  CAST(sum(CAST(lag AS DECIMAL(38, 0))) FILTER (WHERE is_silent) AS BIGINT), count(*)
FROM judged
GROUP BY group_id
HAVING (bool_and(is_silent) OR bool_or(is_silent AND rule IN ('group_down', 'group_silent')))
  AND max(since) FILTER (WHERE is_silent) IS NOT NULL
