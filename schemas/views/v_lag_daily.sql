-- Lag of each group and topic by day, in messages and in time, newest day first.
-- reads: lag_days
--   +lag_days: cluster day_time group_id group_type topic topic_id num_points num_minutes num_minutes_unknown
--       lag_p50 lag_p95 lag_p99 lag_max time_lag_ms_p50 time_lag_ms_p95 time_lag_ms_p99
--       time_lag_ms_max
SELECT {columns}
FROM lag_days
ORDER BY cluster, day_time DESC, lag_p95 DESC NULLS LAST, lag_max DESC NULLS LAST, group_id,
  topic NULLS LAST, topic_id NULLS LAST
