-- Transactions that committed offsets.
-- num_rows: Number of rows.
-- num_repeated_keys: Rows that repeat the key of another row.
-- limit num_repeated_keys critical: 0
-- num_open: Open transactions: no COMMIT or ABORT marker yet.
-- num_aborted: Transactions that were aborted.
-- rows_failing_hanging: Transactions open for longer than hanging_transaction_ms. Compaction and expiry wait for them.
-- rule hanging: outcome = 'open' AND first_time < :hanging_transaction_ms_before
-- rows_failing_ends_before_it_begins: Transactions whose marker is more than a minute older than their first record.
-- rule ends_before_it_begins warning: end_time < first_time - INTERVAL '1' MINUTE
SELECT count(*) AS num_rows,
  count(*) - count(DISTINCT (cluster, evidence_partition, producer_id, first_offset)) AS num_repeated_keys,
  count(*) FILTER (WHERE outcome = 'open') AS num_open,
  count(*) FILTER (WHERE outcome = 'aborted') AS num_aborted, :rules
FROM judged
