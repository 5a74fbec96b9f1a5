SELECT group_id, offsets_partition, share_of_bytes, num_bytes, bytes_per_day, commits_per_s, share_unchanged,
  peak_per_minute, share_saved_at_5_s
FROM v_commit_volume
WHERE cluster = {cluster}
ORDER BY rank
LIMIT 12
