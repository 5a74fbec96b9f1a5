SELECT group_id, member_id, client_id, client_host, group_instance_id, from_time, away_since_time, to_time,
  leave_kind, ended_by
FROM membership_intervals
WHERE cluster = {cluster} AND group_id IN ({groups}) AND from_time IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY from_record_offset DESC, member_id) <= {most}
ORDER BY group_id, from_time, member_id, from_record_offset
