-- Groups that were in use, have no members, and for which messages wait, at the as-of time: a row for each partition.
-- Of share groups no offsets are known here: a row for the group.
WITH {newest_verdicts}
SELECT {of_a_group}
FROM newest_verdicts
WHERE rule IN ('group_down', 'went_away_unseen')
UNION ALL
SELECT group_id, topic, topic_id, partition, {lasting}, reason AS message, since_time,
  lag, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), {evidence},
  CASE rule WHEN 'went_away_unseen' THEN 'warning' END, CAST(1 AS DOUBLE)
FROM group_verdicts
WHERE cluster = :cluster AND group_type = 'share' AND rule IN ('group_down', 'went_away_unseen') AND {is_newest_verdict}
