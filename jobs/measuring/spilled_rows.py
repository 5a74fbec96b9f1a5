"""Rows on the disk of this machine, by table and range of keys, until a task needs them again."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa

from jobs.replaying.task.messages import deserialize, serialize


@dataclass
class SpilledRows:
    """One file without a name: it is gone when the process ends, however that is. None: nothing was written. `places`:
    of each table and range, where its parts begin and how long they are."""

    file: IO[bytes] | None = None
    places: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def write(self, name: str, number: int, rows: pa.Table) -> None:
        if self.file is None:
            self.file = tempfile.TemporaryFile()  # noqa: SIM115
        content = serialize(compacted(rows))
        self.places[name, number].append((self.file.seek(0, 2), len(content)))
        self.file.write(content)

    def read(self, name: str, number: int) -> Iterator[pa.Table]:
        for begin, size in self.places[name, number]:
            assert self.file is not None
            self.file.seek(begin)
            yield deserialize(self.file.read(size))

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def compacted(rows: pa.Table) -> pa.Table:
    """Without the texts that only rows of other ranges have: there may be one for each row."""
    columns = (
        column.cast(column.type.value_type).dictionary_encode()
        if pa.types.is_dictionary(column.type) and any(len(each.dictionary) > len(each) for each in column.chunks)
        else column
        for column in rows.columns
    )
    return pa.table(list(columns), rows.schema)
