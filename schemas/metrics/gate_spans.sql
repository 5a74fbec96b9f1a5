-- Spans: ranges of messages whose data a consumer validated before it committed their offsets, as `gate --span`
--   recorded them.
-- num_failed: Spans that failed the validation, without an override.
-- num_overridden: Spans that failed the validation, but that somebody accepted with an override.
-- rows_failing_empty_span: Spans that end before they begin.
-- rule empty_span warning: to_offset < from_offset
SELECT {keys}, count(*) FILTER (WHERE verdict = 'failed') AS num_failed,
  count(*) FILTER (WHERE verdict = 'overridden') AS num_overridden, :rules
FROM judged
