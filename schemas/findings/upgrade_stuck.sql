-- Groups that stand still half way to another assignor or protocol. A group that went back does not stand still.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'the migration ' || migration || ' began at ' || coalesce(substring(CAST(started_time AS STRING), 1, 19), '?')
      || ', is not complete and stands still: no member has changed for three rebalances and a day' AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(1 AS DOUBLE) AS harm
FROM assignor_upgrades
WHERE cluster = :cluster AND phase = 'stuck' AND coalesce(started_time, :as_of_time) <= :as_of_time
