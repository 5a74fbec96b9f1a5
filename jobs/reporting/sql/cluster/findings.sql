SELECT rank, severity, kind, coalesce(is_new, FALSE) AS is_new, group_id, topic, partition, topic_partitions, message,
  messages_waiting, at_time, since_time, evidence_partition, evidence_first_offset, evidence_last_offset, confidence,
  first_seen_time, waived_until_time, waiver, run_id, query
FROM v_findings
WHERE cluster = {cluster}
ORDER BY waived_until_time IS NOT NULL, rank
