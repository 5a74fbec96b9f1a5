SELECT group_id, assignment_offset, member_id, change, is_leader, previous_assigned, assigned
FROM generation_members
WHERE cluster = {cluster} AND group_id IN ({groups})
QUALIFY row_number() OVER (PARTITION BY group_id ORDER BY assignment_offset DESC, member_id) <= {most}
ORDER BY group_id, assignment_offset, member_id
