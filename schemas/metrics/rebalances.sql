-- Rebalances of groups.
-- num_unknown_trigger: Rebalances whose trigger no record shows.
-- num_assignments: Rebalances that produced an assignment.
-- longest_unread_high_ms: The longest time for which a partition may have had no reader (an upper bound); NULL if no
--   member stopped reading a partition.
-- rows_failing_negative_duration: Rebalances that end before they begin.
-- rule negative_duration critical: duration_ms < 0
SELECT {keys}, count(*) FILTER (WHERE trigger = 'unknown') AS num_unknown_trigger,
  count(*) FILTER (WHERE outcome <> 'emptied') AS num_assignments,
  max(longest_unread_high_ms) AS longest_unread_high_ms, :rules
FROM judged
