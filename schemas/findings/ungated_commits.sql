-- Commits of gated groups and topics, after their first validated span, whose last message is in no span that
-- passed.
WITH gated AS (
  SELECT group_id, topic, min(recorded_time) AS since_time
  FROM gate_spans
  WHERE cluster = :cluster
  GROUP BY group_id, topic
)
SELECT history.group_id, history.topic, history.partition, history.commit_time AS at_time,
  history.topic || '-' || CAST(history.partition AS STRING) || ': offset ' || CAST(committed_offset AS STRING)
    || ' was committed, and no validated span holds the message before it' AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(coalesce(delta, 0) AS DOUBLE) AS harm
FROM offset_history AS history
JOIN gated ON gated.group_id = history.group_id AND gated.topic = history.topic
WHERE history.cluster = :cluster AND history.commit_time > gated.since_time AND history.delta > 0
  AND NOT EXISTS (
    SELECT 1 FROM gate_spans AS spans
    WHERE spans.cluster = history.cluster AND spans.group_id = history.group_id AND spans.topic = history.topic
      AND spans.partition = history.partition AND spans.verdict IN ('passed', 'overridden')
      AND spans.recorded_time <= history.commit_time AND spans.from_offset < history.committed_offset
      AND history.committed_offset <= spans.to_offset
  )
