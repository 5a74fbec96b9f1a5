-- A cluster without a single snapshot of end offsets.
WITH captured AS (
  SELECT count(*) AS num_rows FROM topic_snapshots WHERE cluster = :cluster
)
SELECT CAST(NULL AS STRING) AS group_id, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  CAST(NULL AS TIMESTAMP) AS at_time,
  'no snapshot of topics: lag and everything that needs end offsets is unknown; `groupscope capture` takes some'
    AS message,
  CAST(NULL AS INT) AS evidence_partition, CAST(NULL AS BIGINT) AS evidence_first_offset,
  CAST(NULL AS BIGINT) AS evidence_last_offset, 'certain' AS confidence,
  CAST(NULL AS STRING) AS severity, CAST(1 AS DOUBLE) AS harm
FROM captured
WHERE num_rows = 0
