"""Names of topics by id, from decoded records. Groups name topics by id only, and the record with the name may be in
another offsets partition."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.row_groups import Bounds, LogFile, bounds_of, column_in, is_all_null
from schemas.words.history import TopicSource
from udfs.arrays.nullable import Numbers, filled
from udfs.topics.names import Sighting, of_groups

COMMITS, TOPICS = "offset_commits", "group_partition_metadata"
COLUMNS = {
    COMMITS: ["cluster", "topic", "topic_id"],
    TOPICS: ["cluster", "topics", "record_time"],
}

REPEATED = {COMMITS: ["topic", "topic_id"], TOPICS: None}
# So many pairs are counted, each in its place; more are sorted.
MOST_COUNTED = 1 << 20


def named_in(files: Sequence[LogFile], table: str, cluster: str, opened: Opened) -> list[Sighting]:
    """Records with both name and id."""
    named: list[Sighting] = []
    for each in files:
        footer, dictionaries = opened.footer(each.path), REPEATED[table]
        groups = [group for group in range(footer.num_row_groups) if may_name(footer.row_group(group))]
        if not groups:
            continue
        source = each.path.parquet_source()
        with pq.ParquetFile(source, metadata=footer, read_dictionary=dictionaries, pre_buffer=False) as file:
            for group in groups:
                # Most row groups are of one cluster, and then no row needs to be compared.
                is_ours = bounds_in(footer.row_group(group), "cluster") == (cluster, cluster)
                columns = [name for name in COLUMNS[table] if not is_ours or name != "cluster"]
                rows = file.read_row_group(group, columns=columns, use_threads=False)
                ours = rows if is_ours else rows.filter(pc.equal(rows.column("cluster"), cluster))
                named += sightings(ours, table)
    return [sighting for sighting in named if sighting.topic_id is not None]


def sightings(rows: pa.Table, table: str) -> list[Sighting]:
    """Of commits only the names, without times: a replay finds these when it reads all columns."""
    if table != COMMITS:
        return of_groups(rows)
    return [Sighting(*each, TopicSource.COMMIT, None, None) for each in names_with_ids(rows)]


def names_with_ids(rows: pa.Table) -> list[tuple[str, str]]:
    """Both are dictionaries, so only their codes are compared."""
    (names, name), (ids, of) = dictionary_and_codes(rows.column("topic")), dictionary_and_codes(rows.column("topic_id"))
    # One number for each pair; 0 is the place of no id.
    size = len(ids) + 1
    pairs = distinct(name * size + of + 1, len(names) * size)
    pairs = pairs[pairs % size > 0]
    found = names.take(pa.array(pairs // size)), ids.take(pa.array(pairs % size - 1))
    return list(zip(*(each.to_pylist() for each in found), strict=True))


def dictionary_and_codes(column: pa.ChunkedArray) -> tuple[pa.Array, Numbers]:
    whole = column.unify_dictionaries().combine_chunks()
    return whole.dictionary, filled(whole.indices, -1).to_numpy().astype(np.int64)


def distinct(numbers: Numbers, end: int) -> Numbers:
    """Of numbers from 0 on, below `end`."""
    return np.flatnonzero(np.bincount(numbers, minlength=1)) if end <= MOST_COUNTED else np.unique(numbers)


def may_name(group: pq.RowGroupMetaData) -> bool:
    """Before 4.3 hardly any commit has a topic id."""
    return not is_all_null(column_in(group, "topic_id"))


def bounds_in(group: pq.RowGroupMetaData, name: str) -> Bounds:
    column = column_in(group, name)
    return None if column is None else bounds_of(column)
