SELECT rank, severity, kind, is_new, group_id, topic, partition, topic_partitions, message, at_time, num_rows,
  evidence_partition, evidence_first_offset, evidence_last_offset, confidence, first_seen_time, waived_until_time, waiver,
  run_id, query
FROM v_findings
WHERE cluster = {cluster}
ORDER BY rank
