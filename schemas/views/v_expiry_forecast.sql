-- Committed offsets that expire if their groups stay as they are, the soonest first, with the messages at risk. Whose
-- offsets expire before the next run?
-- reads: expiry_forecast
--   +expiry_forecast: cluster
--   +rank
--   +expiry_forecast: group_id group_type topic topic_id partition expires_time
--   hours_left double  Hours from as_of_time to expires_time; negative: the coordinator's next check deletes the
--       offset.
--   +expiry_forecast: rule base_time settings_source committed_offset messages_at_risk blocked_by_transaction
--       evidence_partition evidence_first_offset evidence_last_offset confidence as_of_time
WITH ranked AS (
  SELECT forecast.*, CAST({seconds_between as_of_time, expires_time} AS DOUBLE) / 3600 AS hours_left,
    {rank blocked_by_transaction, expires_time NULLS LAST, messages_at_risk DESC NULLS LAST, group_id, topic NULLS LAST,
      topic_id NULLS LAST, partition} AS rank
  FROM expiry_forecast AS forecast
  WHERE rule <> 'never'
)
