SELECT group_id, at_time, topic, kind, actor, num_partitions, messages_reread, messages_skipped, confidence,
  evidence_partition, evidence_first_offset, evidence_last_offset
FROM offset_resets
WHERE cluster = {cluster} AND group_id IN ({groups}) AND at_time IS NOT NULL
QUALIFY row_number() OVER (
  PARTITION BY group_id ORDER BY at_time DESC, evidence_first_offset DESC, topic, kind
) <= {most}
ORDER BY group_id, at_time, topic NULLS LAST, evidence_first_offset, kind
