-- Transactions on offsets that have no marker so far.
-- num_open: How many.
-- oldest_age_ms: Age of the oldest at the as-of time; NULL: none is open, or its record has no time.
WITH judged AS (
  SELECT * FROM v_transactions_open WHERE cluster = :cluster
)
SELECT count(*) AS num_open,
  max(age_ms) AS oldest_age_ms
FROM judged
