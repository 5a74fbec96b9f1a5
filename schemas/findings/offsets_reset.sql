-- Offsets that were moved or deleted otherwise than by reading on or by expiry. Moves that follow each other within
-- reset_gap_s are one event: the members of a group go back one after the other. What follows a topic that was
-- truncated or made anew is one event a day.
WITH resets AS (
  SELECT offset_resets.*, CASE WHEN at_time <= INTERVAL '1' SECOND * :reset_gap_s + lag(at_time) OVER (
      PARTITION BY group_id, actor, kind IN ('deleted', 'truncation') ORDER BY at_time
    ) THEN NULL ELSE at_time END AS begin_time
  FROM offset_resets
  WHERE cluster = :cluster AND kind <> 'expired'
),
events AS (
  SELECT resets.*, CASE WHEN at_time IS NOT NULL THEN max(begin_time) OVER (
    PARTITION BY group_id, actor, kind IN ('deleted', 'truncation') ORDER BY at_time
  ) END AS first_time
  FROM resets
)
SELECT group_id, topic, topic_id AS topic_id, CAST(NULL AS INT) AS partition, partitions AS partitions, at_time,
  CASE kind WHEN 'truncation' THEN 'truncation ' || {day at_time}
    ELSE replace(CAST(first_time AS STRING), '+00', '') END AS event, at_time AS last_time,
  'offsets of ' || {counted num_partitions, ' partition of ', ' partitions of '} || coalesce(topic, '?') || ' were '
    || CASE kind WHEN 'to_earliest' THEN 'moved to the beginning of the log' WHEN 'to_latest' THEN 'moved to its end'
      WHEN 'shift' THEN 'all moved by the same number of messages' WHEN 'deleted' THEN 'deleted'
      WHEN 'truncation' THEN 'moved because the topic was truncated or created again' ELSE 'moved to other offsets' END
    || CASE WHEN kind = 'truncation' THEN '' ELSE CASE actor WHEN 'admin_likely' THEN ', probably by an admin tool'
      WHEN 'member' THEN ' by a member' WHEN 'transaction' THEN ' in a transaction'
      WHEN 'coordinator' THEN ' by the broker'
      ELSE CASE WHEN num_members = 0 AND kind <> 'deleted'
        THEN ' by an admin tool or by a program that commits for itself, which the log cannot tell apart'
        WHEN kind = 'deleted' THEN '' ELSE ' by an unknown program' END END END
    || coalesce(' (' || actor_reason || ')', '')
    || CASE WHEN messages_reread IS NULL AND messages_skipped IS NULL
      THEN ': how many messages are read again or skipped is not known'
      ELSE ': ' || coalesce(CAST(messages_reread AS STRING), 'an unknown number of')
        || CASE messages_reread WHEN 1 THEN ' message is' ELSE ' messages are' END || ' read again, '
        || coalesce(CAST(messages_skipped AS STRING), 'an unknown number') || ' skipped' END AS message,
  {evidence},
  CASE WHEN kind = 'deleted' THEN 'info' ELSE 'warning' END AS severity,
  CAST(coalesce(messages_reread, 0) AS DOUBLE) + CAST(coalesce(messages_skipped, 0) AS DOUBLE) AS harm
FROM events
