SELECT group_id, assignment_offset, generation_or_epoch, record_time, assignor, verdict, reason, num_different,
  differences, imbalance, moves_made, moves_needed, known_defect, stale_topics
FROM assignment_audit
WHERE cluster = {cluster} AND group_id IN ({groups})
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY assignment_offset DESC) <= {most}
ORDER BY group_id, assignment_offset
