-- Commits of gated groups and topics with messages that are in no span that had passed, or was overridden, before.
SELECT group_id, topic, partition, commit_time AS at_time, {day commit_time} AS event, commit_time AS last_time,
  topic || '-' || CAST(partition AS STRING) || ': the commit of offset ' || CAST(committed_offset AS STRING) || ' has '
    || CAST(num_messages AS STRING)
    || CASE num_messages WHEN 1 THEN ' message, and no passed validation covers it'
      ELSE ' messages, and no passed validation covers ' || CAST(num_ungated_messages AS STRING) || ' of them' END
    AS message,
  {evidence}, {harm num_ungated_messages}
FROM v_ungated_commits
WHERE cluster = :cluster AND is_topic_gated
