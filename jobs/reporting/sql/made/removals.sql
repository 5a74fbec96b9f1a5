-- Commits after which a partition had no committed offset any more, and when one was committed again.
WITH ended AS (
  SELECT group_id, place, from_record_offset, to_time, to_record_offset
  FROM committed
  WHERE to_time IS NOT NULL AND NOT EXISTS (
    FROM committed AS next
    WHERE next.group_id = committed.group_id AND next.place = committed.place
      AND next.from_record_offset = committed.to_record_offset
  )
)
SELECT ended.*, later.from_time AS next_time
FROM ended
ASOF LEFT JOIN (SELECT * FROM committed SEMI JOIN ended USING (group_id, place)) AS later
  ON later.group_id = ended.group_id AND later.place = ended.place
  AND later.from_record_offset >= ended.to_record_offset
