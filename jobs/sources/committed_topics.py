"""The topics for which groups of a cluster have committed offsets, as recorded in the warehouse: their names, and the
ids that commits name."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.sources.stored_snapshots import TIME, has_values
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import clusters_of, file_path, files_of
from jobs.warehouses.warehouse import Warehouse
from schemas.words.records import OFFSETS_TOPIC

TABLE = "offset_commits"
COLUMNS = ["cluster", "topic"]
TOPIC, ID, NEWEST = "topic", "topic_id", "newest"
BETWEEN = "\0"
# One topic that differs may have been made anew.
FEWEST_TOPICS = 2


def commit_files(warehouse: Warehouse, cluster: str) -> list[Place]:
    """The newest first: their names begin with the run."""
    delta = warehouse.open(TABLE)
    rows = [] if delta is None else files_of(delta).to_pylist()
    names = [file_path(row["path"]) for row in rows if clusters_of(row, [cluster])]
    return [warehouse.path(TABLE) / name for name in sorted(names, reverse=True)]


def known_topics(warehouse: Warehouse, cluster: str) -> set[str]:
    return {topic for file in commit_files(warehouse, cluster) for topic in topics_of_file(file, cluster)}


def topics_of_file(path: Place, cluster: str) -> set[str]:
    """One row group at a time, with names as numbers: there are many commits and few topics."""
    topics: set[str] = set()
    with pq.ParquetFile(path.parquet_source(), read_dictionary=COLUMNS) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, COLUMNS, use_threads=False)
            pairs = rows.group_by(COLUMNS, use_threads=False).aggregate([])
            topics.update(topic for name, topic in zip(*pairs.to_pydict().values(), strict=True) if name == cluster)
    return topics


def committed_ids(paths: Iterable[Place], cluster: str) -> Iterator[pa.Table]:
    """Topics and ids that commits name, with the newest time of each; a row group at a time."""
    for path in paths:
        with pq.ParquetFile(path.parquet_source(), read_dictionary=[*COLUMNS, ID]) as file:
            for group in range(file.num_row_groups):
                if has_values(file.metadata.row_group(group), ID):
                    rows = file.read_row_group(group, [*COLUMNS, ID, "record_time"], use_threads=False)
                    is_ours = pc.and_(pc.equal(rows.column("cluster"), cluster), rows.column(ID).is_valid())
                    named = rows.filter(is_ours).unify_dictionaries().group_by([TOPIC, ID], use_threads=False)
                    newest = named.aggregate([("record_time", "max")])
                    texts = [newest.column(name).cast(pa.string()) for name in (TOPIC, ID)]
                    yield pa.table([*texts, newest.column("record_time_max")], [TOPIC, ID, NEWEST])


def contradicted(named: pa.Table, commits: Iterable[pa.Table]) -> pa.Table:
    """Topics of snapshots that commits contradict so that they are of another Kafka cluster: two topics or more have
    ids on both sides, none of them the same, and none in a snapshot that is later than the last commit, since when it
    may have been made anew. `named`: time, topic and id of each topic in a snapshot. Commits are read until each
    snapshot has a topic with its id there."""
    named = of_several_topics(named.filter(pc.not_equal(named.column(TOPIC), OFFSETS_TOPIC)))
    parts: list[pa.Table] = []
    for part in commits:
        if not named.num_rows:
            break
        parts.append(part)
        agreeing = named.filter(pc.is_in(joined(named), value_set=joined(part).combine_chunks()))
        named = named.filter(pc.invert(pc.is_in(named.column(TIME), value_set=agreeing.column(TIME).combine_chunks())))
    if not (named.num_rows and parts):
        return named.slice(0, 0)
    of_topics = pa.concat_tables(parts).group_by(TOPIC, use_threads=False).aggregate([(NEWEST, "max"), (ID, "min")])
    places = pc.index_in(named.column(TOPIC), value_set=of_topics.column(TOPIC).combine_chunks())
    on_both = named.append_column("place", places).filter(places.is_valid())
    newest = of_topics.column(f"{NEWEST}_max").take(on_both.column("place"))
    committed = of_topics.column(f"{ID}_min").take(on_both.column("place"))
    on_both = on_both.append_column("committed_id", committed)
    # A commit without a time may be the newest.
    later = on_both.filter(pc.fill_null(pc.greater(on_both.column(TIME), newest), True)).column(TIME)
    return of_several_topics(
        on_both.filter(pc.invert(pc.is_in(on_both.column(TIME), value_set=later.combine_chunks())))
    )


def agreeing(named: pa.Table, commits: Iterable[pa.Table]) -> set[datetime]:
    """Times of the snapshots in which a topic has an id that commits name."""
    ids = joined(named)
    known = [named.filter(pc.is_in(ids, value_set=joined(part).combine_chunks())) for part in commits]
    return {time for rows in known for time in rows.column(TIME).to_pylist()}


def joined(rows: pa.Table) -> Any:
    return pc.binary_join_element_wise(rows.column(TOPIC), rows.column(ID), BETWEEN)


def of_several_topics(named: pa.Table) -> pa.Table:
    numbers = named.group_by(TIME, use_threads=False).aggregate([(TOPIC, "count_distinct")])
    times = numbers.filter(pc.greater_equal(numbers.column(f"{TOPIC}_count_distinct"), FEWEST_TOPICS)).column(TIME)
    return named.filter(pc.is_in(named.column(TIME), value_set=times.combine_chunks()))
