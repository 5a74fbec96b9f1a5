-- Lag of groups at each snapshot, and the partition with the highest.
SELECT group_id, snapshot_time, {total_lag} AS lag, min(lag) AS low, max(lag) AS high,
  count(*) - count(lag) AS num_unknown, arg_max(coalesce(topic, topic_id, '?'), lag) AS name,
  arg_max(partition, lag) AS partition, min(time_lag_ms) AS time_low, max(time_lag_ms) AS time_high,
  {total_end} AS log_end, count(log_end_offset) AS num_ends
FROM lag_points
WHERE cluster = {cluster} AND group_id IN ({groups}) AND snapshot_time <= {as_of}
GROUP BY group_id, snapshot_time
