SELECT group_id, group_type, state, generation_or_epoch, assignor, num_members, from_time, to_time, ended_by,
  evidence_first_offset, evidence_last_offset
FROM group_state_intervals
WHERE cluster = {cluster} AND group_id IN ({groups}) AND from_time IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY from_record_offset DESC, from_time DESC) <= {most}
ORDER BY group_id, from_time, from_record_offset
