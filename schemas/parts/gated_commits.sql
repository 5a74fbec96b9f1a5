-- part same_partition(one, other): Of the same group and partition.
{one}.cluster = {other}.cluster AND {one}.group_id = {other}.group_id AND {one}.topic = {other}.topic
    AND {one}.partition = {other}.partition

-- part same_commit(one, other): Of the same commit, by the record that it begins with.
{same_partition {one}, {other}} AND {one}.commit_offset = {other}.commit_offset

-- part same_group_and_topic(one, other): Of the same group and topic.
{one}.cluster = {other}.cluster AND {one}.group_id = {other}.group_id AND {one}.topic = {other}.topic

-- part gated_commits: Commits of groups that record spans, with how many of their messages were validated before. A
-- commit covers the offsets from the one that held before to its own. The first commit of a partition is left out: how
-- much was read before it is not known. What a commit covers begins at the offset before, so it is no surer than that
-- one. Where several results are about one span, the newest before the commit counts, the worst where they are of one
-- time.
gated AS (
  SELECT cluster, group_id, min(recorded_time) AS since_time FROM gate_spans GROUP BY cluster, group_id
),
commits AS (
  SELECT step.cluster, step.group_id, step.topic, step.partition, step.from_record_offset AS commit_offset,
    coalesce(step.commit_time, step.from_time) AS commit_time, step.previous_offset, step.committed_offset, step.via,
    step.delta AS num_messages, step.evidence_partition,
    step.evidence_first_offset, step.evidence_last_offset, coalesce(earlier.confidence, step.confidence) AS confidence
  FROM offset_history AS step JOIN gated ON gated.cluster = step.cluster AND gated.group_id = step.group_id
  LEFT JOIN offset_history AS earlier ON {same_partition earlier, step}
    AND earlier.to_record_offset = step.from_record_offset
    AND earlier.evidence_partition = step.evidence_partition AND earlier.confidence = 'possible'
  WHERE step.delta > 0 AND coalesce(step.commit_time, step.from_time) >= gated.since_time
),
judged AS (
  SELECT commits.cluster, commits.group_id, commits.topic, commits.partition, commits.commit_offset,
    commits.commit_time, span.verdict, span.until_time,
    CASE WHEN span.from_offset > commits.previous_offset THEN span.from_offset ELSE commits.previous_offset END
      AS first_offset,
    CASE WHEN span.to_offset < commits.committed_offset THEN span.to_offset ELSE commits.committed_offset END
      AS end_offset,
    row_number() OVER (PARTITION BY commits.cluster, commits.group_id, commits.topic, commits.partition,
      commits.commit_offset, span.from_offset, span.to_offset
      ORDER BY span.recorded_time DESC, span.verdict) AS age
  FROM commits
  JOIN gate_spans AS span ON {same_partition span, commits} AND span.recorded_time <= commits.commit_time
    AND span.from_offset < commits.committed_offset AND span.to_offset > commits.previous_offset
),
reached AS (
  SELECT judged.*, max(end_offset) OVER (PARTITION BY cluster, group_id, topic, partition,
    commit_offset ORDER BY first_offset, end_offset
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_offset
  FROM judged
  WHERE age = 1 AND (verdict = 'passed'
    OR (verdict = 'overridden' AND until_time > commit_time))
),
sums AS (
  SELECT cluster, group_id, topic, partition, commit_offset, {total CASE WHEN reached_offset IS NULL
    OR reached_offset <= first_offset THEN end_offset - first_offset
      WHEN reached_offset < end_offset THEN end_offset - reached_offset ELSE 0 END} AS num_gated_messages
  FROM reached
  GROUP BY cluster, group_id, topic, partition, commit_offset
),
covered AS (
  SELECT commits.*, coalesce(sums.num_gated_messages, 0) AS num_gated_messages,
    commits.num_messages - coalesce(sums.num_gated_messages, 0) AS num_ungated_messages
  FROM commits LEFT JOIN sums ON {same_commit sums, commits}
),
gated_topics AS (
  SELECT cluster, group_id, topic, min(recorded_time) AS first_span_time, max(recorded_time) AS last_span_time,
    count(*) AS num_spans
  FROM gate_spans
  GROUP BY cluster, group_id, topic
)
