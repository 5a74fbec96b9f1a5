-- How many records of the log could be decoded: a row for each record type, value version and outcome. Malformed
-- records are first, then types and versions that this release of Groupscope does not know. Did a broker upgrade change
-- what can be read?
-- reads: rejected_records offset_commits classic_group_metadata group_regular_expressions streams_group_topologies
--     group_metadata group_partition_metadata group_member_metadata target_assignment_metadata
--     target_assignment_members current_member_assignments transaction_markers
--   +rejected_records: cluster
--   +rank
--   outcome string  malformed, unknown (a type or version that this release of Groupscope does not know) or decoded.
--   reason string  Why the records are in rejected_records; NULL: decoded.
--   record_type int  Kafka's record type: the int16 at the start of the key. Decoded records of type 9 count as type
--       15: both are in group_partition_metadata with group type share. NULL: transaction marker, damaged batch, no
--       key.
--   type string  Kafka's name of the record type, or COMMIT or ABORT; NULL: damaged batch, no key, unknown type.
--   value_version int  Version of the value's layout; NULL: tombstones, damaged batches, no version.
--   num_records bigint  Number of records with this record type, value version, outcome and reason. A damaged batch
--       or range of bytes counts as the records that were in it.
--   share_of_type double  Share of these records among all records of their type in the cluster, 0 to 1.
--   num_offsets_partitions bigint  Number of partitions of __consumer_offsets with these records.
--   first_record_time timestamp  Time of the earliest of these records; NULL: they have no times.
--   last_record_time timestamp  Time of the latest of these records; NULL: they have no times.
--   is_new_this_week boolean  TRUE: all of these records are from the 7 days before as_of_time. NULL: the log of the
--       cluster is known for less than 7 days.
--   evidence_partition int  The lowest partition of __consumer_offsets with these records.
--   evidence_first_offset bigint  Offset of the first of these records in that partition; NULL: damaged batches have
--       no offset.
--   evidence_last_offset bigint  Offset of the last of these records in that partition; NULL: damaged batches have no
--       offset.
--   table_name string  The table that has these records as rows.
--   as_of_time timestamp  Time of the newest record of the cluster.
--   history_since_time timestamp  Time of the oldest record of the cluster.
--   coverage_share double  Share of all records of the cluster that are decoded, 0 to 1.
WITH all_records AS (
{decoded_rows rejected_records, record_type, '', reason, num_records} UNION ALL
{decoded_rows offset_commits, key_version, '', '', 1} UNION ALL
{decoded_rows classic_group_metadata, 2, '', '', 1} UNION ALL
{decoded_rows group_regular_expressions, 16, '', '', 1} UNION ALL
{decoded_rows streams_group_topologies, 23, '', '', 1} UNION ALL
{decoded_rows group_metadata, {by_group_type 3, 11, 17}, '', '', 1} UNION ALL
{decoded_rows group_partition_metadata, {by_group_type 4, 15, 18}, '', '', 1} UNION ALL
{decoded_rows group_member_metadata, {by_group_type 5, 10, 19}, '', '', 1} UNION ALL
{decoded_rows target_assignment_metadata, {by_group_type 6, 12, 20}, '', '', 1} UNION ALL
{decoded_rows target_assignment_members, {by_group_type 7, 13, 21}, '', '', 1} UNION ALL
{decoded_rows current_member_assignments, {by_group_type 8, 14, 22}, '', '', 1} UNION ALL
{decoded_rows transaction_markers, CAST(NULL AS INT), marker, '', 1}
),
by_partition AS (
  SELECT cluster, table_name, record_type, marker, value_version, reason, offsets_partition,
    sum(number) AS num_records,
    min(record_offset) AS first_offset, max(record_offset) AS last_offset,
    min(record_time) AS first_time, max(record_time) AS last_time
  FROM all_records
  GROUP BY cluster, table_name, record_type, marker, value_version, reason, offsets_partition
),
placed AS (
  SELECT by_partition.*, row_number() OVER (
    PARTITION BY cluster, table_name, record_type, marker, value_version, reason
    ORDER BY offsets_partition NULLS LAST) AS place
  FROM by_partition
),
kinds AS (
  SELECT cluster, table_name, record_type, value_version, NULLIF(reason, '') AS reason,
    CASE WHEN marker <> '' THEN marker ELSE CASE record_type {type_names} END END AS type,
    CASE WHEN reason = '' THEN 'decoded' WHEN reason IN ({unknown_reasons}) THEN 'unknown'
      ELSE 'malformed' END AS outcome,
    CAST(sum(num_records) AS BIGINT) AS num_records,
    count(offsets_partition) AS num_offsets_partitions,
    min(first_time) AS first_record_time, max(last_time) AS last_record_time,
    min(offsets_partition) AS evidence_partition,
    min(CASE WHEN place = 1 THEN first_offset END) AS evidence_first_offset,
    min(CASE WHEN place = 1 THEN last_offset END) AS evidence_last_offset
  FROM placed
  GROUP BY cluster, table_name, record_type, marker, value_version, reason
),
clusters AS (
  SELECT cluster, max(last_record_time) AS as_of_time, min(first_record_time) AS history_since_time,
    CAST(sum(num_records) AS DOUBLE) AS num_all,
    CAST(sum(CASE WHEN outcome = 'decoded' THEN num_records ELSE 0 END) AS DOUBLE) AS num_decoded
  FROM kinds
  GROUP BY cluster
),
judged AS (
  SELECT kinds.*, as_of_time, history_since_time, num_decoded / NULLIF(num_all, 0) AS coverage_share,
    CAST(num_records AS DOUBLE)
      / NULLIF(CAST(sum(num_records) OVER (PARTITION BY kinds.cluster, record_type, type) AS DOUBLE), 0)
      AS share_of_type,
    CASE WHEN history_since_time <= as_of_time - INTERVAL '7' DAY
      THEN first_record_time > as_of_time - INTERVAL '7' DAY END AS is_new_this_week,
    CASE outcome WHEN 'malformed' THEN 1 WHEN 'unknown' THEN 2 ELSE 3 END AS severity
  FROM kinds JOIN clusters ON kinds.cluster = clusters.cluster
),
{ranked judged, severity, CASE WHEN is_new_this_week THEN 1 ELSE 2 END, num_records DESC, record_type NULLS LAST,
  type NULLS LAST, value_version NULLS LAST, reason NULLS LAST, table_name}
