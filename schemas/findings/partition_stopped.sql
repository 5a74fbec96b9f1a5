-- Partitions that are no longer committed, by our rules, while their members go on, at the as-of time.
WITH {newest_verdicts}
SELECT {of_a_verdict}
FROM newest_verdicts
WHERE own_verdict = 'STOP' AND rule NOT IN ('group_down', 'group_silent', 'member_silent')
