SELECT group_id, from_time, to_time, num_rebalances, generations_per_hour, num_members_changed, repeated_client_id,
  repeated_client_host, num_repeated, num_member_changes, longest_unread_high_ms
FROM v_rebalance_storms
WHERE cluster = {cluster} AND kind = 'storm'
ORDER BY rank
LIMIT 12
