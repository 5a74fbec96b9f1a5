SELECT group_id, topic, topic_id, partition, member_id, client_id, phase, role, from_time, to_time, ended_by,
  reader_certain_until_time, reader_doubt_from_time, from_record_offset
FROM ownership_intervals
WHERE cluster = {cluster} AND group_id IN ({groups}) AND from_time IS NOT NULL
QUALIFY row_number() OVER (
  PARTITION BY group_id ORDER BY from_record_offset DESC, from_time DESC, topic, topic_id, partition, member_id
) <= {most}
ORDER BY group_id, topic NULLS LAST, partition, from_time, from_record_offset, topic_id, member_id
