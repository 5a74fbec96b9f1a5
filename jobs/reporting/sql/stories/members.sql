SELECT group_id, member_id, client_id, client_host, group_instance_id, leave_kind
FROM membership_intervals
WHERE cluster = {cluster} AND group_id IN ({groups})
ORDER BY group_id, from_record_offset, member_id
