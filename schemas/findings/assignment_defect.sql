-- Assignments that bear the mark of a known defect of Kafka.
SELECT {about_group group_id}, record_time AS at_time, {day record_time} AS event, record_time AS last_time,
  known_defect || coalesce(' (' || assignor || ')', '') || coalesce(': ' || reason, '') AS message, {evidence},
  {harm coalesce(num_different, 0)}
FROM assignment_audit
WHERE cluster = :cluster AND known_defect IS NOT NULL
