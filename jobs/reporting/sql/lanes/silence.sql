SELECT group_id, place AS partition, since AS "from", CAST(NULL AS TIMESTAMPTZ) AS "to"
FROM silences
ORDER BY group_id, place, since
