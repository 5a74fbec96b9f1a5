"""The view record_headroom: how near the records of each group come to the largest batch that the broker takes."""

from schemas.tables import GROUPS, Column, Type
from schemas.views.parts import (
    AS_OF,
    CLUSTERS,
    CLUSTERS_READ,
    LIMITS_READ,
    PRESENT_STATES,
    RANK,
    SETTINGS,
    SETTINGS_READ,
    column_list,
    limits,
    number_setting,
)
from schemas.words.lag import SettingsSource

# With what tells apart the records of a group: a classic one has one, with all its members.
RECORD_TABLES = {
    "classic_group_metadata": "''",
    "group_member_metadata": "member_id",
    "target_assignment_members": "member_id",
    "current_member_assignments": "member_id",
}
COLUMNS = (
    *GROUPS["CLUSTER"],
    RANK,
    *GROUPS["GROUP_ID"],
    Column("group_type", Type.STRING, "classic, consumer, share or streams; NULL: not known."),
    Column("num_members", Type.INT, "Members of the group now; NULL: not known."),
    Column("record_table", Type.STRING, "The table that the records are in. A group has one row for each such table."),
    Column("batch_bytes", Type.BIGINT, "Of the batches with records of the group in this table, bytes of the largest, "
           "as it is in the log: its header and all its records, compressed if they are. A batch that is mostly of "
           "other groups is chosen only if there is no other, because the coordinator begins another when it is full. "
           "Where the cleaner took records away, a batch is smaller than it was. NULL: not known, since all records "
           "are from archives, which have no batches, or were read by an older release of Groupscope."),
    Column("group_bytes", Type.BIGINT, "Keys and values of the group's records in that batch, in bytes, uncompressed, "
           "over all tables of this view."),
    Column("num_records", Type.BIGINT, "Number of the records in that batch that are in this table."),
    Column("largest_record_bytes", Type.BIGINT, "Bytes of the largest of these records: key and value."),
    Column("whole_bytes", Type.BIGINT, "Keys and values of all records of the group in this table that counted after "
           "that batch, in bytes, uncompressed: the newest of each member."),
    Column("share_written", Type.DOUBLE, "The part of whole_bytes that was written in that batch. Coordinators write "
           "only what changed; a batch with all of it would be larger. 1: it had all. NULL: no member was left."),
    Column("record_time", Type.TIMESTAMP, "When that batch was written."),
    Column("limit_bytes", Type.BIGINT, "The largest batch that the broker accepts: message.max.bytes of the newest "
           "snapshot, else record_limit_bytes in [gate] of the settings. If a group's batch would be larger, the "
           "coordinator refuses new members. NULL: no snapshot has it, and no run of `groupscope gate` has noted that "
           "setting yet."),
    Column("settings_source", Type.STRING, "Source of limit_bytes; dim_enum explains the values."),
    Column("share_of_limit", Type.DOUBLE, "batch_bytes / limit_bytes."),
    *GROUPS["EVIDENCE"][:3],
    *AS_OF,
)  # fmt: skip
READS = (*RECORD_TABLES, "group_state_intervals", *LIMITS_READ, *SETTINGS_READ, *CLUSTERS_READ)
RECORDS = "\n  UNION ALL\n".join(
    f"""\
  SELECT cluster, group_id, '{table}' AS record_table, {member} AS member_id, offsets_partition, record_offset,
    record_time, record_bytes, batch_bytes, is_tombstone, coalesce(batch_first_offset, record_offset) AS batch_offset
  FROM {table}"""
    for table, member in RECORD_TABLES.items()
)
SQL = f"""\
WITH {CLUSTERS},
{PRESENT_STATES},
{SETTINGS},
{limits("record_limit_bytes")},
records AS (
{RECORDS}
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
    record_limit_bytes, {number_setting("message.max.bytes")} AS captured_bytes
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
    CASE WHEN captured_bytes IS NULL THEN '{SettingsSource.DEFAULT}' ELSE '{SettingsSource.SNAPSHOT}' END
      AS settings_source
  FROM joined
),
ranked AS (
  SELECT limited.*, CAST(batch_bytes AS DOUBLE) / CAST(limit_bytes AS DOUBLE) AS share_of_limit,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY batch_bytes DESC NULLS LAST, group_id, record_table)
      AS BIGINT) AS rank
  FROM limited
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
