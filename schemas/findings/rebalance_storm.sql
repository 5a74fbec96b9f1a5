-- Storms of more than storm_rebalances_per_hour rebalances an hour.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, to_time AS at_time,
  CAST(num_generations AS STRING) || ' rebalances from ' || substring(CAST(from_time AS STRING), 1, 19) || ' to '
    || substring(CAST(to_time AS STRING), 1, 19) || coalesce(', ' || CAST(num_repeated AS STRING)
        || ' of them by client '
    || repeated_client_id || ' at ' || coalesce(repeated_client_host, '?'), '') AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(unread_partition_high_ms, 0) AS DOUBLE) AS harm
FROM v_rebalance_storms
WHERE cluster = :cluster AND generations_per_hour > :storm_rebalances_per_hour
