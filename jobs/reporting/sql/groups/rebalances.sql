SELECT *
FROM v_rebalances
WHERE cluster = {cluster} AND group_id IN ({groups}) AND start_time IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY assignment_offset DESC) <= {most}
ORDER BY group_id, start_time, assignment_offset
