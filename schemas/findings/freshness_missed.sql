-- Days on which a group was over its freshness objective for more minutes than that allows.
SELECT group_id, topic, topic_id AS topic_id, CAST(NULL AS INT) AS partition, first_over_time AS at_time,
  last_over_time AS last_time, {day day_time} AS event,
  coalesce(topic, '?') || ': its oldest unread message was older than '
    || CAST(CAST(objective_ms / 1000 AS BIGINT) AS STRING) || ' s in ' || CAST(num_minutes_over AS STRING) || ' of '
    || {counted num_minutes_known, ' known minute of ', ' known minutes of '} || {day day_time}
    || ', up to ' || CAST(CAST((time_lag_ms_max + 999 - (time_lag_ms_max + 999) % 1000) / 1000 AS BIGINT) AS STRING)
    || ' s; :freshness_missed_percent in 100 minutes are allowed' AS message,
  {no_evidence}, CASE confidence WHEN 'possible' THEN confidence ELSE 'likely' END AS confidence, {harm time_lag_ms_max}
FROM v_freshness_slo
WHERE cluster = :cluster AND NOT is_met
