-- Commits of known partitions: consecutive ones of one offset are a row.
SELECT h.group_id, place, h.from_time, to_time, from_record_offset, to_record_offset, h.committed_offset, delta,
  num_commits, coalesce(last_commit_time, h.from_time) AS until
FROM offset_history AS h
JOIN places ON places.group_id = h.group_id AND name = coalesce(h.topic, h.topic_id, '?')
  AND places.partition = h.partition
WHERE h.cluster = {cluster} AND h.group_id IN ({groups})
