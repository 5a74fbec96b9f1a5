"""The view v_decode_coverage: what the records of the log are, and how many of each could be read."""

from collections.abc import Mapping

from schemas.records.registry import GROUP_TYPES, REGISTRY, types_by_group_type
from schemas.tables import GROUPS, Column, Type
from schemas.words.records import UNKNOWN_REASONS

# Which record type a row of each table of groups was.
TYPES = {name: types_by_group_type(name) for name in dict.fromkeys(REGISTRY[number].table for number in GROUP_TYPES)}
TABLES_OF_ONE_TYPE = {name: number for name, types in TYPES.items() if len(types) == 1 for number in types.values()}
TABLES_BY_GROUP_TYPE = {name: types for name, types in TYPES.items() if len(types) > 1}

COLUMNS = (
    *GROUPS["CLUSTER"],
    Column("rank", Type.BIGINT, "1: the worst row of the cluster."),
    Column(
        "outcome",
        Type.STRING,
        "malformed, unknown (a type or version that this release of Groupscope does not know) or decoded.",
    ),
    Column("reason", Type.STRING, "Why the records are in rejected_records; NULL: decoded."),
    Column(
        "record_type",
        Type.INT,
        "Kafka's record type: the int16 at the start of the key. Decoded records of type 9 count as type 15: both are "
        "in group_partition_metadata with group type share. NULL: transaction marker, damaged batch, no key.",
    ),
    Column(
        "type",
        Type.STRING,
        "Kafka's name of the record type, or COMMIT or ABORT; NULL: damaged batch, no key, unknown type.",
    ),
    Column("value_version", Type.INT, "Version of the value's layout; NULL: tombstones, damaged batches, no version."),
    Column(
        "num_records",
        Type.BIGINT,
        "Number of records with this record type, value version, outcome and reason. A damaged batch or range of "
        "bytes counts as the records that were in it.",
    ),
    Column(
        "share_of_type", Type.DOUBLE, "Share of these records among all records of their type in the cluster, 0 to 1."
    ),
    Column("num_offsets_partitions", Type.BIGINT, "Number of partitions of __consumer_offsets with these records."),
    Column("first_record_time", Type.TIMESTAMP, "Time of the earliest of these records; NULL: they have no times."),
    Column("last_record_time", Type.TIMESTAMP, "Time of the latest of these records; NULL: they have no times."),
    Column(
        "is_new_this_week",
        Type.BOOLEAN,
        "TRUE: all of these records are from the 7 days before as_of_time. NULL: the log of the cluster is known for "
        "less than 7 days.",
    ),
    Column("evidence_partition", Type.INT, "The lowest partition of __consumer_offsets with these records."),
    Column(
        "evidence_first_offset",
        Type.BIGINT,
        "Offset of the first of these records in that partition; NULL: damaged batches have no offset.",
    ),
    Column(
        "evidence_last_offset",
        Type.BIGINT,
        "Offset of the last of these records in that partition; NULL: damaged batches have no offset.",
    ),
    Column("table_name", Type.STRING, "The table that has these records as rows."),
    Column("as_of_time", Type.TIMESTAMP, "Time of the newest record of the cluster."),
    Column("history_since_time", Type.TIMESTAMP, "Time of the oldest record of the cluster."),
    Column("coverage_share", Type.DOUBLE, "Share of all records of the cluster that are decoded, 0 to 1."),
)


def quote(text: str) -> str:
    return f"'{text}'"


def case(subject: str, results: Mapping[str, str]) -> str:
    return f"CASE {subject} " + " ".join(f"WHEN {value} THEN {result}" for value, result in results.items()) + " END"


def rows_of(table: str, record_type: str, marker: str = "''", reason: str = "''", number: str = "1") -> str:
    """One row a record, or a range of bytes. What it lacks is an empty text until the rows are counted: NULL alone has
    no type that every engine knows."""
    return f"""\
  SELECT cluster, offsets_partition, record_offset, record_time, value_version, {quote(table)} AS table_name,
    {record_type} AS record_type, {marker} AS marker, {reason} AS reason,
    CAST({number} AS BIGINT) AS number
  FROM {table}"""


def all_rows() -> str:
    by_group_type = {
        table: case("group_type", {quote(name): str(number) for name, number in types.items()})
        for table, types in TABLES_BY_GROUP_TYPE.items()
    }
    parts = [
        rows_of("rejected_records", "record_type", reason="reason", number="num_records"),
        rows_of("offset_commits", "key_version"),
        *(rows_of(table, str(number)) for table, number in TABLES_OF_ONE_TYPE.items()),
        *(rows_of(table, number) for table, number in by_group_type.items()),
        rows_of("transaction_markers", "CAST(NULL AS INT)", marker="marker"),
    ]
    return "\n  UNION ALL\n".join(parts)


TYPE_NAMES = case("record_type", {str(number): quote(record.name) for number, record in REGISTRY.items()})
UNKNOWN = ", ".join(quote(reason) for reason in UNKNOWN_REASONS)

SQL = f"""\
WITH all_records AS (
{all_rows()}
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
    CASE WHEN marker <> '' THEN marker ELSE {TYPE_NAMES} END AS type,
    CASE WHEN reason = '' THEN 'decoded' WHEN reason IN ({UNKNOWN}) THEN 'unknown' ELSE 'malformed' END AS outcome,
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
ranked AS (
  SELECT judged.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY severity,
    CASE WHEN is_new_this_week THEN 1 ELSE 2 END, num_records DESC, record_type NULLS LAST, type NULLS LAST,
    value_version NULLS LAST, reason NULLS LAST, table_name) AS BIGINT) AS rank
  FROM judged
)
SELECT {", ".join(column.name for column in COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""

READS = ("rejected_records", "offset_commits", *TABLES_OF_ONE_TYPE, *TABLES_BY_GROUP_TYPE, "transaction_markers")
