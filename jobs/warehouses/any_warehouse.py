"""A warehouse wherever it is: on local disks, in object stores, or on any other file system that Hadoop knows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from jobs.failure import Failure
from jobs.settings import load_settings, options_of
from jobs.sources.places import is_remote, local_path
from jobs.storage.options import StorageOptions
from jobs.storage.places import OBJECTS, storage_at
from jobs.storage.stored_path import StoredPath
from jobs.warehouses import warehouse
from jobs.warehouses.manifest import Manifest
from schemas.exit_codes import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class AnyWarehouse(Protocol):
    @property
    def told(self) -> str:
        """As people write it."""
        ...

    @property
    def local_root(self) -> Path | None: ...

    def place(self, table: str) -> str:
        """As Spark takes it."""
        ...

    def versions(self) -> dict[str, int]:
        """Versions of all tables that belong together, by the newest row of `runs`."""
        ...

    def rows(self, table: str, columns: Sequence[str] | None = None, cluster: str | None = None) -> pa.Table | None:
        """Of the table as the newest finished run left it, all or those of one cluster; None when there is none yet."""
        ...

    def num_rows(self) -> dict[str, int]:
        """Of every table that there is and that users see."""
        ...

    def run_rows(self, columns: list[str]) -> list[dict[str, Any]]:
        """All rows of `runs`."""
        ...

    def clusters(self) -> list[str]: ...

    def next_sequence(self) -> int: ...

    def write(self, manifest: Manifest) -> None:
        """Everything that a run changes, at once: when this returns it is done, and when it is killed it will be."""
        ...

    def write_text(self, name: str, text: str) -> None:
        """A file beside the tables, which is there with all of the text or not at all."""
        ...


@contextmanager
def writing(
    place: str,
    job: str,
    lock_wait: float,
    tell: Callable[[str], None],
    spark: "Callable[[], SparkSession]",
    *,
    may_be_new: bool = True,
    options: StorageOptions | None = None,
) -> Iterator[AnyWarehouse]:
    """The warehouse, locked, new if there was none and there may be a new one, and with the work of a killed run
    done."""
    if is_bucket(place):
        root = StoredPath(storage_at(place, options or options_of(load_settings())))
        with warehouse.writing(root, job, lock_wait, tell, spark, may_be_new=may_be_new) as stored:
            yield stored
    elif is_remote(place):
        from jobs.warehouses import hadoop_warehouse

        with hadoop_warehouse.writing(place, job, lock_wait, tell, spark, may_be_new=may_be_new) as remote:
            yield remote
    else:
        with warehouse.writing(
            local_path(place).absolute(), job, lock_wait, tell, spark, may_be_new=may_be_new
        ) as local:
            yield local


def reading(place: str, spark: "Callable[[], SparkSession]", options: StorageOptions | None = None) -> AnyWarehouse:
    """A warehouse to read: nothing is written, and runs in progress do not matter."""
    if is_bucket(place):
        return warehouse.reading(StoredPath(storage_at(place, options or options_of(load_settings()))))
    if is_remote(place):
        from jobs.warehouses import hadoop_warehouse

        return hadoop_warehouse.reading(place, spark)
    return warehouse.reading(local_path(place))


def is_bucket(place: str) -> bool:
    """Of an object store: what other places of Hadoop's are, Spark knows."""
    return place.split(":", maxsplit=1)[0].lower() in OBJECTS and is_remote(place)


def one_cluster(found: AnyWarehouse, wanted: str | None) -> str:
    """The cluster that is meant when none is named: the only one there is."""
    known = found.clusters()
    if wanted is not None:
        return wanted
    if len(known) > 1:
        names = ", ".join(known)
        raise Failure(ExitCode.USAGE, f"--cluster: the warehouse has {names}, one of them was expected")
    return known[0] if known else "default"
