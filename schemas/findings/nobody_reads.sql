-- Partitions with messages to read that nobody seems to read, at the as-of time. What a leader with old metadata left
-- out is another finding.
WITH {newest_verdicts},
{held_states},
{newest_assignments},
{stale_assignments}
SELECT {of_a_verdict}
FROM newest_verdicts
WHERE rule IN ('no_reader', 'retired') AND NOT (member_id IS NULL AND EXISTS (
  SELECT 1 FROM stale_assignments AS stale
  WHERE stale.group_id = newest_verdicts.group_id AND stale.topic = newest_verdicts.topic
))
