-- How each group reads its partitions at the as-of time: the lag verdict, such as OK, STOP or REWIND.
-- num_bad: Partitions on which the group's committed offset stopped, does not advance or moved back (own_verdict is
--   STOP, STALL or REWIND).
-- num_unknown: Partitions whose own_verdict is UNKNOWN.
WITH judged AS (
  SELECT verdicts.*
  FROM group_verdicts AS verdicts
  WHERE cluster = :cluster AND as_of_time = (
    SELECT max(as_of_time) FROM group_verdicts WHERE cluster = :cluster AND as_of_time <= :as_of_time
  )
)
SELECT {keys}, count(*) FILTER (WHERE partition IS NOT NULL AND own_verdict IN ('STOP', 'STALL', 'REWIND')) AS num_bad,
  count(*) FILTER (WHERE partition IS NOT NULL AND own_verdict = 'UNKNOWN') AS num_unknown, :rules
FROM judged
