"""The input and results of tasks of every job that reads the log: plain data, since tasks run in other processes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from jobs.replaying.history_files import HistoryFiles
from jobs.replaying.log_files import LogFile, Opened
from jobs.storage.stored_path import Place
from jobs.warehouses.delta_tables import DataFile


@dataclass
class Reached:
    """How far an offsets partition is done."""

    partition: int
    # Rows of later runs are new.
    through_run_id: str

    def row(self, cluster: str) -> dict[str, Any]:
        """Of the table that keeps it."""
        raise NotImplementedError

    def to_plain(self) -> dict[str, Any]:
        return self.row("")


P = TypeVar("P", bound=Reached)


@dataclass(frozen=True, kw_only=True)
class Told(Generic[P]):
    """What all tasks of a run are told."""

    cluster: str
    run_id: str
    # The newest run that was there.
    through_run_id: str
    # By offsets partition, of those that need not be done from their beginning.
    earlier: Mapping[int, P]
    # Where files are written.
    root: Place = Path()
    # Of decoded tables, and those of the job's own that hold what may still change.
    files: Mapping[str, Sequence[LogFile]] = field(default_factory=dict)
    held: Mapping[str, Sequence[LogFile]] = field(default_factory=dict)

    def of_partitions(self, partitions: set[int]) -> Mapping[str, Any]:
        """What else but files is told by offsets partition, and of these alone."""
        return {"earlier": {place: each for place, each in self.earlier.items() if place in partitions}}


@dataclass(frozen=True)
class Share:
    """An offsets partition, or of a large one the groups that fall to one of `num_slices`."""

    partition: int
    number: int = 0
    num_slices: int = 1


@dataclass
class Answer(Generic[P]):
    # By table; several where rows are open and closed.
    files: list[tuple[str, DataFile]] = field(default_factory=list)
    num_rows: dict[str, int] = field(default_factory=dict)
    progress: list[P] = field(default_factory=list)
    # Of slices of an offsets partition, as Arrow: a transaction may commit for groups of several.
    transactions: list[tuple[int, bytes]] = field(default_factory=list)
    # Done from their beginning: what earlier runs made of them goes.
    whole: list[int] = field(default_factory=list)
    # Done in slices and not from their beginning, as they have to be.
    insufficient: list[int] = field(default_factory=list)
    num_records: int = 0
    num_groups: int = 0
    failure: tuple[int, str] | None = None


def serialized(rows: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(rows)
    return bytes(stream.getvalue())


def deserialized(content: bytes) -> pa.Table:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


# What a task does with each of its shares: it writes files, and tells the answer what came of it.
Work = Callable[[Any, Share, HistoryFiles, Opened, Answer[Any]], None]
