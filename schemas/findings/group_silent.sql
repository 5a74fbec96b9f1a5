-- Partitions with messages that wait, of groups that commit nothing any more, at the as-of time. Where the log of the
-- group ends early it only looks silent: that is a warning, as possible.
WITH {newest_verdicts},
silent AS (
  SELECT newest_verdicts.*, num_of_group AS num_of_whole
  FROM newest_verdicts
  WHERE (own_verdict = 'STOP' AND rule = 'group_silent')
    OR (rule = 'log_ended' AND since_time IS NOT NULL AND evidence_partition IN (
      SELECT offsets_partition FROM offsets_partitions WHERE cluster = :cluster AND early_end = 'before_others'))
),
{silences}
