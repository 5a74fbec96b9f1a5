SELECT group_id, from_time AS "from", to_time AS "to", state, generation_or_epoch AS generation, group_type AS type,
  assignor, num_members AS members, ended_by, evidence_first_offset AS first_offset, evidence_last_offset AS last_offset
FROM group_state_intervals
WHERE cluster = {cluster} AND group_id IN ({groups}) AND from_time IS NOT NULL
ORDER BY group_id, from_time, from_record_offset, to_time
