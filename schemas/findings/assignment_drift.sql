-- Assignments that no variant of the assignor gives.
SELECT {about_group group_id}, record_time AS at_time, {day record_time} AS event, record_time AS last_time,
  CAST(num_different AS STRING) || ' of ' || coalesce(CAST(num_partitions AS STRING), '?')
    || CASE num_partitions WHEN 1 THEN ' partition' ELSE ' partitions' END
    || CASE num_different WHEN 1 THEN ' has' ELSE ' have' END
    || ' another owner than ' || CASE WHEN reason LIKE 'librdkafka%' THEN 'librdkafka' ELSE 'Kafka' END
    || '''s ' || coalesce(assignor, 'assignor') || ' computes'
    || CASE WHEN reason LIKE 'librdkafka%' THEN '' ELSE coalesce('; the leader '
      || CASE leader_library_confidence WHEN 'likely' THEN 'probably uses ' ELSE 'may use ' END
      || leader_library || ', whose ' || assignor || ' ' || library_difference, '') END
    AS message,
  {evidence}, {harm coalesce(num_different, 0)}
FROM v_assignment_audit
WHERE cluster = :cluster AND verdict = 'drift'
