-- Days on which a group was over its freshness objective for more minutes than that allows.
SELECT group_id, topic, topic_id AS topic_id, CAST(NULL AS INT) AS partition, first_over_time AS at_time,
  last_over_time AS last_time, substring(CAST(day_time AS STRING), 1, 10) AS event,
  coalesce(topic, '?') || ': its oldest unread message was older than '
    || CAST(CAST(objective_ms / 1000 AS BIGINT) AS STRING) || ' s in ' || CAST(num_minutes_over AS STRING) || ' of '
    || CAST(num_minutes_known AS STRING)
    || CASE num_minutes_known WHEN 1 THEN ' known minute of ' ELSE ' known minutes of ' END
    || substring(CAST(day_time AS STRING), 1, 10)
    || ', up to ' || CAST(CAST((time_lag_ms_max + 999 - (time_lag_ms_max + 999) % 1000) / 1000 AS BIGINT) AS STRING)
    || ' s; :freshness_missed_percent in 100 minutes are allowed' AS message,
  CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  CAST(NULL AS BIGINT) AS evidence_last_offset,
  CASE confidence WHEN 'possible' THEN confidence ELSE 'likely' END AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(time_lag_ms_max AS DOUBLE) AS harm
FROM v_freshness_slo
WHERE cluster = :cluster AND NOT is_met
