-- Assignments that no variant of the assignor gives.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, record_time AS at_time,
  substring(CAST(record_time AS STRING), 1, 10) AS event, record_time AS last_time,
  CAST(num_different AS STRING) || ' of ' || coalesce(CAST(num_partitions AS STRING), '?')
    || CASE num_partitions WHEN 1 THEN ' partition' ELSE ' partitions' END
    || CASE num_different WHEN 1 THEN ' has' ELSE ' have' END
    || ' another owner than ' || CASE WHEN reason LIKE 'librdkafka%' THEN 'librdkafka' ELSE 'Kafka' END
    || '''s ' || coalesce(assignor, 'assignor') || ' computes'
    || CASE WHEN reason LIKE 'librdkafka%' THEN '' ELSE coalesce('; the leader '
      || CASE leader_library_confidence WHEN 'likely' THEN 'probably uses ' ELSE 'may use ' END
      || leader_library || ', whose ' || assignor || ' ' || library_difference, '') END
    AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(num_different, 0) AS DOUBLE) AS harm
FROM v_assignment_audit
WHERE cluster = :cluster AND verdict = 'drift'
