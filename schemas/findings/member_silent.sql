-- Partitions with messages that wait, of members that commit nothing any more, at the as-of time.
WITH {newest_verdicts},
silent AS (
  SELECT newest_verdicts.*, num_of_member AS num_of_whole
  FROM newest_verdicts
  WHERE own_verdict = 'STOP' AND rule = 'member_silent'
),
{silences}
