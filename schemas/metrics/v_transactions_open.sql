-- Open transactions that committed offsets: no COMMIT or ABORT marker yet.
-- num_open: Number of open transactions.
-- oldest_age_ms: Age of the oldest open transaction at the as-of time; NULL: no transaction is open, or its first
--   record has no time.
SELECT count(*) AS num_open, max(age_ms) AS oldest_age_ms
FROM judged
