-- How large the records of each group are, compared with the largest batch that the broker accepts, largest first.
-- Which groups will soon be too large?
-- reads: classic_group_metadata group_member_metadata target_assignment_members current_member_assignments
--     group_state_intervals gate_limits cluster_snapshots history_coverage topic_snapshots
--   +classic_group_metadata: cluster
--   +rank
--   +classic_group_metadata: group_id
--   group_type string  classic, consumer, share or streams; NULL: not known.
--   num_members int  Members of the group now; NULL: not known.
--   record_table string  The table that the records are in. A group has one row for each such table.
--   batch_bytes bigint  Of the batches with records of the group in this table, bytes of the largest, as it is in the
--       log: its header and all its records, compressed if they are. A batch that is mostly of other groups is chosen
--       only if there is no other, because the coordinator begins another when it is full. Where the cleaner took
--       records away, a batch is smaller than it was. NULL: not known, since all records are from archives, which
--       have no batches, or were read by an older release of Groupscope.
--   group_bytes bigint  Keys and values of the group's records in that batch, in bytes, uncompressed, over all tables
--       of this view.
--   num_records bigint  Number of the records in that batch that are in this table.
--   largest_record_bytes bigint  Bytes of the largest of these records: key and value.
--   whole_bytes bigint  Keys and values of all records of the group in this table that counted after that batch, in
--       bytes, uncompressed: the newest of each member.
--   share_written double  The part of whole_bytes that was written in that batch. Coordinators write only what
--       changed; a batch with all of it would be larger. 1: it had all. NULL: no member was left.
--   record_time timestamp  When that batch was written.
--   limit_bytes bigint  The largest batch that the broker accepts: message.max.bytes of the newest snapshot, else
--       record_limit_bytes in [gate] of the settings. If a group's batch would be larger, the coordinator refuses new
--       members. NULL: no snapshot has it, and no run of `groupscope gate` has noted that setting yet.
--   settings_source string  Source of limit_bytes; v_enums explains the values.
--   share_of_limit double  batch_bytes / limit_bytes.
--   +group_state_intervals: evidence_partition evidence_first_offset evidence_last_offset
--   +as_of
WITH {clusters},
{present_states},
{newest_settings},
limits AS (
  SELECT cluster, {limit record_limit_bytes}
  FROM gate_limits
  GROUP BY cluster
),
records AS (
{record_sizes classic_group_metadata, ''} UNION ALL
{record_sizes group_member_metadata, member_id} UNION ALL
{record_sizes target_assignment_members, member_id} UNION ALL
{record_sizes current_member_assignments, member_id}
),
batches AS (
  SELECT cluster, group_id, record_table, offsets_partition, batch_offset,
    CAST(max(batch_bytes) AS BIGINT) AS batch_bytes, CAST(sum(record_bytes) AS BIGINT) AS table_bytes,
    count(*) AS num_records, CAST(max(record_bytes) AS BIGINT) AS largest_record_bytes,
    max(record_time) AS record_time, min(record_offset) AS evidence_first_offset,
    max(record_offset) AS evidence_last_offset
  FROM records
  GROUP BY cluster, group_id, record_table, offsets_partition, batch_offset
),
of_groups AS (
  SELECT batches.*, CAST(sum(table_bytes) OVER (PARTITION BY cluster, group_id, offsets_partition, batch_offset)
    AS BIGINT) AS group_bytes
  FROM batches
),
placed AS (
  SELECT of_groups.*, row_number() OVER (PARTITION BY cluster, group_id, record_table
    ORDER BY CASE WHEN group_bytes > batch_bytes - group_bytes THEN 0 ELSE 1 END, batch_bytes DESC NULLS LAST,
      table_bytes DESC, evidence_last_offset DESC, offsets_partition) AS place
  FROM of_groups
),
largest AS (
  SELECT * FROM placed WHERE place = 1
),
newest AS (
  SELECT records.*, largest.batch_offset AS largest_offset, row_number() OVER (PARTITION BY records.cluster,
    records.group_id, records.record_table, records.member_id ORDER BY record_offset DESC) AS newest_place
  FROM records
  JOIN largest ON largest.cluster = records.cluster AND largest.group_id = records.group_id
    AND largest.record_table = records.record_table AND largest.offsets_partition = records.offsets_partition
    AND records.record_offset <= largest.evidence_last_offset
),
wholes AS (
  SELECT cluster, group_id, record_table, CAST(sum(record_bytes) AS BIGINT) AS whole_bytes,
    CAST(sum(CASE WHEN batch_offset = largest_offset THEN record_bytes ELSE 0 END) AS BIGINT) AS written_bytes
  FROM newest
  WHERE newest_place = 1 AND NOT is_tombstone
  GROUP BY cluster, group_id, record_table
),
joined AS (
  SELECT largest.*, largest.offsets_partition AS evidence_partition, states.group_type, states.num_members, as_of_time,
    history_since_time, whole_bytes, CAST(written_bytes AS DOUBLE) / CAST(whole_bytes AS DOUBLE) AS share_written,
    record_limit_bytes, {number_setting message.max.bytes} AS captured_bytes
  FROM largest
  JOIN present_states AS states ON states.cluster = largest.cluster AND states.group_id = largest.group_id
  LEFT JOIN wholes ON wholes.cluster = largest.cluster AND wholes.group_id = largest.group_id
    AND wholes.record_table = largest.record_table
  LEFT JOIN clusters ON clusters.cluster = largest.cluster
  LEFT JOIN newest_settings ON newest_settings.cluster = largest.cluster
  LEFT JOIN limits ON limits.cluster = largest.cluster
),
limited AS (
  SELECT joined.*, coalesce(captured_bytes, record_limit_bytes) AS limit_bytes,
    CASE WHEN captured_bytes IS NULL THEN 'default' ELSE 'snapshot' END
      AS settings_source
  FROM joined
),
ranked AS (
  SELECT limited.*, CAST(batch_bytes AS DOUBLE) / CAST(limit_bytes AS DOUBLE) AS share_of_limit,
    {rank batch_bytes DESC NULLS LAST, group_id, record_table} AS rank
  FROM limited
)
