-- The storms of v_rebalance_storms. A storm is of the time at which it began, however long it goes on.
SELECT group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, from_time AS at_time,
  to_time AS last_time,
  CAST(num_generations AS STRING) || ' rebalances from ' || substring(CAST(from_time AS STRING), 1, 19) || ' to '
    || substring(CAST(to_time AS STRING), 1, 19) || coalesce(', ' || CAST(num_repeated AS STRING)
        || ' of them by client '
    || repeated_client_id || ' at ' || coalesce(repeated_client_host, '?'), '') AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(unread_partition_high_ms, 0) AS DOUBLE) AS harm
FROM v_rebalance_storms
WHERE cluster = :cluster AND kind = 'storm'
