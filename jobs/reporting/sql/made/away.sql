-- Static members that went away and were not back at the end of the log, each with its partitions, which nobody reads.
SELECT m.group_id, m.group_instance_id, m.member_id, away_since_time AS since, place, role,
  m.evidence_last_offset AS event_offset
FROM membership_intervals AS m
LEFT JOIN ownership_intervals AS o ON o.cluster = m.cluster AND o.group_id = m.group_id AND o.member_id = m.member_id
  AND o.to_record_offset IS NULL AND coalesce(role, 'active') = 'active'
LEFT JOIN places ON places.group_id = m.group_id AND name = coalesce(o.topic, o.topic_id, '?')
  AND places.partition = o.partition
WHERE m.cluster = {cluster} AND m.group_id IN ({groups}) AND away_since_time IS NOT NULL AND m.to_record_offset IS NULL
