-- Spans that failed the gate and were let through.
SELECT group_id, topic, partition, recorded_time AS at_time,
  topic || '-' || CAST(partition AS STRING) || ', offsets ' || CAST(from_offset AS STRING) || ' to '
    || CAST(to_offset - 1 AS STRING) || ': accepted by ' || coalesce(actor, '?') || ', '
    || coalesce(override_reason, 'no reason') || coalesce(', until ' || {second until_time}, '') AS message,
  {no_evidence}, 'certain' AS confidence, {harm to_offset - from_offset}
FROM gate_spans
WHERE cluster = :cluster AND verdict = 'overridden'
