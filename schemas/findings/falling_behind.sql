-- Partitions whose lag grows, at the as-of time.
WITH {newest_verdicts}
SELECT {of_a_verdict}
FROM newest_verdicts
WHERE own_verdict = 'WARN'
