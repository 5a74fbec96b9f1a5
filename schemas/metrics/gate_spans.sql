-- Ranges of messages that a consumer checked before it committed their offsets, as `gate --span` recorded them.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_failed: Ranges that failed the check, without an override.
-- num_overridden: Ranges that failed the check and were recorded with an override, so that they may be committed.
-- rows_failing_empty_span: Ranges that end before they begin.
-- rule empty_span: to_offset < from_offset
WITH judged AS (
  SELECT * FROM gate_spans WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, topic, partition, from_offset,
  to_offset, recorded_time)) AS num_repeated_keys,   count(*) FILTER (WHERE verdict = 'failed') AS num_failed,
  count(*) FILTER (WHERE verdict = 'overridden') AS num_overridden,   :rules
FROM judged
