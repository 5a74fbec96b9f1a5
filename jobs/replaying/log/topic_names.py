"""Names of topics by id, from decoded records. Groups name topics by id only, and the record with the name may be in
another offsets partition."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.files import LogFile, Opened
from jobs.storage.stored_path import parquet_source
from udfs.topics.names import Sighting, of_commits, of_groups

COMMITS, TOPICS = "offset_commits", "group_partition_metadata"
COLUMNS = {
    COMMITS: ["cluster", "topic", "topic_id", "record_time", "is_tombstone"],
    TOPICS: ["cluster", "topics", "record_time"],
}

REPEATED = {COMMITS: ["topic", "topic_id"], TOPICS: None}


def named_in(files: Sequence[LogFile], table: str, cluster: str, opened: Opened) -> list[Sighting]:
    """Records with both name and id."""
    found: list[Sighting] = []
    for each in files:
        footer, dictionaries = opened.footer(each.path), REPEATED[table]
        groups = [group for group in range(footer.num_row_groups) if may_name(footer.row_group(group))]
        if not groups:
            continue
        source = parquet_source(each.path)
        with pq.ParquetFile(source, metadata=footer, read_dictionary=dictionaries, pre_buffer=False) as file:
            for group in groups:
                rows = file.read_row_group(group, columns=COLUMNS[table], use_threads=False)
                found += sightings(rows.filter(pc.equal(rows.column("cluster"), cluster)), table)
    return [sighting for sighting in found if sighting.topic_id is not None]


def sightings(rows: pa.Table, table: str) -> list[Sighting]:
    return of_commits(rows) if table == COMMITS else of_groups(rows)


def may_name(group: pq.RowGroupMetaData) -> bool:
    """Before 4.3 no commit had a topic id."""
    for place in range(group.num_columns):
        column = group.column(place)
        if column.path_in_schema == "topic_id":
            known = column.statistics if column.is_stats_set else None
            return known is None or known.null_count < column.num_values
    return True
