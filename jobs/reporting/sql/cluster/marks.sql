SELECT mark_time, text, group_pattern
FROM marks
WHERE cluster = {cluster} AND removed_time IS NULL
ORDER BY mark_time, recorded_time, text
