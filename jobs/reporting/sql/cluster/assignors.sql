SELECT CASE WHEN coalesce(array_position(map_keys(settings), 'group.consumer.assignors'), 0) > 0
    THEN settings['group.consumer.assignors'] END AS assignor
FROM cluster_snapshots
WHERE cluster = {cluster} AND settings IS NOT NULL
ORDER BY captured_time DESC
LIMIT 1
