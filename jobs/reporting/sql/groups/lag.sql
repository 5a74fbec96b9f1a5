SELECT group_id, snapshot_time, {total_lag} AS lag, count(*) AS num_partitions,
  count(*) - count(lag) AS num_unknown, max(time_lag_ms) AS time_lag_ms,
  min(unknown_reason) AS unknown_reason
FROM lag_points
WHERE cluster = {cluster} AND group_id IN ({groups}) AND snapshot_time <= {as_of}
GROUP BY group_id, snapshot_time
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY snapshot_time DESC) <= {most}
ORDER BY group_id, snapshot_time
