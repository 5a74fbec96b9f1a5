SELECT group_id, member_id
FROM ids
ORDER BY group_id, member
