-- Which member owned each partition, from when to when.
-- num_open: Intervals without an end: partitions that have an owner now.
-- rows_failing_two_owners: Intervals that end after another member got the partition. Share groups and standby or
--   warmup tasks of streams groups may have several owners and do not count, nor do groups for which [[groups]] in the
--   settings declares several owners: there the finding group_rule_broken counts them.
-- rule two_owners critical as replay_anomaly: group_type <> 'share' AND coalesce(role, 'active') = 'active' AND
--   next_member_id <> member_id AND NOT is_declared AND next_from_record_offset IS NOT NULL AND (to_record_offset IS
--   NULL OR to_record_offset > next_from_record_offset)
-- rows_failing_orphan_owner: Partitions whose current owner is not a member of the group.
-- rule orphan_owner warning: to_record_offset IS NULL AND NOT is_member
WITH checked AS (
  SELECT group_id, evidence_partition, num_owned_twice, explode(checks) AS checked FROM assignment_audit
  WHERE cluster = :cluster
),
judged AS (
  SELECT intervals.*, members.member_id IS NOT NULL AS is_member, declared.group_id IS NOT NULL AS is_declared,
    lead(intervals.from_record_offset) OVER stays AS next_from_record_offset,
    lead(intervals.member_id) OVER stays AS next_member_id
  FROM ownership_intervals AS intervals
  LEFT JOIN (
    SELECT DISTINCT cluster, evidence_partition, group_id, member_id FROM membership_intervals
      WHERE to_record_offset IS NULL
  ) AS members ON members.cluster = intervals.cluster AND members.evidence_partition = intervals.evidence_partition
    AND members.group_id = intervals.group_id AND members.member_id = intervals.member_id
  LEFT JOIN (
    SELECT DISTINCT group_id, evidence_partition FROM checked WHERE checked.name = 'redundant' AND num_owned_twice = 0
  ) AS declared ON declared.group_id = intervals.group_id
    AND declared.evidence_partition = intervals.evidence_partition
  WHERE intervals.cluster = :cluster
  WINDOW stays AS (
    PARTITION BY intervals.cluster, intervals.evidence_partition, intervals.group_id, intervals.topic,
      intervals.topic_id, intervals.partition, intervals.role
    ORDER BY intervals.from_record_offset, intervals.to_record_offset NULLS LAST
  )
)
SELECT {keys}, count(*) FILTER (WHERE to_record_offset IS NULL) AS num_open, :rules
FROM judged
