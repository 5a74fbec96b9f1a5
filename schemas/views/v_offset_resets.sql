-- Resets: committed offsets that were moved or removed in another way than by reading messages, those with the most
-- messages first, and who is likely to have done it. Who or what moved offsets back, or to an end of the log?
-- reads: offset_resets history_coverage topic_snapshots
--   +offset_resets: cluster
--   +rank
--   +offset_resets: group_id group_type topic topic_id at_time kind actor num_partitions messages_reread
--       messages_skipped signature_score num_members evidence_partition evidence_first_offset evidence_last_offset
--       confidence
--   +as_of
--   +offset_resets: partitions from_offsets to_offsets
WITH {clusters},
ranked AS (
  SELECT resets.*, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY resets.cluster
      ORDER BY {wide coalesce(messages_reread, 0)} + {wide coalesce(messages_skipped, 0)} DESC,
        num_partitions DESC, group_id, topic NULLS LAST, topic_id NULLS LAST, evidence_first_offset, kind) AS BIGINT)
      AS rank
  FROM offset_resets AS resets
  LEFT JOIN clusters ON clusters.cluster = resets.cluster
)
