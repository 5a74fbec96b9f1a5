SELECT group_id, to_time, num_members
FROM group_state_intervals
WHERE cluster = {cluster} AND group_id IN ({groups})
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY from_record_offset DESC, from_time DESC) = 1
ORDER BY group_id
