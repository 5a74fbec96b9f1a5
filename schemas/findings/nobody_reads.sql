-- Partitions with messages to read that nobody seems to read, at the as-of time.
WITH {newest_verdicts}
SELECT {of_a_verdict}
FROM newest_verdicts
WHERE rule IN ('no_reader', 'retired')
