-- Rules of [[groups]] in the settings that the newest assignment of a group breaks, while the group has members. What
-- could not be checked is no finding, nor is an assignment that withholds partitions: the next one follows at once. If
-- partitions only have more owners than `redundancy`, that is the finding replay_anomaly, with the same numbers.
WITH {held_states},
{newest_assignments},
opened AS (
  SELECT group_id, record_time, partition_counts_source, {evidence}, is_sure, assignment_offset,
    explode(checks) AS checked
  FROM newest_assignments
  WHERE held_state IN ('Stable', 'Reconciling')
),
owned_twice AS (
  SELECT DISTINCT group_id, evidence_partition, record_offset FROM replay_anomalies
  WHERE cluster = :cluster AND kind = 'two_owners' AND severity = 'critical'
),
named AS (
  SELECT opened.*, checked.name AS name, checked.is_ok AS is_ok, checked.detail AS detail,
    count(CASE WHEN checked.name = 'withheld' THEN 1 END) OVER (PARTITION BY group_id) AS num_withholding
  FROM opened
)
SELECT {about_group named.group_id}, {lasting},
  CASE name WHEN 'co_partitioned' THEN 'copartitioned: a member must have the same partitions of these topics, but '
      WHEN 'redundant' THEN 'redundancy: '
      ELSE 'is_rack_local: a member with a rack must have only partitions with a replica there, but there is ' END
    || coalesce(detail, '?') || ', since the assignment of ' || coalesce({second record_time}, '?') AS message,
  named.evidence_partition, evidence_first_offset, evidence_last_offset,
  -- No record shows racks, or numbers of partitions that are inferred.
  CASE WHEN confidence = 'certain' AND (name = 'rack_local' OR NOT is_sure
      OR coalesce(partition_counts_source, '') IN ('', 'inferred'))
    THEN 'likely' ELSE confidence END AS confidence,
  {harm 1}
FROM named
LEFT JOIN owned_twice ON name = 'redundant' AND {same_group owned_twice, named}
  AND owned_twice.record_offset = named.assignment_offset
WHERE name IN ('co_partitioned', 'redundant', 'rack_local') AND NOT is_ok AND num_withholding = 0
  -- `detail` ends like "2 members must own each, 1 to 3 do".
  AND (owned_twice.record_offset IS NULL
    OR TRY_CAST(regexp_extract(detail, ', ([0-9]+)( to [0-9]+)? do(es)?$', 1) AS INT)
      < TRY_CAST(regexp_extract(detail, ': ([0-9]+) members must own each, [0-9]', 1) AS INT))
