SELECT group_id, at_time AS "at", kind, sentence, rebalance
FROM happenings
ORDER BY group_id, at_time, event_offset NULLS LAST, rebalance, kind, sentence
