"""Where the rows go that a task makes: into files of the tables, or into blobs that Spark's own writer takes on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa

from jobs.storage.stored_path import Place
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.table_files import TableFile, check_required
from schemas.tables import TABLES

# What is compared with the warehouse together: rows of so many offsets in a row.
STRETCH = 1 << 16
BLOB_ROWS = 1 << 16
BLOB_BYTES = 8 << 20
HELD = "held-"
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


class RowSink(Protocol):
    def write(self, name: str, rows: pa.Table, partition: int) -> None: ...

    def hold(self, name: str, rows: pa.Table, partition: int) -> None:
        """Rows that the warehouse may have: it is for another step to see."""
        ...

    def close(self) -> list[tuple[str, DataFile]]: ...

    def abandon(self) -> None: ...


@dataclass
class TableFiles:
    """One file of each table that there are rows for."""

    root: Place
    run_id: str
    files: dict[str, TableFile] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int) -> None:
        if name not in self.files:
            self.files[name] = TableFile(self.root / TABLES[name].folder, TABLES[name], self.run_id)
        self.files[name].write(rows, partition)

    def hold(self, name: str, rows: pa.Table, partition: int) -> None:
        raise AssertionError(f"{name}: whoever writes files sees what the warehouse has")

    def close(self) -> list[tuple[str, DataFile]]:
        found = []
        for name, file in self.files.items():
            if (done := file.close()) is not None:
                found.append((name, done))
                failpoint("file_written", name)
        return found

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()


@dataclass(frozen=True)
class Blob:
    """Rows of one table as Arrow writes them; of held rows with the stretch of the log that they lie in."""

    kind: str
    content: bytes
    partition: int | None = None
    stretch: int | None = None


@dataclass
class Blobs:
    """Rows on their way through Spark, which would take them one by one; `taken` gives those that are full."""

    ready: list[Blob] = field(default_factory=list)
    waiting: dict[str, list[pa.Table]] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int) -> None:
        check_required(TABLES[name], rows)
        waiting = self.waiting.setdefault(name, [])
        waiting.append(rows)
        if sum(each.num_rows for each in waiting) >= BLOB_ROWS or sum(each.nbytes for each in waiting) >= BLOB_BYTES:
            self.flush(name)

    def flush(self, name: str) -> None:
        self.ready.append(Blob(name, serialized(pa.concat_tables(self.waiting.pop(name)))))

    def hold(self, name: str, rows: pa.Table, partition: int) -> None:
        check_required(TABLES[name], rows)
        self.ready += held_blobs(HELD + name, rows, partition)

    def close(self) -> list[tuple[str, DataFile]]:
        for name in list(self.waiting):
            self.flush(name)
        return []

    def abandon(self) -> None:
        self.ready, self.waiting = [], {}

    def taken(self) -> list[Blob]:
        found, self.ready = self.ready, []
        return found


def held_blobs(kind: str, rows: pa.Table, partition: int) -> Iterator[Blob]:
    """Cut where one stretch of offsets ends; `rows` are of one offsets partition."""
    rows = rows.sort_by("record_offset")
    stretches = rows.column("record_offset").to_numpy() // STRETCH
    bounds = [0, *(np.flatnonzero(np.diff(stretches)) + 1).tolist(), len(stretches)]
    for start, stop in pairwise(bounds):
        if start < stop:
            yield Blob(kind, serialized(rows.slice(start, stop - start)), partition, int(stretches[start]))


def serialized(rows: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, rows.schema, options=COMPRESSED) as writer:
        writer.write_table(rows)
    return bytes(stream.getvalue())


def deserialized(content: bytes | pa.Buffer) -> pa.Table:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()
