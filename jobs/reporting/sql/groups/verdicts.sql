SELECT group_id, topic, partition, own_verdict, rule, reason, burrow_verdict, burrow_rule, lag_floor, time_lag_ms,
  last_commit_time, since_time
FROM group_verdicts
WHERE cluster = {cluster} AND group_id IN ({groups}) AND partition IS NOT NULL
  AND as_of_time = (SELECT max(as_of_time) FROM group_verdicts WHERE cluster = {cluster})
QUALIFY row_number() OVER (
  PARTITION BY group_id ORDER BY (own_verdict = 'OK'), lag_floor DESC NULLS LAST, topic, partition
) <= {most}
ORDER BY group_id, (own_verdict = 'OK'), lag_floor DESC NULLS LAST, topic, partition
