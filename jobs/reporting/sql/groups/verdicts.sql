SELECT group_id, topic, partition, own_verdict, rule, reason, burrow_verdict, burrow_rule, lag, time_lag_ms,
  last_commit_time, since_time
FROM group_verdicts
WHERE cluster = {cluster} AND group_id IN ({groups}) AND partition IS NOT NULL
  AND as_of_time = (SELECT max(as_of_time) FROM group_verdicts WHERE cluster = {cluster} AND as_of_time <= {as_of})
QUALIFY row_number() OVER (
  PARTITION BY group_id
  ORDER BY CASE WHEN own_verdict = 'OK' THEN 1 ELSE 0 END, lag DESC NULLS LAST, topic, topic_id, partition
) <= {most}
ORDER BY group_id, CASE WHEN own_verdict = 'OK' THEN 1 ELSE 0 END, lag DESC NULLS LAST, topic, topic_id, partition
