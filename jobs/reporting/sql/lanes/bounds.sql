SELECT group_id, from_time AS "from", to_time AS "to"
FROM bounds
ORDER BY group_id
