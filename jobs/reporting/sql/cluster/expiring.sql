SELECT group_id, topic, partition, expires_time, hours_left, rule, messages_at_risk, blocked_by_transaction
FROM v_expiry_forecast
WHERE cluster = {cluster} AND expires_time IS NOT NULL
ORDER BY rank
LIMIT 12
