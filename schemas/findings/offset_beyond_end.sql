-- Partitions whose committed offset is beyond the end of their log, at the as-of time.
WITH {newest_verdicts}
SELECT {of_a_verdict}
FROM newest_verdicts
WHERE rule = 'beyond_end'
