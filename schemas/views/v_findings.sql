-- The findings of the newest whole run of the gate, worst first, each with its age and whether it is new. A run that
-- --group, --exclude-group, --since or --until narrowed is never a whole one: its findings are shown only while a
-- cluster has no whole run, with what narrowed it. What is wrong now, and since when?
-- reads: findings gate_runs runs
--   +findings: cluster rank severity is_new
--   age_ms bigint  Time from the begin of the event or condition to the as-of time of the run, to the second. It
--       counts from at_time; without one from since_time, or else from first_seen_time.
--   +findings: run_id kind subject group_id topic partition message at_time since_time messages_waiting owners
--       topic_partitions num_rows evidence_partition evidence_first_offset evidence_last_offset confidence
--       first_seen_time waived_until_time waiver query
--   +runs: as_of_time
--   +gate_runs: narrowed_by
WITH shown AS (
  SELECT cluster, {shown_run} AS run_id FROM gate_runs GROUP BY cluster
),
dated AS (
  SELECT shown.cluster, shown.run_id, max(run.as_of_time) AS as_of_time, max(judged.narrowed_by) AS narrowed_by
  FROM shown
  JOIN gate_runs AS judged ON judged.cluster = shown.cluster AND judged.run_id = shown.run_id
  LEFT JOIN runs AS run ON run.cluster = shown.cluster AND run.run_id = shown.run_id AND run.job = 'gate'
  GROUP BY shown.cluster, shown.run_id
),
aged AS (
  SELECT found.*, as_of_time, narrowed_by, 1000 * {seconds_between {begin_of_finding}, as_of_time} AS age_ms
  FROM dated
  JOIN findings AS found ON found.cluster = dated.cluster AND found.run_id = dated.run_id
)
SELECT {columns}
FROM aged
ORDER BY cluster, rank
