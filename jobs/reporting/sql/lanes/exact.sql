SELECT group_id, list([epoch_ms(from_time), epoch_ms(to_time)] ORDER BY from_time) AS exact
FROM spans
GROUP BY group_id
ORDER BY group_id
