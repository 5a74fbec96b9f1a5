SELECT group_id, at_time AS "at", topic, kind, actor, num_partitions AS partitions, change, messages_reread AS reread,
  messages_skipped AS skipped, confidence, evidence_first_offset AS "offset"
FROM resets
ORDER BY group_id, at_time, topic, evidence_first_offset, kind
