"""What is lost of a job's tables on a file system that only Hadoop knows: as in `lost_rows`, as Spark sees tables."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from pyspark.sql import SparkSession

from jobs.sources.archive_files import is_of_java
from jobs.warehouses.delta_tables import clusters_of
from jobs.warehouses.hadoop_files import HadoopFiles
from jobs.warehouses.spark_tables import forget_logs, has_log, snapshot, version_of


@dataclass
class RemoteLosses:
    """Tables whose logs are lost, those that lost files, and clusters whose rows were in either."""

    anew: set[str] = field(default_factory=set)
    repaired: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)


def remote_losses(
    spark: SparkSession, places: Mapping[str, str], versions: Mapping[str, int], clusters: Collection[str]
) -> RemoteLosses:
    """`places` of tables that have these versions; `clusters`: those that have rows in them."""
    found = RemoteLosses()
    forget_logs(spark)
    for name, place in places.items():
        if not is_usable(spark, place, versions[name]):
            found.anew.add(name)
            found.clusters |= set(clusters)
        elif lost := lost_clusters(spark, place, clusters):
            found.repaired.add(name)
            found.clusters |= lost
    return found


def is_usable(spark: SparkSession, place: str, version: int) -> bool:
    if not has_log(spark, place):
        return False
    try:
        return version_of(spark, place) >= version
    except Exception as error:
        if not is_of_java(error):
            raise
        return False


def lost_clusters(spark: SparkSession, place: str, clusters: Collection[str]) -> set[str]:
    """Clusters that may have had rows in files that are not there."""
    files = HadoopFiles(spark, place)
    lost: set[str] = set()
    for row in snapshot(spark, place).allFiles().toJSON().collectAsList():
        file = json.loads(row)
        if not files.exists(unquote(file["path"])):
            stats = json.loads(file.get("stats") or "{}")
            lost |= clusters_of({"min": stats.get("minValues"), "max": stats.get("maxValues")}, clusters)
    return lost
