-- Commits of gated groups with messages that no span covered, or none that had passed or was overridden before the
-- commit. Commits with the most such messages are first. Which commits bypassed the gate, and who owned the partition
-- at that time?
-- reads: gate_spans offset_history ownership_intervals
--   +gate_spans: cluster
--   +rank
--   +gate_spans: group_id topic partition
--   commit_time timestamp  The broker's clock at the commit; history time, if the record does not have the commit's
--       time.
--   previous_offset bigint  The offset in effect before the commit.
--   +offset_history: committed_offset
--   num_messages bigint  Messages that the commit committed.
--   num_ungated_messages bigint  Of these, messages in no span that had passed, or was overridden, before the commit.
--   is_topic_gated boolean  FALSE: the group had spans of other topics only, at the time of the commit.
--   gated_later_time timestamp  When a span with some of these messages passed after the commit; NULL: never.
--   +offset_history: via
--   member_id string  Member that owned the partition at that time; NULL: none, or not known.
--   +ownership_intervals: client_id client_host evidence_partition evidence_first_offset evidence_last_offset
--       confidence
WITH {gated_commits},
ungated AS (
  SELECT covered.*, coalesce(gated_topics.first_span_time <= covered.commit_time, FALSE) AS is_topic_gated
  FROM covered LEFT JOIN gated_topics ON {same_group_and_topic gated_topics, covered}
  WHERE covered.num_ungated_messages > 0
),
gated_later AS (
  SELECT ungated.cluster, ungated.group_id, ungated.topic, ungated.partition, ungated.commit_offset,
    min(span.recorded_time) AS gated_later_time
  FROM ungated JOIN gate_spans AS span ON {same_partition span, ungated}
    AND span.verdict = 'passed' AND span.recorded_time > ungated.commit_time
    AND span.from_offset < ungated.committed_offset AND span.to_offset > ungated.previous_offset
  GROUP BY ungated.cluster, ungated.group_id, ungated.topic, ungated.partition, ungated.commit_offset
),
owners AS (
  SELECT ungated.cluster, ungated.group_id, ungated.topic, ungated.partition, ungated.commit_offset, stay.member_id,
    stay.client_id, stay.client_host,
    row_number() OVER (PARTITION BY ungated.cluster, ungated.group_id, ungated.topic, ungated.partition,
      ungated.commit_offset ORDER BY stay.from_record_offset DESC, stay.member_id,
      stay.phase, stay.client_id NULLS LAST, stay.client_host NULLS LAST) AS age
  FROM ungated JOIN ownership_intervals AS stay ON {same_partition stay, ungated}
    AND stay.from_record_offset <= ungated.commit_offset
      AND coalesce(stay.to_record_offset > ungated.commit_offset, TRUE)
    AND coalesce(stay.role, 'active') = 'active'
),
ranked AS (
  SELECT ungated.*, gated_later.gated_later_time, owners.member_id, owners.client_id, owners.client_host,
    CAST(row_number() OVER (PARTITION BY ungated.cluster ORDER BY ungated.num_ungated_messages DESC,
      ungated.commit_time DESC, ungated.group_id, ungated.topic, ungated.partition, ungated.commit_offset) AS BIGINT)
      AS rank
  FROM ungated
  LEFT JOIN gated_later ON {same_commit gated_later, ungated}
  LEFT JOIN owners ON {same_commit owners, ungated} AND owners.age = 1
)
