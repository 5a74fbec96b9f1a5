-- Committed offsets that were moved or removed in another way than by reading messages.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- num_messages_reread: Messages that are read again, because these resets moved offsets back over them.
-- num_messages_skipped: Messages that are not read, because these resets moved offsets forward past them.
-- rows_failing_evidence_order: Rows whose evidence ends before it begins.
-- rule evidence_order: evidence_first_offset > evidence_last_offset
WITH judged AS (
  SELECT * FROM offset_resets WHERE cluster = :cluster
)
SELECT count(*) AS num_rows,   count(*) - count(DISTINCT (cluster, group_id, topic, topic_id,
  evidence_first_offset, kind)) AS num_repeated_keys,   coalesce(sum(CAST(messages_reread AS DOUBLE)), 0) AS num_messages_reread,
  coalesce(sum(CAST(messages_skipped AS DOUBLE)), 0) AS num_messages_skipped,   :rules
FROM judged
