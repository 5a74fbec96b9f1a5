-- Partitions with messages that wait, of groups that commit nothing any more, at the as-of time.
WITH {newest_verdicts},
silent AS (
  SELECT newest_verdicts.*, num_of_group AS num_of_whole
  FROM newest_verdicts
  WHERE own_verdict = 'STOP' AND rule = 'group_silent'
),
{silences}
