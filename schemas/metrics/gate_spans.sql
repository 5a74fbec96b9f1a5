-- Spans of messages that were validated before their offsets were committed.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_failed: Spans that failed and were not overridden.
-- num_overridden: Spans that failed and were overridden.
-- rows_failing_empty_span: Spans that end before they begin.
-- rule empty_span: to_offset < from_offset
WITH judged AS (
  SELECT * FROM gate_spans WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, topic, partition, from_offset,
  to_offset, recorded_time)) AS num_repeated_keys,   count(*) FILTER (WHERE verdict = 'failed') AS num_failed,
  count(*) FILTER (WHERE verdict = 'overridden') AS num_overridden,   :rules
FROM judged
