-- Committed offsets, from when to when each was in effect.
-- rows due if: offset_commits.num_plain
-- num_rows: Number of rows.
-- num_open: Offsets that are still in effect.
-- num_commits: Number of commits in all rows.
-- num_ended_by_hole: Offsets for which it is unknown how long they were in effect, because a later range of the log was
--   never read.
-- rows_failing_went_back: Offsets that are lower than the previous one, and that no row of offset_resets explains:
--   messages were read again.
-- rule went_back warning as odd_commits offset_rewound: delta < 0 AND NOT is_explained
-- rows_failing_delta_wrong: Rows whose delta is not committed_offset minus previous_offset.
-- rule delta_wrong critical: delta <> CAST(committed_offset AS DECIMAL(38, 0)) - CAST(previous_offset AS DECIMAL(38,
--   0))
-- rows_failing_no_commit: Rows without a commit.
-- rule no_commit critical: num_commits < 1
WITH explained AS (
  SELECT DISTINCT history.group_id, history.topic, history.partition, history.from_record_offset
  FROM offset_history AS history
  JOIN offset_resets AS resets ON resets.cluster = history.cluster AND resets.group_id = history.group_id
    AND resets.topic = history.topic AND resets.evidence_first_offset <= history.from_record_offset
    AND history.from_record_offset <= resets.evidence_last_offset
  WHERE history.cluster = :cluster AND history.delta < 0
),
judged AS (
  SELECT history.*, explained.from_record_offset IS NOT NULL AS is_explained
  FROM offset_history AS history
  LEFT JOIN explained ON history.delta < 0 AND explained.from_record_offset = history.from_record_offset
    AND explained.group_id = history.group_id AND explained.topic = history.topic
    AND explained.partition = history.partition
  WHERE history.cluster = :cluster
)
SELECT count(*) AS num_rows, count(*) FILTER (WHERE to_record_offset IS NULL) AS num_open,
  coalesce(sum(num_commits), 0) AS num_commits,
  count(*) FILTER (WHERE ended_by = 'coverage_hole') AS num_ended_by_hole, :rules
FROM judged
