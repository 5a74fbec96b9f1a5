-- Lag by day.
-- num_points_apart: Difference between the points that these days count and the rows of lag_points; 0 if the two tables
--   agree.
-- limit num_points_apart critical: 0
-- rows_failing_rank_order: Days on which a percentile of the lag in messages (lag) or of the time lag is above a
--   higher percentile, or above the maximum.
-- rule rank_order critical: lag_p50 > lag_p95 OR lag_p95 > lag_p99 OR lag_p99 > lag_max
--   OR time_lag_ms_p50 > time_lag_ms_p95 OR time_lag_ms_p95 > time_lag_ms_p99 OR time_lag_ms_p99 >
--   time_lag_ms_max
SELECT {keys},
  abs(coalesce(sum(num_points), 0) - (SELECT count(*) FROM lag_points WHERE cluster = :cluster)) AS num_points_apart,
  :rules
FROM judged
