-- Time lag of groups by minute.
-- num_rows: Number of rows.
-- num_points_apart: Difference between the points that these minutes count and the rows of lag_points; 0 if the two
--   tables agree.
-- limit num_points_apart critical: 0
-- longest_time_lag_ms: The largest time lag, among values that later data cannot change; NULL if none is known.
-- rows_failing_other_day: Minutes outside the day of their row.
-- rule other_day critical: minute_time < day_time OR minute_time >= day_time + INTERVAL '1' DAY
SELECT count(*) AS num_rows,
  abs(coalesce(sum(num_points), 0) - (SELECT count(*) FROM lag_points WHERE cluster = :cluster)) AS num_points_apart,
  max(time_lag_ms_max) AS longest_time_lag_ms, :rules
FROM judged
