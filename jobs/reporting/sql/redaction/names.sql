SELECT DISTINCT unnest([group_id, member_id, client_id, client_host, group_instance_id]) AS name, FALSE AS may_be_word
FROM membership_intervals
WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, topic, topic_id]), FALSE FROM offset_history WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([topic, topic_id]), FALSE FROM topics WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([topic, topic_id]), FALSE FROM ownership_intervals WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, topic]), FALSE FROM findings WHERE cluster = {cluster}
UNION
SELECT DISTINCT group_id, FALSE FROM group_state_intervals WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([member_id, subscribed_topic_regex]), FALSE FROM group_member_metadata
WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, actor, override_reason]), FALSE FROM gate_spans WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, regular_expression]), FALSE FROM group_regular_expressions WHERE cluster = {cluster}
UNION
SELECT DISTINCT source_file, FALSE FROM source_files WHERE cluster = {cluster}
UNION
SELECT DISTINCT assignor, TRUE FROM group_state_intervals WHERE cluster = {cluster}
UNION
SELECT DISTINCT assignor, TRUE FROM assignment_audit WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([assignor_before, assignor_after]), TRUE FROM rebalances WHERE cluster = {cluster}
UNION
SELECT DISTINCT server_assignor, TRUE FROM group_member_metadata WHERE cluster = {cluster}
UNION
SELECT DISTINCT protocol, TRUE FROM classic_group_metadata WHERE cluster = {cluster}
