"""Lists the topics for which groups of a cluster have committed offsets, as recorded in the warehouse."""

from urllib.parse import unquote

import pyarrow.parquet as pq

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import files_of
from jobs.warehouses.warehouse import Warehouse

TABLE = "offset_commits"
COLUMNS = ["cluster", "topic"]


def known_topics(warehouse: Warehouse, cluster: str) -> set[str]:
    delta = warehouse.open(TABLE)
    paths = [] if delta is None else files_of(delta).column("path").to_pylist()
    files = [warehouse.path(TABLE) / unquote(path) for path in paths]
    return {topic for file in files for topic in topics_of_file(file, cluster)}


def topics_of_file(path: Place, cluster: str) -> set[str]:
    """One row group at a time, with names as numbers: there are many commits and few topics."""
    topics: set[str] = set()
    with pq.ParquetFile(path.parquet_source(), read_dictionary=COLUMNS) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, COLUMNS, use_threads=False)
            pairs = rows.group_by(COLUMNS, use_threads=False).aggregate([])
            topics.update(topic for name, topic in zip(*pairs.to_pydict().values(), strict=True) if name == cluster)
    return topics
