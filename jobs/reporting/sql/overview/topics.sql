SELECT DISTINCT group_id, topic
FROM (
  SELECT cluster, group_id, topic FROM offset_history
  UNION ALL
  SELECT cluster, group_id, topic FROM ownership_intervals
) AS used
WHERE cluster = {cluster} AND topic IS NOT NULL
ORDER BY group_id, topic
