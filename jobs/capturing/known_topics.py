"""Which topics the groups of a cluster have committed offsets of, as far as the warehouse knows."""

from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow.parquet as pq

from jobs.storage.stored_path import Place, parquet_source
from jobs.warehouses.any_warehouse import AnyWarehouse
from jobs.warehouses.delta_tables import files_of
from jobs.warehouses.warehouse import Warehouse

if TYPE_CHECKING:
    from jobs.warehouses.hadoop_warehouse import HadoopWarehouse

TABLE = "offset_commits"
COLUMNS = ["cluster", "topic"]


def known_topics(warehouse: AnyWarehouse, cluster: str) -> set[str]:
    if not isinstance(warehouse, Warehouse):
        return topics_by_spark(warehouse, cluster)  # type: ignore[arg-type]
    delta = warehouse.open(TABLE)
    paths = [] if delta is None else files_of(delta).column("path").to_pylist()
    files = [warehouse.path(TABLE) / unquote(path) for path in paths]
    return {topic for file in files for topic in topics_of_file(file, cluster)}


def topics_of_file(path: Place, cluster: str) -> set[str]:
    """A row group at a time, and names as numbers: commits are many, topics are few."""
    found: set[str] = set()
    with pq.ParquetFile(parquet_source(path), read_dictionary=COLUMNS) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, COLUMNS, use_threads=False)
            pairs = rows.group_by(COLUMNS, use_threads=False).aggregate([])
            found.update(topic for name, topic in zip(*pairs.to_pydict().values(), strict=True) if name == cluster)
    return found


def topics_by_spark(warehouse: "HadoopWarehouse", cluster: str) -> set[str]:
    from jobs.warehouses.spark_tables import frame_at

    version = warehouse.versions().get(TABLE)
    if version is None:
        return set()
    rows = frame_at(warehouse.spark, warehouse.place(TABLE), version)
    return {row.topic for row in rows.where(rows.cluster == cluster).select("topic").distinct().collect()}
