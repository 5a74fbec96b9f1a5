SELECT group_id, member_id AS member, client_id AS client, client_host AS host, group_instance_id AS instance,
  client_library AS library, from_time AS "from", away_since_time AS away, to_time AS "to", leave_kind AS leave,
  ended_by
FROM membership_intervals
WHERE cluster = {cluster} AND group_id IN ({groups}) AND from_time IS NOT NULL
ORDER BY group_id, from_time, from_record_offset, member_id
