--- What findings share: what history says of the as-of time.

-- part held(table): A subquery of the intervals of a table that hold at the as-of time. Two scans of few rows each: the
-- bounds in files tell which have rows without an end, and rows that ended later. No engine draws that conclusion from
-- one condition with OR.
(
    SELECT * FROM {table} WHERE {had_begun} AND to_record_offset IS NULL
    UNION ALL
    SELECT * FROM {table} WHERE {had_begun} AND to_record_offset IS NOT NULL AND to_time > :as_of_time
  )

-- part had_begun: Of intervals of the cluster.
cluster = :cluster AND (from_time IS NULL OR from_time <= :as_of_time)

-- part held_states: The state of each group at the as-of time.
{one_state_each held_states, {held group_state_intervals}}

-- part newest_assignments: After `held_states`: the newest assignment of each group that has members at the as-of time.
-- `held_state` is the group's state; `is_sure`: whether it is certain that the state held at that time. A state that
-- ended later may have ended earlier, if records are missing.
newest_assignments AS (
  SELECT assignments.*, states.state AS held_state, states.to_record_offset IS NULL OR states.is_to_exact AS is_sure
  FROM assignment_audit AS assignments
  JOIN (
    SELECT group_id, evidence_partition, max(assignment_offset) AS assignment_offset
    FROM assignment_audit
    WHERE cluster = :cluster AND (record_time IS NULL OR record_time <= :as_of_time)
    GROUP BY group_id, evidence_partition
  ) AS newest ON newest.group_id = assignments.group_id AND newest.assignment_offset = assignments.assignment_offset
    AND newest.evidence_partition = assignments.evidence_partition
  JOIN held_states AS states ON {same_group states, assignments} AND states.num_members > 0
  WHERE assignments.cluster = :cluster
)

-- part stale_assignments: After `newest_assignments`: those of them that a leader with old metadata made, by group and
-- topic, with `since_time`, when it began. A static member that came back changes nothing: what was computed for the
-- generation still holds.
computed AS (
  SELECT audited.group_id, audited.evidence_partition, max(audited.assignment_offset) AS assignment_offset
  FROM assignment_audit AS audited
  JOIN newest_assignments AS now ON {same_group now, audited} AND now.group_type = audited.group_type
    AND now.generation_or_epoch = audited.generation_or_epoch AND audited.assignment_offset <= now.assignment_offset
  WHERE audited.cluster = :cluster AND audited.verdict <> 'carried_over'
  GROUP BY audited.group_id, audited.evidence_partition
),
stale_now AS (
  SELECT audited.*, now.is_sure
  FROM assignment_audit AS audited
  JOIN computed ON {same_group computed, audited} AND computed.assignment_offset = audited.assignment_offset
  JOIN newest_assignments AS now ON {same_group now, audited}
  WHERE audited.cluster = :cluster AND audited.verdict = 'stale_input' AND now.held_state = 'Stable'
),
stale_topics_now AS (
  SELECT stale_now.*, known.topic
  FROM stale_now
  JOIN (SELECT DISTINCT topic FROM topics WHERE cluster = :cluster AND (from_time IS NULL OR from_time <= :as_of_time)
    AND (to_time IS NULL OR to_time > :as_of_time)) AS known ON array_position(stale_topics, known.topic) > 0
),
known_better AS (
  SELECT now.group_id, now.evidence_partition, now.topic, max(audited.assignment_offset) AS assignment_offset
  FROM stale_topics_now AS now
  JOIN assignment_audit AS audited ON audited.cluster = :cluster AND {same_group audited, now}
    AND audited.assignment_offset < now.assignment_offset
    AND audited.verdict <> 'carried_over'
    AND NOT coalesce(audited.verdict = 'stale_input' AND array_position(audited.stale_topics, now.topic) > 0, FALSE)
  GROUP BY now.group_id, now.evidence_partition, now.topic
),
stale_assignments AS (
  SELECT now.group_id, now.topic, now.evidence_partition, now.assignment_offset, now.evidence_first_offset,
    now.evidence_last_offset, now.confidence, now.is_sure, now.reason, min(audited.record_time) AS since_time
  FROM stale_topics_now AS now
  LEFT JOIN known_better AS before ON {same_topic_of_group before, now}
  JOIN assignment_audit AS audited ON audited.cluster = :cluster AND {same_group audited, now}
    AND audited.verdict = 'stale_input'
    AND audited.assignment_offset <= now.assignment_offset
    AND audited.assignment_offset > coalesce(before.assignment_offset, -1)
  GROUP BY now.group_id, now.topic, now.evidence_partition, now.assignment_offset, now.evidence_first_offset,
    now.evidence_last_offset, now.confidence, now.is_sure, now.reason
)

-- part newest_verdicts: The newest verdicts of partitions until the as-of time, each with the member that owns it.
-- `num_of_group`, `num_of_member`: how many partitions are judged of its group and of that member. A group may have
-- records in several offsets partitions: those that it wrote last count.
owned AS (
  SELECT stays.*, row_number() OVER (
    PARTITION BY group_id, coalesce(topic, topic_id), partition, evidence_partition ORDER BY from_record_offset DESC,
      member_id
  ) AS place
  FROM {held ownership_intervals} AS stays
  WHERE phase <> 'held' AND group_type <> 'share' AND coalesce(role, 'active') = 'active'
),
judged AS (
  SELECT verdicts.*, first_value(evidence_partition) OVER (
    PARTITION BY group_id ORDER BY last_commit_time DESC NULLS LAST, evidence_partition
  ) AS newest_partition
  FROM group_verdicts AS verdicts
  WHERE cluster = :cluster AND partition IS NOT NULL AND {is_newest_verdict}
),
newest_verdicts AS (
  SELECT judged.*, owned.member_id, owned.client_id, owned.client_host,
    count(*) OVER (PARTITION BY judged.group_id) AS num_of_group,
    count(*) OVER (PARTITION BY judged.group_id, owned.member_id) AS num_of_member,
    coalesce(judged.topic, '?') || '-' || CAST(judged.partition AS STRING) || ': ' || reason AS message
  FROM judged
  LEFT JOIN owned ON owned.place = 1 AND {same_group owned, judged} AND owned.partition = judged.partition
    AND coalesce(owned.topic, owned.topic_id) = coalesce(judged.topic, judged.topic_id)
  WHERE judged.evidence_partition = newest_partition AND rule NOT IN ('not_subscribed', 'nothing_held')
)

-- part about_verdict(message, severity): The columns of a finding that is about the verdict on a partition.
group_id, topic, topic_id AS topic_id, partition, CAST(NULL AS TIMESTAMP) AS at_time, {message} AS message,
  since_time AS since_time, lag AS messages_waiting, member_id AS member_id, client_id AS client_id,
  client_host AS client_host,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  {severity} AS severity, CAST(coalesce(lag, 0) AS DOUBLE) AS harm

-- part of_a_verdict: These, where the partition is meant.
{about_verdict message, CAST(NULL AS STRING)}

-- part of_a_group: These, where the whole group is meant.
{about_verdict reason, CASE rule WHEN 'went_away_unseen' THEN 'warning' END}

-- part of_a_silence: These, of a silence: what may have gone on after the end of the data is a warning.
{about_verdict message, CASE rule WHEN 'log_ended' THEN 'warning' END}

-- part silences: The rest of a statement after its rows `silent` of newest verdicts: each with what the newest
-- rebalance before it was.
followed AS (
  SELECT silent.group_id, silent.since_time, rebalances.start_time, coalesce(trigger_detail, trigger) AS what,
    row_number() OVER (PARTITION BY silent.group_id, silent.since_time
      ORDER BY start_time DESC, rebalances.evidence_partition, assignment_offset DESC) AS place
  FROM (SELECT DISTINCT group_id, since_time FROM silent) AS silent
  JOIN rebalances ON rebalances.group_id = silent.group_id AND rebalances.start_time <= silent.since_time
  WHERE rebalances.cluster = :cluster
),
told AS (
  SELECT silent.*, what || ' (' || {second start_time} || ')' AS what_before
  FROM silent
  LEFT JOIN followed ON followed.place = 1 AND followed.group_id = silent.group_id
    AND followed.since_time = silent.since_time
)
SELECT {of_a_silence}, num_of_whole AS num_of_whole, what_before AS before
FROM told

--- What most findings have in common.

-- part about(subject): The first columns of a finding that is about no group.
CAST(NULL AS STRING) AS group_id, {subject} AS subject, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition

-- part about_all: Of one that is about the whole cluster.
CAST(NULL AS STRING) AS group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition

-- part about_group(group): Of one that is about a whole group.
{group}, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition

-- part lasting: No event, but a condition, which still lasts.
CAST(NULL AS TIMESTAMP) AS at_time

-- part evidence: As the table that is read has it.
evidence_partition, evidence_first_offset, evidence_last_offset, confidence

-- part no_evidence: No record shows it.
CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  CAST(NULL AS BIGINT) AS evidence_last_offset

-- part harm(number): The last columns: the severity of the kind, and what makes one finding worse than another.
CAST(NULL AS STRING) AS severity, CAST({number} AS DOUBLE) AS harm

-- part counted(number, one, more): A number and the word for so many.
CAST({number} AS STRING) || CASE {number} WHEN 1 THEN {one} ELSE {more} END

-- part second(time): As text, which is in UTC and says so: people may read it beside times of another zone.
replace(substring(CAST({time} AS STRING), 1, 19), ' ', 'T') || 'Z'

-- part day(time): As text.
substring(CAST({time} AS STRING), 1, 10)

-- part offsets_partition(number): Its name.
'__consumer_offsets-' || CAST({number} AS STRING)

-- part records(partition, first, last): The records that show it.
{partition} AS evidence_partition, {first} AS evidence_first_offset, {last} AS evidence_last_offset

-- part is_newest_verdict: Of the newest as-of time of verdicts until the one that is asked for.
as_of_time = (
    SELECT max(as_of_time) FROM group_verdicts WHERE cluster = :cluster AND as_of_time <= :as_of_time
  )
