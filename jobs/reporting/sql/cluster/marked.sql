-- What the map marks: resets, assignments that differ from Kafka's, migrations, changes of coordinators. Of one kind that
-- a group has more of than one can tell apart, the first one of a column of time, with how many there are.
WITH marked AS (
  SELECT at_time AS "at", 'reset' AS mark, group_id AS "group", kind AS what, topic
  FROM offset_resets
  WHERE cluster = {cluster} AND at_time IS NOT NULL
  UNION ALL
  SELECT record_time, 'drift', group_id, verdict, NULL
  FROM assignment_audit
  WHERE cluster = {cluster} AND record_time IS NOT NULL AND verdict IN ('drift', 'stale_input')
  UNION ALL
  SELECT started_time, 'upgrade', group_id, migration || ', ' || phase, NULL
  FROM assignor_upgrades
  WHERE cluster = {cluster} AND started_time IS NOT NULL
  UNION ALL
  SELECT DISTINCT epochs.from_time, 'failover', states.group_id, 'coordinator_failover', NULL
  FROM (
    SELECT offsets_partition, first_offset, from_time
    FROM coordinator_epochs
    WHERE cluster = {cluster} AND from_time IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY offsets_partition ORDER BY partition_leader_epoch) > 1
  ) AS epochs
  JOIN group_state_intervals AS states ON states.evidence_partition = epochs.offsets_partition
    AND states.from_record_offset < epochs.first_offset
    AND (states.to_record_offset IS NULL OR epochs.first_offset <= states.to_record_offset)
  WHERE states.cluster = {cluster}
),
placed AS (
  SELECT *, row_number() OVER of_kind AS number, count(*) OVER (PARTITION BY mark, "group") AS num_marks,
    greatest(0, least(39, (epoch_ms("at") - {first_ms}) * 40 // {length_ms})) AS in_column
  FROM marked
  WINDOW of_kind AS (PARTITION BY mark, "group" ORDER BY "at", what, topic)
)
SELECT min("at") AS "at", mark, "group", first(what ORDER BY number) AS what,
  first(topic ORDER BY number) AS topic, count(*) AS num_marks
FROM placed
GROUP BY mark, "group", CASE WHEN num_marks <= 40 THEN number ELSE -in_column END
ORDER BY 1, 2, 3, 4, 5
