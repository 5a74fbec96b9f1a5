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
  WHERE cluster = :cluster AND rule = 'group_down' AND {is_newest_verdict}
)
SELECT {about_group states.group_id}, {lasting},
  'no members since ' || coalesce({second states.from_time}, '?')
    || CASE num_offsets WHEN 1 THEN ', its only offset'
      ELSE ', the newest of its ' || CAST(num_offsets AS STRING) || ' offsets' END || ' is of '
    || {second newest_time} AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset,
  -- What is known to have ended later may have ended earlier, if records are missing.
  CASE WHEN num_possible > 0 THEN 'possible'
    WHEN states.confidence = 'certain' AND (num_unsure > 0 OR states.to_record_offset IS NOT NULL
      AND NOT states.is_to_exact)
      THEN 'likely'
    ELSE states.confidence END AS confidence,
  {harm num_offsets}
FROM held_states AS states
JOIN commits ON commits.group_id = states.group_id AND commits.place = states.evidence_partition
LEFT JOIN down ON down_id = states.group_id
WHERE states.state = 'Empty' AND down_id IS NULL
  AND commits.newest_time < :dead_group_days_before AND states.from_time < :dead_group_days_before
