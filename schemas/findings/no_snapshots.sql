-- A cluster without a single snapshot of end offsets.
WITH captured AS (
  SELECT count(*) AS num_rows FROM topic_snapshots WHERE cluster = :cluster
)
SELECT {about_all}, {lasting},
  'no snapshot of topics: lag and everything that needs end offsets is unknown; `groupscope capture` takes some'
    AS message,
  {no_evidence}, 'certain' AS confidence, {harm 1}
FROM captured
WHERE num_rows = 0
