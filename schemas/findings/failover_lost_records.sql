-- Records that a coordinator had written and that its successor does not have, by failover.
WITH {lost_records},
told AS (
  SELECT lost_records.*, from_time,
    CASE num_commits_lost WHEN 0 THEN '' WHEN 1 THEN ', 1 commit'
      ELSE ', ' || CAST(num_commits_lost AS STRING) || ' commits' END
      || CASE num_generations_lost WHEN 0 THEN '' WHEN 1 THEN ', 1 generation'
        ELSE ', ' || CAST(num_generations_lost AS STRING) || ' generations' END
      || CASE num_deletions_lost WHEN 0 THEN '' WHEN 1 THEN ', 1 deletion'
        ELSE ', ' || CAST(num_deletions_lost AS STRING) || ' deletions' END
      || CASE num_markers_lost WHEN 0 THEN '' WHEN 1 THEN ', 1 end of a transaction'
        ELSE ', ' || CAST(num_markers_lost AS STRING) || ' ends of transactions' END AS kinds,
    CASE num_groups_lost WHEN 1 THEN 'group ' ELSE 'groups ' END || first_group
      || CASE WHEN second_group IS NULL THEN '' WHEN num_groups_lost = 2 THEN ' and ' || second_group
        ELSE ', ' || second_group END
      || CASE WHEN third_group IS NULL THEN '' WHEN num_groups_lost = 3 THEN ' and ' || third_group
        ELSE ', ' || third_group || ' and ' || CAST(num_groups_lost - 3 AS STRING) || ' more' END AS names
  FROM lost_records
  JOIN coordinator_epochs AS begun ON begun.cluster = lost_records.cluster
    AND begun.offsets_partition = lost_records.offsets_partition
    AND begun.partition_leader_epoch = lost_records.new_leader_epoch
  WHERE begun.cluster = :cluster
)
SELECT {about {offsets_partition offsets_partition}}, from_time AS at_time,
  'leader epoch ' || CAST(new_leader_epoch AS STRING) AS event,
  'offsets partition ' || CAST(offsets_partition AS STRING) || ': leader epoch ' || CAST(new_leader_epoch AS STRING)
    || ' began without ' || {counted num_records_lost, ' record', ' records'}
    || ' that the coordinator before had written'
    || coalesce(' of ' || names, '') || CASE kinds WHEN '' THEN '' ELSE ': ' || substring(kinds, 3) END AS message,
  {records offsets_partition, first_lost_offset, last_lost_offset}, 'certain' AS confidence,
  CASE WHEN num_commits_lost = 0 AND num_generations_lost = 0 AND num_markers_lost = 0 THEN 'warning' END AS severity,
  CAST(num_records_lost AS DOUBLE) AS harm
FROM told
