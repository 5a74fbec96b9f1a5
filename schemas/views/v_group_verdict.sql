-- The lag verdict on each group and partition at the newest as-of time, worst first: by the rules of Groupscope and of
-- Burrow, since when, and how often it changed. Which partitions do not advance, and since when?
-- reads: group_verdicts
--   +group_verdicts: cluster
--   +rank
--   +group_verdicts: group_id group_type topic topic_id partition own_verdict rule reason burrow_verdict burrow_rule
--       since_time last_commit_time lag time_lag_ms
--   num_alike bigint  Partitions of the group with the same own_verdict; 1 in the row of a group.
--   is_only_one boolean  TRUE: own_verdict of this partition is not OK, and all other partitions of the group are OK.
--   previous_verdict string  own_verdict at the previous as-of time; NULL: no previous verdict.
--   num_changes bigint  How often own_verdict changed in the 7 days before as_of_time.
--   +group_verdicts: evidence_partition evidence_first_offset evidence_last_offset confidence as_of_time
WITH newest AS (
  SELECT cluster AS of_cluster, max(as_of_time) AS newest_time
  FROM group_verdicts
  GROUP BY cluster
),
followed AS (
  SELECT verdicts.*, newest_time,
    lag(own_verdict) OVER (PARTITION BY cluster, group_id, topic, topic_id,
      partition ORDER BY as_of_time) AS previous_verdict
  FROM group_verdicts AS verdicts
  JOIN newest ON of_cluster = cluster
),
counted AS (
  SELECT followed.*, count(CASE WHEN as_of_time > newest_time - INTERVAL '7' DAY AND own_verdict <> previous_verdict
    THEN 1 END) OVER (PARTITION BY cluster, group_id, topic, topic_id, partition) AS num_changes
  FROM followed
),
judged AS (
  SELECT counted.*,
    CASE own_verdict {worst_first} END AS badness,
    CASE WHEN partition IS NULL THEN 1
      ELSE count(partition) OVER (PARTITION BY cluster, group_id, own_verdict) END AS num_alike,
    count(CASE WHEN own_verdict <> 'OK' THEN partition END) OVER (PARTITION BY cluster, group_id) AS num_in_trouble,
    count(partition) OVER (PARTITION BY cluster, group_id) AS num_partitions
  FROM counted
  WHERE as_of_time = newest_time
),
ranked AS (
  SELECT judged.*,
    partition IS NOT NULL AND own_verdict <> 'OK' AND num_in_trouble = 1 AND num_partitions > 1 AS is_only_one,
    {rank badness, lag DESC NULLS LAST, group_id, topic NULLS FIRST, topic_id NULLS FIRST,
      partition NULLS FIRST} AS rank
  FROM judged
)
