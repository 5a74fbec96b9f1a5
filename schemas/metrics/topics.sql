-- Topics by name and id.
-- num_without_partitions: Topics whose number of partitions is unknown.
SELECT {keys}, count(*) FILTER (WHERE num_partitions IS NULL) AS num_without_partitions
FROM judged
