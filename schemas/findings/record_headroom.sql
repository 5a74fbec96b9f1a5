-- Groups with a batch of records that fills more than 70 % of the largest that brokers accept, by the newest snapshot
-- or else by record_limit_bytes. A batch that is mostly of others is no sign: the coordinator begins a new one when it
-- is full.
SELECT {about_group group_id}, {lasting},
  'its largest batch in ' || record_table || coalesce(', of ' || {second record_time}, '')
    || ', has ' || CAST(batch_bytes AS STRING) || ' bytes'
    || CASE WHEN share_written < 0.99
       THEN ', with ' || CAST(CAST(round(share_written * 100) AS INT) AS STRING) || ' % of the group''s records there'
      ELSE '' END
    || '; brokers accept up to ' || CAST(limit_bytes AS STRING) AS message,
  evidence_partition, evidence_first_offset, evidence_last_offset, 'certain' AS confidence, {harm batch_bytes}
FROM v_record_headroom
WHERE cluster = :cluster AND CAST(batch_bytes AS BIGINT) * 10 > CAST(limit_bytes AS BIGINT) * 7
  AND group_bytes > batch_bytes - group_bytes
