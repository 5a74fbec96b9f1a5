-- The storms of v_rebalance_storms. A storm is of the time at which it began, however long it goes on.
SELECT {about_group group_id}, from_time AS at_time, to_time AS last_time,
  CAST(num_generations AS STRING) || ' rebalances from ' || {second from_time} || ' to '
    || {second to_time} || coalesce('; ' || CASE WHEN num_repeated = num_member_changes THEN 'all'
    ELSE CAST(num_repeated AS STRING) || ' of the' END || ' ' || CAST(num_member_changes AS STRING)
    || ' joins, leaves and restarts were of client ' || repeated_client_id || ' at '
    || coalesce(repeated_client_host, '?'), '') AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, 'certain' AS confidence,
  {harm coalesce(unread_partition_high_ms, 0)}
FROM v_rebalance_storms
WHERE cluster = :cluster AND kind = 'storm'
