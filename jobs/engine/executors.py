"""Checks the executors of a Spark application before the first task: whether they can import what tasks need, and
whether they see the warehouse. Without this check a task fails in the middle of the work, or writes to a disk that only
its own host has."""

import re
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from jobs.engine.worker import PRELOADED
from jobs.output.failure import Failure
from jobs.spark.failures import missing_package, reword_spark_failures
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.warehouse_marker import MARKER
from schemas.tables import folder_of
from schemas.words.exit_codes import ExitCode

# `local` and `local[2]`, not `local-cluster[2,1,1024]`: here executors are threads of the driver.
IN_DRIVER = re.compile(r"local(\[|$)")
# The name begins like the marker. So a probe that a killed run left does not make a new folder look like a foreign one.
PROBE = f"{MARKER}.probe-"
# Modules that Spark needs to pass frames to tasks, and modules that tasks import.
MODULES = ("numpy", "pandas", "pyarrow", *PRELOADED)
MOST_HOSTS = 3
SHARED = "Use a folder that all hosts share, or s3://, gs://, abfss:// or hdfs://"
LOOK = "host string, missing string, broken string, can_write boolean"


class Look(NamedTuple):
    """What one executor found: the name of a missing module, or why a module cannot be imported."""

    host: str
    missing: str | None
    broken: str | None
    can_write: bool


def check_executors(spark: SparkSession, warehouse: Path | None) -> None:
    """`warehouse`: its folder, if that is on the driver's machine.

    It asks by a frame, as tasks are run. Spark keeps other Python workers for RDDs: these would start, and import all
    modules, for this check alone."""
    context = spark.sparkContext
    if IN_DRIVER.match(str(context.master)):
        return
    number = context.defaultParallelism
    with probe_file(warehouse) as probe, reword_spark_failures():
        look = look_for(MODULES, None if probe is None else str(probe))
        looks = [Look(*each) for each in spark.range(0, number, 1, number).mapInArrow(look, LOOK).collect()]
    for each in looks:
        if each.missing is not None or each.broken is not None:
            raise missing_package(f"executors on {each.host}", each.missing, each.broken)
    if blind := [each.host for each in looks if not each.can_write]:
        problem = (
            f"executors on {names(blind)} cannot write to this folder, which is on the driver "
            f"{socket.gethostname()}. {SHARED}"
        )
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{warehouse}: {problem}")


def look_for(modules: Sequence[str], probe: str | None) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Returns a nested function, which Spark pickles by value. Executors without the project could not import one of a
    module."""
    columns = list(Look._fields)

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import importlib
        import os
        import socket

        import pyarrow as pa

        for _ in batches:
            # Spark keeps a worker, and what it has imported, for later tasks only if it has read all its input.
            pass
        missing = broken = None
        try:
            for module in modules:
                importlib.import_module(module)
        except ModuleNotFoundError as error:
            missing = error.name
        except ImportError as error:
            broken = str(error)
        can_write = probe is None or (os.path.exists(probe) and os.access(os.path.dirname(probe), os.W_OK))
        texts = [pa.array([text], pa.string()) for text in (socket.gethostname(), missing, broken)]
        yield pa.record_batch([*texts, pa.array([can_write])], columns)

    return look


@contextmanager
def probe_file(warehouse: Path | None) -> Iterator[Path | None]:
    """A file whose name is unique, since another host may have another warehouse under the same path."""
    if warehouse is None:
        yield None
        return
    probe = warehouse / f"{PROBE}{secrets.token_hex(8)}"
    probe.touch()
    try:
        yield probe
    finally:
        for left in warehouse.glob(f"{PROBE}*"):
            left.unlink(missing_ok=True)


def check_written(warehouse: Path | None, files: Iterable[tuple[str, DataFile]]) -> None:
    """Executors that started after the probe may run elsewhere, and would create the folder on their own disk."""
    if warehouse is None:
        return
    for table, file in files:
        path = Path(folder_of(table)) / file.name
        if not (warehouse / path).exists():
            problem = f"executors wrote {path}, which {socket.gethostname()} does not see. {SHARED}"
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{warehouse}: {problem}")


def names(hosts: Iterable[str]) -> str:
    known = sorted(set(hosts))
    more = len(known) - MOST_HOSTS
    return ", ".join(known[:MOST_HOSTS]) + (f" and {more} more" if more > 0 else "")
