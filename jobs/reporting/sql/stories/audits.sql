SELECT group_id, assignment_offset, verdict, reason, stale_topics
FROM assignment_audit
WHERE cluster = {cluster} AND group_id IN ({groups}) AND (stale_topics IS NOT NULL OR assignment_offset IN (
  SELECT max(assignment_offset) FROM assignment_audit WHERE cluster = {cluster} AND group_id IN ({groups})
  GROUP BY group_id
))
ORDER BY group_id, assignment_offset
