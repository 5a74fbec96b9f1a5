"""The view record_headroom: how near the records of each group come to the largest batch that the broker takes."""

from schemas.declarations.columns import Column, Type
from schemas.tables.history_columns import EVIDENCE
from schemas.tables.record_columns import CLUSTER, GROUP_ID
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

RECORD_TABLES = (
    "classic_group_metadata", "group_member_metadata", "target_assignment_members", "current_member_assignments",
)  # fmt: skip
COLUMNS = (
    CLUSTER,
    RANK,
    GROUP_ID,
    Column("group_type", Type.STRING, "classic, consumer, share or streams; NULL: not known."),
    Column("num_members", Type.INT, "Members of the group now; NULL: not known."),
    Column("record_table", Type.STRING, "The table that the records are in. A group has one row for each such table."),
    Column("batch_bytes", Type.BIGINT, "Of all batches with records of the group in this table, the largest total of "
           "their keys and values, in bytes, uncompressed."),
    Column("num_records", Type.BIGINT, "Number of these records in that batch."),
    Column("largest_record_bytes", Type.BIGINT, "Bytes of the largest of these records: key and value."),
    Column("record_time", Type.TIMESTAMP, "When that batch was written."),
    Column("limit_bytes", Type.BIGINT, "The largest batch that the broker accepts: message.max.bytes of the newest "
           "snapshot, else record_limit_bytes in [gate] of the settings. If a group's batch would be larger, the "
           "coordinator refuses new members. NULL: no snapshot has it, and no run of `groupscope gate` has noted that "
           "setting yet."),
    Column("settings_source", Type.STRING, "Source of limit_bytes; dim_enum explains the values."),
    Column("share_of_limit", Type.DOUBLE, "batch_bytes / limit_bytes. If the topic is compressed, the real share is "
           "smaller."),
    *EVIDENCE[:3],
    *AS_OF,
)  # fmt: skip
READS = (*RECORD_TABLES, "group_state_intervals", *LIMITS_READ, *SETTINGS_READ, *CLUSTERS_READ)
RECORDS = "\n  UNION ALL\n".join(
    f"""\
  SELECT cluster, group_id, '{table}' AS record_table, offsets_partition, record_offset, record_time, record_bytes,
    coalesce(batch_first_offset, record_offset) AS batch_offset
  FROM {table}"""
    for table in RECORD_TABLES
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
    CAST(sum(record_bytes) AS BIGINT) AS batch_bytes, count(*) AS num_records,
    CAST(max(record_bytes) AS BIGINT) AS largest_record_bytes, max(record_time) AS record_time,
    min(record_offset) AS evidence_first_offset, max(record_offset) AS evidence_last_offset
  FROM records
  GROUP BY cluster, group_id, record_table, offsets_partition, batch_offset
),
placed AS (
  SELECT batches.*, row_number() OVER (PARTITION BY cluster, group_id, record_table
    ORDER BY batch_bytes DESC, evidence_last_offset DESC, offsets_partition) AS place
  FROM batches
),
joined AS (
  SELECT placed.*, placed.offsets_partition AS evidence_partition, states.group_type, states.num_members, as_of_time,
    history_since_time, record_limit_bytes, {number_setting("message.max.bytes")} AS captured_bytes
  FROM placed
  JOIN present_states AS states ON states.cluster = placed.cluster AND states.group_id = placed.group_id
  LEFT JOIN clusters ON clusters.cluster = placed.cluster
  LEFT JOIN newest_settings ON newest_settings.cluster = placed.cluster
  LEFT JOIN limits ON limits.cluster = placed.cluster
  WHERE place = 1
),
limited AS (
  SELECT joined.*, coalesce(captured_bytes, record_limit_bytes) AS limit_bytes,
    CASE WHEN captured_bytes IS NULL THEN '{SettingsSource.DEFAULT}' ELSE '{SettingsSource.SNAPSHOT}' END
      AS settings_source
  FROM joined
),
ranked AS (
  SELECT limited.*, CAST(batch_bytes AS DOUBLE) / CAST(limit_bytes AS DOUBLE) AS share_of_limit,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY batch_bytes DESC, group_id, record_table) AS BIGINT) AS rank
  FROM limited
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
