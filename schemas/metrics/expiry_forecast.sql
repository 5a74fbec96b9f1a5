-- When committed offsets expire.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_expiring: Offsets that expire within expiring_soon_hours.
-- rows_failing_overdue: Offsets that were due to expire more than a day before the as-of time and are still stored.
-- rule overdue: expires_time < :as_of_time - INTERVAL '1' DAY AND NOT blocked_by_transaction
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM expiry_forecast WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, topic, topic_id, partition)) AS
  num_repeated_keys,   count(*) FILTER (WHERE expires_time < :expiring_soon_hours_after) AS num_expiring,   :rules
FROM judged
