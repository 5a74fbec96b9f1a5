-- Transactions that committed offsets and have no marker yet, oldest first. Is one hanging, and which groups wait for
-- it?
-- reads: transactions history_coverage topic_snapshots
--   +transactions: cluster
--   +rank
--   +transactions: producer_id producer_epoch first_offset first_time groups num_commits
--   age_ms bigint  Time from the transaction's first record to as_of_time, in milliseconds (whole seconds only);
--       NULL: the records have no time.
--   +transactions: evidence_partition evidence_first_offset evidence_last_offset confidence
--   +as_of
WITH {clusters},
aged AS (
  SELECT begun.*, as_of_time, history_since_time, 1000 * {seconds_between first_time, as_of_time} AS age_ms
  FROM transactions AS begun LEFT JOIN clusters ON clusters.cluster = begun.cluster
  WHERE outcome = 'open'
),
{ranked aged, age_ms DESC NULLS LAST, evidence_partition, first_offset, producer_id}
