-- When a partition had no committed offset any more: it expired or was deleted, until one was committed again.
SELECT group_id, place AS partition, to_time AS "from", next_time AS "to"
FROM removals
ORDER BY group_id, place, to_time
