SELECT mark_time, text, coalesce(group_pattern, '') AS group_pattern
FROM marks
WHERE cluster = {cluster} AND removed_time IS NULL
ORDER BY mark_time DESC, recorded_time DESC
