"""The one Spark session of a run."""

import os
import sys
from collections.abc import Mapping

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from jobs.command_line.flags import is_submitted
from jobs.output.failure import Failure
from jobs.processes.no_pandas import let_pandas_in
from jobs.spark.jars import DELTA, SPARK, jars
from jobs.spark.java import java_home
from jobs.spark.quiet_java import quiet_java
from schemas.words.exit_codes import ExitCode

# What right answers rest on; memory, master and the like are the operator's.
SETTINGS: Mapping[str, str] = {
    # Else the machine's zone decides what a day is.
    "spark.sql.session.timeZone": "UTC",
    # Columns out of mapInArrow go by position: two of one type in the wrong order would be swapped in silence.
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    # Coalescing judges by bytes, and would put the work of Python, which is slow on few bytes, into one task.
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    # A frame that turns out to be empty would lose what is counted on the way to it.
    "spark.sql.adaptive.optimizer.excludedRules": "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation",
    # The default is INT96, which other readers of Parquet no longer take.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A crash in a native library otherwise says only that the worker is gone.
    "spark.python.worker.faulthandler.enabled": "true",
    # What Arrow frees in a worker stays with it, as `freed_memory` sees to for all the rest.
    "spark.executorEnv.MIMALLOC_PURGE_DELAY": "-1",
    # A batch run needs no page, and two runs on one machine would fight for its port.
    "spark.ui.enabled": "false",
    # Bars drawn over the lines of the log.
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def spark_session(name: str, *, shuffle_partitions: int, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session that runs already, else a new one; `shuffle_partitions` has no default that fits every run.

    `settings` come last: `spark.master` and memory, where no spark-submit gives them.
    """
    let_pandas_in()
    # Read by Spark when it starts its virtual machine and its workers, which must find this interpreter's packages.
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    check_version(f"pyspark of {sys.executable}", pyspark.__version__)
    all_settings = {
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
        # Files rather than packages to resolve: no network at start.
        "spark.jars": ",".join(map(str, jars(DELTA))),
        **SETTINGS,
        **(settings or {}),
    }
    check_version(f"Spark of {os.environ.get('SPARK_HOME', 'pyspark')}", version_in_java(all_settings))
    builder = SparkSession.builder.appName(name)
    for key, value in all_settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def version_in_java(settings: Mapping[str, str]) -> str:
    """That of SPARK_HOME or of the spark-submit that started us. Of another one no session might start."""
    SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))
    assert SparkContext._jvm is not None
    return str(getattr(getattr(SparkContext._jvm, "org.apache.spark.package$"), "MODULE$").SPARK_VERSION())


def check_version(what: str, version: str) -> None:
    if version.split(".")[:2] != SPARK.split("."):
        problem = f"{what} has version {version}, {SPARK} was expected: use the spark-submit of Spark {SPARK}"
        raise Failure(ExitCode.USAGE, f"{problem}, with a Python that has pyspark {SPARK}")


def quiet_session(name: str, num_workers: int, *, is_debug: bool) -> SparkSession:
    with quiet_java(is_debug):
        return spark_session(name, shuffle_partitions=num_workers * 2, settings=local_settings(num_workers))


def local_settings(num_workers: int) -> dict[str, str]:
    """Where no spark-submit decides: this machine, and a second chance for a task whose worker died."""
    return {} if is_submitted() else {"spark.master": f"local[{num_workers},3]", "spark.driver.memory": "2g"}
