-- Transactions on offsets that stay open for longer than hanging_transaction_ms, by group.
WITH members AS (
  SELECT DISTINCT offsets_partition, producer_id, producer_epoch, group_id
  FROM offset_commits
  WHERE cluster = :cluster AND is_transactional
)
SELECT members.group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'producer ' || CAST(hanging.producer_id AS STRING)
    || coalesce(', epoch ' || CAST(hanging.producer_epoch AS STRING), '') || ', has had a transaction open since '
    || substring(CAST(first_time AS STRING), 1, 19) AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  CAST(NULL AS STRING) AS severity, CAST(num_commits AS DOUBLE) AS harm
FROM transactions AS hanging
JOIN members ON members.offsets_partition = hanging.evidence_partition AND members.producer_id = hanging.producer_id
  AND coalesce(members.producer_epoch, -1) = coalesce(hanging.producer_epoch, -1)
WHERE hanging.cluster = :cluster AND outcome = 'open' AND first_time < :hanging_transaction_ms_before
