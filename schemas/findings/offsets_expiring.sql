-- Offsets that expire within expiring_soon_hours, with messages that a reader would read again or skip.
SELECT group_id, topic, partition, {lasting},
  topic || '-' || CAST(partition AS STRING) || ': expires at ' || {second expires_time}
    || CASE rule WHEN 'own_time' THEN ', the time in its commit; '
      WHEN 'not_subscribed' THEN ', since no member subscribes to its topic; '
      WHEN 'simple' THEN ', since its group never has members; ' ELSE ', since its group is empty; ' END
    || coalesce(CAST(messages_at_risk AS STRING), 'an unknown number of')
    || CASE messages_at_risk WHEN 1 THEN ' message' ELSE ' messages' END || ' at risk' AS message,
  {evidence},
  CASE WHEN messages_at_risk IS NULL THEN 'info' ELSE 'warning' END AS severity,
  CAST(coalesce(messages_at_risk, 0) AS DOUBLE) AS harm
FROM expiry_forecast
WHERE cluster = :cluster AND expires_time < :expiring_soon_hours_after AND NOT blocked_by_transaction
  AND (messages_at_risk > 0 OR messages_at_risk IS NULL)
