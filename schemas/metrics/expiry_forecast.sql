-- When committed offsets expire.
-- num_expiring: Offsets that expire within expiring_soon_hours.
-- rows_failing_overdue: Offsets that were due to expire more than a day before the as-of time and are still stored.
-- rule overdue warning: expires_time < :as_of_time - INTERVAL '1' DAY AND NOT blocked_by_transaction
SELECT {keys}, count(*) FILTER (WHERE expires_time < :expiring_soon_hours_after) AS num_expiring, :rules
FROM judged
