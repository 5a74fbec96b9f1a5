SELECT DISTINCT unnest([group_id, member_id, client_id, client_host, group_instance_id]) AS name
FROM membership_intervals
WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, topic, topic_id]) FROM offset_history WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([topic, topic_id]) FROM topics WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([topic, topic_id]) FROM ownership_intervals WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, topic]) FROM findings WHERE cluster = {cluster}
UNION
SELECT DISTINCT group_id FROM group_state_intervals WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([member_id, subscribed_topic_regex, server_assignor]) FROM group_member_metadata
WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, actor, override_reason]) FROM gate_spans WHERE cluster = {cluster}
UNION
SELECT DISTINCT unnest([group_id, regular_expression]) FROM group_regular_expressions WHERE cluster = {cluster}
UNION
SELECT DISTINCT source_file FROM source_files WHERE cluster = {cluster}
