-- Transactions on offsets that stay open for longer than hanging_transaction_ms, by group.
WITH hanging AS (
  SELECT * FROM transactions
  WHERE cluster = :cluster AND first_time < :hanging_transaction_ms_before
    AND (outcome = 'open' OR end_time > :as_of_time)
), waiting AS (
  -- While no marker has ended a transaction, all that its producer commits after its first record is part of it.
  SELECT DISTINCT hanging.evidence_partition, hanging.producer_id, hanging.first_offset, commits.group_id
  FROM hanging
  JOIN offset_commits AS commits ON commits.offsets_partition = hanging.evidence_partition
    AND commits.producer_id = hanging.producer_id AND commits.record_offset >= hanging.first_offset
    AND (hanging.outcome = 'open' OR commits.record_offset <= hanging.evidence_last_offset)
  WHERE commits.cluster = :cluster AND commits.is_transactional
    AND (commits.record_time IS NULL OR commits.record_time <= :as_of_time)
)
SELECT {about_group waiting.group_id}, {lasting},
  'producer ' || CAST(hanging.producer_id AS STRING)
    || coalesce(', epoch ' || CAST(hanging.producer_epoch AS STRING), '') || ', has had a transaction open since '
    || {second first_time} AS message,
  hanging.evidence_partition, evidence_first_offset, evidence_last_offset, confidence, {harm num_commits}
FROM hanging
JOIN waiting ON waiting.evidence_partition = hanging.evidence_partition
  AND waiting.producer_id = hanging.producer_id AND waiting.first_offset = hanging.first_offset
