-- Rebalances that are told in full: the newest; of groups with findings also those that left partitions unread for
-- longest, all added up.
SELECT turns.group_id, turns.assignment_offset, turn
FROM turns
JOIN rebalances AS r ON r.group_id = turns.group_id AND r.assignment_offset = turns.assignment_offset
WHERE r.cluster = {cluster} AND r.group_id IN ({groups})
QUALIFY row_number() OVER (PARTITION BY turns.group_id ORDER BY turn DESC)
    <= CASE WHEN turns.group_id IN ({troubled}) THEN 40 ELSE {told} END
  OR (turns.group_id IN ({troubled}) AND row_number() OVER (
    PARTITION BY turns.group_id ORDER BY unread_partition_high_ms DESC NULLS LAST, num_moved DESC NULLS LAST, turn DESC
  ) <= 40)
