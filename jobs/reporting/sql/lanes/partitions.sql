SELECT group_id, name AS topic, partition, lag, lag_at, time_lag_ms AS time_lag, own_verdict AS verdict,
  burrow_verdict AS burrow, rule, reason, since_time AS since, committed_offset AS "offset", commit_time,
  log_end_offset AS log_end, unknown_reason, expires_time AS expires
FROM places
ORDER BY group_id, place
