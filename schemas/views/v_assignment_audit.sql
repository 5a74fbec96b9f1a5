-- Recorded assignments compared with those of Kafka's own assignors, worst first: differences, known defects,
-- partitions without an owner, unneeded moves. Does the recorded assignment match what the assignor should give?
-- reads: assignment_audit rebalances membership_intervals history_coverage topic_snapshots
--   +assignment_audit: cluster
--   +rank
--   +assignment_audit: group_id group_type assignment_offset generation_or_epoch record_time assignor assignor_source
--       algorithm verdict reason stale_topics num_partitions num_different num_unowned num_owned_twice
--       num_nonexistent num_idle_members imbalance moves_made moves_needed partition_counts_source variant
--       known_defect evidence_partition evidence_first_offset evidence_last_offset confidence
--   moves_too_many int  moves_made minus moves_needed: moves that a balanced assignment did not need; NULL: unknown.
--   is_complete boolean  TRUE: no record of the log is missing from evidence_first_offset to the end of the range
--       that was read.
--   leader_library string  Classic groups: the client library that the leader probably uses: client_library of
--       membership_intervals.
--   leader_library_confidence string  likely: of the known libraries, only this one writes so; possible: another one
--       may. NULL: no library.
--   library_difference string  How the assignor of that library differs from Kafka's of the same name. NULL: nothing
--       is known, or it is Kafka's own.
--   +as_of
WITH {clusters},
different AS (
  {library_differences}
),
leaders AS (
  SELECT done.cluster, done.evidence_partition, done.group_id, done.assignment_offset, stay.client_library,
    stay.client_library_confidence
  FROM rebalances AS done
  JOIN membership_intervals AS stay ON stay.cluster = done.cluster AND stay.group_id = done.group_id
    AND stay.evidence_partition = done.evidence_partition AND stay.member_id = done.leader_after
    AND stay.from_record_offset <= done.assignment_offset
    AND (stay.to_record_offset IS NULL OR stay.to_record_offset > done.assignment_offset)
  WHERE done.group_type = 'classic'
),
--- Without differences and checks, which are in the table: engines have no common words to open lists of structs.
joined AS (
  SELECT audited.*, audited.moves_made - audited.moves_needed AS moves_too_many,
    audited.evidence_first_offset >= stretch.complete_from_offset AS is_complete,
    leaders.client_library AS leader_library, leaders.client_library_confidence AS leader_library_confidence,
    different.difference AS library_difference,
    clusters.as_of_time, clusters.history_since_time,
    CASE WHEN verdict = 'drift' AND known_defect IS NOT NULL THEN 1 WHEN verdict = 'drift' THEN 2
      WHEN verdict = 'stale_input' THEN 3 WHEN known_defect IS NOT NULL THEN 4
      WHEN verdict = 'not_recomputable' THEN 5 WHEN verdict = 'same_members_other_order' THEN 6
      WHEN verdict = 'same_unconfirmed' THEN 7 WHEN verdict = 'carried_over' THEN 8 ELSE 9 END AS severity
  FROM assignment_audit AS audited
  LEFT JOIN clusters ON clusters.cluster = audited.cluster
  LEFT JOIN leaders ON leaders.cluster = audited.cluster AND leaders.evidence_partition = audited.evidence_partition
    AND leaders.group_id = audited.group_id AND leaders.assignment_offset = audited.assignment_offset
  LEFT JOIN different ON different.library = leaders.client_library AND different.assignor = audited.assignor
  LEFT JOIN history_coverage AS stretch ON stretch.cluster = audited.cluster
    AND stretch.offsets_partition = audited.evidence_partition
    AND audited.evidence_last_offset BETWEEN stretch.first_offset AND stretch.last_offset
),
{ranked joined, severity, num_different DESC NULLS LAST, num_owned_twice DESC NULLS LAST, num_unowned DESC NULLS LAST,
  moves_too_many DESC NULLS LAST, record_time DESC NULLS LAST, group_id, assignment_offset}
