-- Spans that failed the gate and were let through.
SELECT group_id, topic, partition, recorded_time AS at_time,
  topic || '-' || CAST(partition AS STRING) || ', offsets ' || CAST(from_offset AS STRING) || ' to '
    || CAST(to_offset - 1 AS STRING) || ': accepted by ' || coalesce(actor, '?') || ', '
    || coalesce(override_reason, 'no reason') || coalesce(', until '
        || substring(CAST(until_time AS STRING), 1, 19), '') AS message,
  CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  CAST(NULL AS BIGINT) AS evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(to_offset - from_offset AS DOUBLE) AS harm
FROM gate_spans
WHERE cluster = :cluster AND verdict = 'overridden'
