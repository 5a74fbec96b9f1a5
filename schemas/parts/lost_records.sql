-- part of_failover: What tells failovers apart.
cluster, offsets_partition, new_leader_epoch

-- part same_failover(one, other): Of the same failover.
{one}.cluster = {other}.cluster AND {one}.offsets_partition = {other}.offsets_partition
    AND {one}.new_leader_epoch = {other}.new_leader_epoch

-- part place_of_record(table): Where the records of a table are in the log.
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset FROM {table}

-- part lost_record(table, group, kind, generation): What a record was: a commit, a deletion, a generation, a marker or
-- something else; and its generation or target epoch.
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset, record_time, {group},
      {kind} AS kind, {generation} AS generation
    FROM {table}

-- part deletion_or(kind): What a record was that may be a tombstone.
CASE WHEN is_tombstone THEN 'deletion' ELSE {kind} END

-- part generation_or_other: Generation 0 is that of a group that somebody asked for, and nobody joined.
CASE WHEN generation = 0 THEN 'other' ELSE 'generation' END

-- part no_group: Of records that are of no group.
CAST(NULL AS STRING) AS group_id

-- part no_number: Of records without a generation.
CAST(NULL AS INT)

-- part lost_records: What each failover lost, and the groups that lost the most. A leader that was alone, or that did
-- not know that it had lost its office, wrote records that its successor does not have. They are in copies of its log,
-- and so in the decoded tables. Records that the cleaner took are no such records: the successor's log has nothing else
-- at their offsets. Of most clusters nothing is lost: then only the offsets are looked at. Each is read once: Spark
-- computes again what is read twice.
found AS (
  SELECT cluster, offsets_partition, partition_leader_epoch, max(record_offset) AS last_offset
  FROM (
{place_of_record offset_commits} UNION ALL
{place_of_record classic_group_metadata} UNION ALL
{place_of_record group_metadata} UNION ALL
{place_of_record group_member_metadata} UNION ALL
{place_of_record target_assignment_metadata} UNION ALL
{place_of_record target_assignment_members} UNION ALL
{place_of_record current_member_assignments} UNION ALL
{place_of_record group_partition_metadata} UNION ALL
{place_of_record group_regular_expressions} UNION ALL
{place_of_record streams_group_topologies} UNION ALL
{place_of_record transaction_markers} UNION ALL
{place_of_record rejected_records}
  ) AS every_place
  WHERE partition_leader_epoch IS NOT NULL
  GROUP BY cluster, offsets_partition, partition_leader_epoch
),
-- An epoch is cut off where the next one that has records begins. All later ones begin after that.
cut_off AS (
  SELECT found.cluster, found.offsets_partition, found.partition_leader_epoch,
    min(begun.partition_leader_epoch) AS new_leader_epoch, min(begun.first_offset) AS cut_offset
  FROM found
  JOIN coordinator_epochs AS begun ON begun.cluster = found.cluster
    AND begun.offsets_partition = found.offsets_partition
    AND begun.partition_leader_epoch > found.partition_leader_epoch
  GROUP BY found.cluster, found.offsets_partition, found.partition_leader_epoch
  HAVING max(found.last_offset) >= min(begun.first_offset)
),
lost AS (
  SELECT cut.cluster, cut.offsets_partition, new_leader_epoch, cut_offset, record_offset, record_time, group_id, kind,
    CASE kind WHEN 'generation' THEN generation END AS generation
  FROM (
{lost_record offset_commits, group_id, {deletion_or 'commit'}, {no_number}} UNION ALL
{lost_record classic_group_metadata, group_id, {deletion_or {generation_or_other}}, generation} UNION ALL
{lost_record group_metadata, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record group_member_metadata, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record target_assignment_metadata, group_id, {deletion_or 'generation'}, assignment_epoch} UNION ALL
{lost_record target_assignment_members, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record current_member_assignments, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record group_partition_metadata, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record group_regular_expressions, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record streams_group_topologies, group_id, {deletion_or 'other'}, {no_number}} UNION ALL
{lost_record transaction_markers, {no_group}, CASE WHEN marker = 'COMMIT' THEN 'marker' ELSE 'other' END,
  {no_number}} UNION ALL
{lost_record rejected_records, {no_group}, 'other', {no_number}}
  ) AS every_record
  JOIN cut_off AS cut ON cut.cluster = every_record.cluster
    AND cut.offsets_partition = every_record.offsets_partition
    AND cut.partition_leader_epoch = every_record.partition_leader_epoch AND record_offset >= cut_offset
),
by_generation AS (
  SELECT {of_failover}, cut_offset, group_id, generation, count(*) AS num_records,
    min(record_offset) AS begin_offset, max(record_offset) AS last_offset,
    min(record_time) AS earliest_time, max(record_time) AS latest_time,
    {how_many kind = 'commit'} AS num_commits, {how_many kind = 'deletion'} AS num_deletions,
    {how_many kind = 'marker'} AS num_markers,
    max(CASE kind WHEN 'commit' THEN record_offset END) AS commit_offset
  FROM lost
  GROUP BY {of_failover}, cut_offset, group_id, generation
),
-- What else the groups wrote of generations and targets, where that counts. A tombstone has none.
written AS (
  SELECT every.cluster, every.offsets_partition, every.group_id, every.record_offset, generation
  FROM (
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset, group_id,
      coalesce(generation, -1) AS generation
    FROM classic_group_metadata
    UNION ALL
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset, group_id,
      coalesce(assignment_epoch, -1) AS generation
    FROM target_assignment_metadata
  ) AS every
  LEFT JOIN coordinator_epochs AS term ON term.cluster = every.cluster
    AND term.offsets_partition = every.offsets_partition
    AND term.partition_leader_epoch = every.partition_leader_epoch
  WHERE every.partition_leader_epoch IS NULL
    OR every.record_offset BETWEEN term.first_offset AND term.last_offset
),
-- When a static member returns, the coordinator writes the same generation again. That one is not lost.
checked AS (
  SELECT gone.cluster, gone.offsets_partition, new_leader_epoch, cut_offset, gone.group_id, gone.generation,
    num_records, begin_offset, last_offset, earliest_time, latest_time, num_commits, num_deletions, num_markers,
    commit_offset, gone.generation IS NOT NULL
      AND coalesce(max_by(written.generation, written.record_offset), -1) <> gone.generation AS is_lost_generation
  FROM by_generation AS gone
  LEFT JOIN written ON written.cluster = gone.cluster AND written.offsets_partition = gone.offsets_partition
    AND written.group_id = gone.group_id AND written.record_offset < cut_offset
  GROUP BY gone.cluster, gone.offsets_partition, new_leader_epoch, cut_offset, gone.group_id, gone.generation,
    num_records, begin_offset, last_offset, earliest_time, latest_time, num_commits, num_deletions, num_markers,
    commit_offset
),
-- A coordinator accepts no commit between a generation and its record: whoever committed after it worked by it.
worked AS (
  SELECT checked.*, is_lost_generation AND coalesce(max(commit_offset) OVER (
      PARTITION BY {of_failover}, group_id
    ) > begin_offset, FALSE) AS is_worked_by
  FROM checked
),
by_group AS (
  SELECT {of_failover}, min(cut_offset) AS cut_offset, group_id, {total num_records} AS num_records,
    max(last_offset) AS last_offset, min(earliest_time) AS earliest_time, max(latest_time) AS latest_time,
    {total num_commits} AS num_commits, {total num_deletions} AS num_deletions,
    {total num_markers} AS num_markers, {how_many is_lost_generation} AS num_generations,
    {how_many is_worked_by} AS num_worked_by
  FROM worked
  GROUP BY {of_failover}, group_id
),
placed AS (
  SELECT by_group.*, row_number() OVER (
      PARTITION BY {of_failover}
      ORDER BY CASE WHEN group_id IS NULL THEN 1 ELSE 0 END, num_generations DESC, num_commits DESC, group_id
    ) AS place
  FROM by_group
),
lost_records AS (
  SELECT {of_failover}, min(cut_offset) AS first_lost_offset, max(last_offset) AS last_lost_offset,
    min(earliest_time) AS first_lost_time, max(latest_time) AS last_lost_time,
    {total num_records} AS num_records_lost, {total num_commits} AS num_commits_lost,
    {total num_deletions} AS num_deletions_lost, {total num_markers} AS num_markers_lost,
    {total num_generations} AS num_generations_lost, {total num_worked_by} AS num_worked_by,
    count(group_id) AS num_groups_lost, CASE WHEN count(group_id) > 0
      THEN array_sort(array_agg(DISTINCT group_id) FILTER (WHERE group_id IS NOT NULL)) END AS groups,
    max(CASE place WHEN 1 THEN group_id END) AS first_group, max(CASE place WHEN 2 THEN group_id END) AS second_group,
    max(CASE place WHEN 3 THEN group_id END) AS third_group
  FROM placed
  GROUP BY {of_failover}
)
