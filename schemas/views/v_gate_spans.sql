-- Validated spans: gaps before them that no span covers, overlaps with the previous span, the causes, and rows expected
-- and written. Failed spans are first, then those with the largest gap or overlap.
-- reads: gate_spans offset_history offset_resets lag_points
--   +gate_spans: cluster
--   +rank
--   +gate_spans: group_id topic partition
--   span_number bigint  Number of the span among those of the group and partition, in the order of recording.
--   +gate_spans: from_offset to_offset
--   previous_end_offset bigint  to_offset of the previous span; NULL: no previous span.
--   num_gap bigint  Number of offsets before from_offset that no span covers, back to the nearest span below,
--       whenever that was recorded; NULL: there is none below.
--   num_overlap bigint  Number of offsets of this span that are below previous_end_offset; NULL: no previous span.
--   cause string  Why there is a gap or an overlap; v_enums explains the values. NULL: no gap or overlap, or the
--       history does not show why.
--   num_rows_expected bigint  Offsets in the span, including those of transaction markers and compacted messages.
--   +gate_spans: num_rows_written
--   deviation double  (num_rows_written - num_rows_expected) / num_rows_expected: -0.1 means that a tenth of the
--       expected rows is missing. NULL: num_rows_written is NULL.
--   num_attempts bigint  How often the span was recorded; the row shows the newest record of it.
--   +gate_spans: suite verdict override_reason actor until_time recorded_time result_hash
--- An overlap is with the span that was recorded before. A gap is offsets that no span has, in any order of recording:
--- no gap comes from a span that is validated again, and a span that is recorded late ends a gap.
--- An attempt that failed is none of the spans when the same span was recorded again, nor is one repeated at once.
WITH tried AS (
  SELECT gate_spans.*, count(*) OVER (PARTITION BY cluster, group_id, topic, partition, from_offset,
    to_offset) AS num_attempts,
    lead(verdict) OVER (PARTITION BY cluster, group_id, topic, partition, from_offset,
      to_offset ORDER BY {by_recording}) AS later_verdict
  FROM gate_spans
),
followed AS (
  SELECT tried.*, lead(from_offset) OVER (PARTITION BY cluster, group_id, topic,
    partition ORDER BY {by_recording}) AS next_from_offset,
    lead(to_offset) OVER (PARTITION BY cluster, group_id, topic, partition ORDER BY {by_recording}) AS next_to_offset
  FROM tried
  WHERE verdict <> 'failed' OR later_verdict IS NULL
),
ordered AS (
  SELECT followed.*, row_number() OVER (PARTITION BY cluster, group_id, topic,
    partition ORDER BY {by_recording}) AS span_number,
    lag(to_offset) OVER (PARTITION BY cluster, group_id, topic,
      partition ORDER BY {by_recording}) AS previous_end_offset,
    lag(recorded_time) OVER (PARTITION BY cluster, group_id, topic, partition ORDER BY {by_recording}) AS previous_time
  FROM followed
  WHERE next_from_offset IS NULL OR next_from_offset <> from_offset OR next_to_offset <> to_offset
),
placed AS (
  SELECT ordered.*, max(to_offset) OVER (PARTITION BY cluster, group_id, topic, partition ORDER BY from_offset,
    span_number
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_end_offset
  FROM ordered
),
spans AS (
  SELECT placed.*, to_offset - from_offset AS num_rows_expected,
    CASE WHEN from_offset > covered_end_offset THEN from_offset - covered_end_offset
      WHEN covered_end_offset IS NOT NULL THEN 0 END AS num_gap,
    CASE WHEN from_offset >= previous_end_offset THEN 0 WHEN to_offset < previous_end_offset
      THEN to_offset - from_offset ELSE previous_end_offset - from_offset END AS num_overlap
  FROM placed
),
stepped AS (
  SELECT spans.cluster, spans.group_id, spans.topic, spans.partition, spans.span_number,
    max(CASE WHEN step.delta < 0 THEN 1 ELSE 0 END) AS went_back,
    max(CASE WHEN step.delta > 0 AND step.previous_offset >= spans.covered_end_offset
      AND step.committed_offset <= spans.from_offset THEN 1 ELSE 0 END) AS was_committed,
    max(CASE WHEN step.committed_offset = spans.from_offset
      AND step.previous_offset < spans.covered_end_offset THEN 1 ELSE 0 END) AS was_stepped_over
  FROM spans JOIN offset_history AS step ON {same_partition step, spans}
    AND coalesce(step.commit_time, step.from_time) BETWEEN spans.previous_time AND spans.recorded_time
  GROUP BY spans.cluster, spans.group_id, spans.topic, spans.partition, spans.span_number
),
moved AS (
  SELECT DISTINCT spans.cluster, spans.group_id, spans.topic, spans.partition, spans.span_number
  FROM spans
  JOIN offset_history AS step ON {same_partition step, spans}
  JOIN offset_resets AS event ON event.cluster = spans.cluster AND event.group_id = spans.group_id
    AND event.topic = spans.topic AND event.evidence_partition = step.evidence_partition
      AND event.at_time BETWEEN spans.previous_time AND spans.recorded_time
    AND (step.from_record_offset BETWEEN event.evidence_first_offset AND event.evidence_last_offset
      OR step.to_record_offset BETWEEN event.evidence_first_offset AND event.evidence_last_offset)
),
lost AS (
  SELECT DISTINCT spans.cluster, spans.group_id, spans.topic, spans.partition, spans.span_number
  FROM spans JOIN lag_points AS point ON {same_partition point, spans}
    AND point.snapshot_time <= spans.recorded_time AND point.log_start_offset > spans.covered_end_offset
),
explained AS (
  SELECT spans.*,
    CASE WHEN coalesce(num_gap + num_overlap, num_gap, num_overlap) = 0 THEN NULL
      WHEN moved.span_number IS NOT NULL THEN 'reset'
      WHEN num_overlap > 0 AND went_back = 1 THEN 'rewind'
      WHEN num_gap > 0 AND lost.span_number IS NOT NULL THEN 'retention_loss'
      WHEN num_gap > 0 AND was_committed = 1 THEN 'ungated_commit'
      WHEN num_gap > 0 AND was_stepped_over = 1 THEN 'transaction_hole' END AS cause,
    CASE WHEN num_rows_expected <> 0 THEN CAST(num_rows_written - num_rows_expected AS DOUBLE)
      / CAST(num_rows_expected AS DOUBLE) END AS deviation
  FROM spans
  LEFT JOIN stepped ON {same_partition stepped, spans} AND stepped.span_number = spans.span_number
  LEFT JOIN moved ON {same_partition moved, spans} AND moved.span_number = spans.span_number
  LEFT JOIN lost ON {same_partition lost, spans} AND lost.span_number = spans.span_number
),
{ranked explained, CASE WHEN verdict = 'failed' THEN 0 ELSE 1 END,
  coalesce(num_gap + num_overlap, num_gap, num_overlap) DESC NULLS LAST, abs(deviation) DESC NULLS LAST, group_id,
  topic, partition, span_number}
