"""The input and results of tasks of every job that reads the log: plain data, since tasks run in other processes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

import pyarrow as pa

from jobs.replaying.log.opened import Opened
from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import DataFile


@dataclass
class PartitionProgress:
    """Progress in one offsets partition. Fields are columns of the table that stores it."""

    partition: int
    # Rows of later runs are new.
    through_run_id: str

    def row(self, cluster: str) -> dict[str, Any]:
        """The row of that table."""
        columns = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "partition"}
        return {"cluster": cluster, "offsets_partition": self.partition, **columns}

    @classmethod
    def from_plain(cls, row: Mapping[str, Any]) -> Self:
        """`row` has times as microseconds."""
        columns = {field.name: row[field.name] for field in fields(cls) if field.name != "partition"}
        return cls(partition=row["offsets_partition"], **columns)

    def to_plain(self) -> dict[str, Any]:
        return self.row("")


P = TypeVar("P", bound=PartitionProgress)


@dataclass(frozen=True, kw_only=True)
class RunInput(Generic[P]):
    """The input of all tasks of a run. `by_partition`: its fields by offsets partition, apart from files."""

    by_partition: ClassVar[tuple[str, ...]] = ("earlier",)
    cluster: str
    run_id: str
    # The newest finished run.
    through_run_id: str
    # Progress by offsets partition, for those that need not start from the beginning.
    earlier: Mapping[int, P]
    # The folder in which files are written.
    root: Place
    # Files of decoded tables, and files of the job's own tables with rows that may still change.
    files: Mapping[str, Sequence[LogFile]] = field(default_factory=dict)
    held: Mapping[str, Sequence[LogFile]] = field(default_factory=dict)

    def of_partitions(self, partitions: set[int]) -> Mapping[str, Any]:
        """These fields, for only these partitions."""
        of_all = {name: getattr(self, name) for name in self.by_partition}
        return {name: {at: each for at, each in of.items() if at in partitions} for name, of in of_all.items()}


@dataclass(frozen=True)
class PartitionSlice:
    """An offsets partition, or those groups of a large one that belong to one of `num_slices`."""

    partition: int
    number: int = 0
    num_slices: int = 1


@dataclass
class LogTaskResult(Generic[P]):
    # By table; several for open and closed rows.
    files: list[tuple[str, DataFile]] = field(default_factory=list)
    num_rows: dict[str, int] = field(default_factory=dict)
    progress: list[P] = field(default_factory=list)
    # From slices of an offsets partition, as Arrow bytes: a transaction may commit for groups in several slices.
    transactions: list[tuple[int, bytes]] = field(default_factory=list)
    # Done from the beginning: the rows of earlier runs are removed.
    whole: list[int] = field(default_factory=list)
    # Done in slices and not from the beginning, although they must be.
    insufficient: list[int] = field(default_factory=list)
    num_records: int = 0
    num_groups: int = 0
    failure: tuple[int, str] | None = None


def serialize(rows: pa.Table) -> bytes:
    # With Arrow's threads, columns of this size take twice the processor time.
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return bytes(stream.getvalue())


def deserialize(content: bytes) -> pa.Table:
    with pa.ipc.open_stream(content, options=pa.ipc.IpcReadOptions(use_threads=False)) as reader:
        return reader.read_all()


# What a task does with each of its slices: it writes files, and adds the outcome to the answer.
Work = Callable[[Any, PartitionSlice, HistoryFiles, Opened, LogTaskResult[Any]], None]
