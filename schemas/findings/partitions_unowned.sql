-- Groups whose newest assignment leaves partitions of subscribed topics without an owner.
WITH newest AS (
  SELECT group_id, max(assignment_offset) AS assignment_offset
  FROM assignment_audit
  WHERE cluster = :cluster
  GROUP BY group_id
)
SELECT audited.group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  CAST(num_unowned AS STRING) || ' of ' || coalesce(CAST(num_partitions AS STRING), '?')
    || CASE num_partitions WHEN 1 THEN ' partition' ELSE ' partitions' END || ' of its topics '
    || CASE num_unowned WHEN 1 THEN 'has' ELSE 'have' END || ' had no owner since '
    || coalesce(substring(CAST(record_time AS STRING), 1, 19), '?') AS message,
  audited.evidence_partition, audited.evidence_first_offset, audited.evidence_last_offset, audited.confidence,
  CAST(NULL AS STRING) AS severity, CAST(num_unowned AS DOUBLE) AS harm
FROM assignment_audit AS audited
JOIN newest ON newest.group_id = audited.group_id AND newest.assignment_offset = audited.assignment_offset
JOIN group_state_intervals AS states ON states.cluster = audited.cluster AND states.group_id = audited.group_id
  AND states.to_offset IS NULL AND states.state = 'Stable' AND states.num_members > 0
WHERE audited.cluster = :cluster AND num_unowned > 0
