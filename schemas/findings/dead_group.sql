-- Groups without members whose newest commit is older than dead_group_days, and that are not down.
WITH commits AS (
  SELECT group_id, evidence_partition AS place, max(last_commit_time) AS newest_time, count(*) AS num_offsets,
    count(CASE WHEN confidence = 'possible' THEN 1 END) AS num_possible,
    count(CASE WHEN to_record_offset IS NOT NULL AND NOT is_to_exact THEN 1 END) AS num_unsure
  FROM {held offset_history} AS offsets
  GROUP BY group_id, evidence_partition
),
{held_states},
down AS (
  SELECT DISTINCT group_id AS down_id FROM group_verdicts
  WHERE cluster = :cluster AND rule = 'group_down' AND as_of_time = (
    SELECT max(as_of_time) FROM group_verdicts WHERE cluster = :cluster AND as_of_time <= :as_of_time
  )
)
SELECT states.group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'no members since ' || coalesce(substring(CAST(states.from_time AS STRING), 1, 19), '?')
    || CASE num_offsets WHEN 1 THEN ', its only offset'
      ELSE ', the newest of its ' || CAST(num_offsets AS STRING) || ' offsets' END || ' is of '
    || substring(CAST(newest_time AS STRING), 1, 19) AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset,
  -- What is known to have ended later may have ended earlier, if records are missing.
  CASE WHEN num_possible > 0 THEN 'possible'
    WHEN states.confidence = 'certain' AND (num_unsure > 0 OR states.to_record_offset IS NOT NULL
      AND NOT states.is_to_exact)
      THEN 'likely'
    ELSE states.confidence END AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(num_offsets AS DOUBLE) AS harm
FROM held_states AS states
JOIN commits ON commits.group_id = states.group_id AND commits.place = states.evidence_partition
LEFT JOIN down ON down_id = states.group_id
WHERE states.state = 'Empty' AND down_id IS NULL
  AND commits.newest_time < :dead_group_days_before AND states.from_time < :dead_group_days_before
