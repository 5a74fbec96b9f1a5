"""A file or folder of a storage that is reached over the network."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from jobs.storage.arrow_files import arrow_files, arrow_sink
from jobs.storage.kept_files import open_kept, open_parts
from jobs.storage.places.place import Place
from jobs.storage.refusals import known_refusal, reword_delta_failures
from jobs.storage.storage_lock import StorageLock
from jobs.storage.stored_files import Data, NewFile, RemoteStorage, nothing, read_whole, uri_of, write_once

T = TypeVar("T")


@dataclass(frozen=True)
class RemotePlace(Place):
    storage: RemoteStorage
    # Relative to the storage's place; empty: the place itself.
    file: str = ""

    is_remote = True
    # All that one run commits: on HDFS each waits half a second until it is closed.
    most_at_once = 32

    def __str__(self) -> str:
        return uri_of(self.storage, self.file)

    def __truediv__(self, name: str | Path) -> "RemotePlace":
        return RemotePlace(self.storage, f"{self.file}/{name}".lstrip("/"))

    @property
    def name(self) -> str:
        return str(self).rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def parent(self) -> "RemotePlace":
        """Of a file that lies in the place itself it is the place."""
        return RemotePlace(self.storage, self.file.rpartition("/")[0])

    @property
    def address(self) -> str:
        return str(self)

    @property
    def uri(self) -> str:
        return str(self)

    def is_file(self) -> bool:
        return self.storage.find(self.file) is not None

    def size(self) -> int:
        file = self.storage.find(self.file)
        if file is None:
            raise FileNotFoundError(2, "no such file", str(self))
        return file.size

    def files_in(self, ending: str = "") -> list["RemotePlace"]:
        depth = self.file.count("/") + 2 if self.file else 1
        names = (file.name for file in self.storage.list(self.file))
        near = sorted(name for name in names if name.endswith(ending) and name.count("/") + 1 == depth)
        return [RemotePlace(self.storage, name) for name in near]

    def files_by_folder(self, folders: Iterable[str]) -> dict[str, list["RemotePlace"]]:
        """By one listing for all: each costs a request, and gives what is in the folders below too."""
        by_folder: dict[str, list[RemotePlace]] = {folder: [] for folder in folders}
        for file in self.storage.list(self.file):
            folder = self.below(file.name).rpartition("/")[0]
            if folder in by_folder:
                by_folder[folder].append(RemotePlace(self.storage, file.name))
        return by_folder

    def names_in(self) -> set[str]:
        return {self.below(file.name).split("/")[0] for file in self.storage.list(self.file)}

    def below(self, name: str) -> str:
        """A listed name, relative to this folder."""
        return name.removeprefix(f"{self.file}/".lstrip("/"))

    # There are no folders: each is there as soon as a file is, and can be written to until the storage refuses.

    def is_folder(self) -> bool:
        return True

    def is_no_folder(self) -> bool:
        return False

    def is_writable(self) -> bool:
        return True

    def make_folder(self) -> list["RemotePlace"]:
        """The first file makes them, where there are folders: on HDFS."""
        return [RemotePlace(storage) for storage in self.storage.absent_folders()]

    def open(self) -> IO[bytes]:
        return self.storage.open(self.file)

    def open_identified(self) -> tuple[IO[bytes], int]:
        """By when it was written: files do not grow there."""
        file, stored = self.open(), self.storage.find(self.file)
        return file, -1 if stored is None else stored.modified_ms

    def read_bytes(self) -> bytes:
        return read_whole(self.storage, self.file)

    def parquet_source(self) -> pa.NativeFile:
        return pa.PythonFile(open_kept(self.storage, self.file), mode="r")

    def row_group_source(self, footer: pq.FileMetaData, group: int, columns: Iterable[str]) -> pa.NativeFile:
        """Their bytes are read at once."""
        wanted = frozenset(columns)
        chunks = map(footer.row_group(group).column, range(footer.num_columns))
        parts = [
            bytes_of_chunk(each) for each in chunks if wanted & {each.path_in_schema, each.path_in_schema.split(".")[0]}
        ]
        return pa.PythonFile(open_parts(self.storage, self.file, parts), mode="r")

    @property
    def arrow_name(self) -> str:
        return self.file

    def arrow_files(self) -> fs.FileSystem:
        return arrow_files(self.storage)

    def restore(self) -> None:
        self.storage.restore(self.file)

    @contextmanager
    def known_refusals(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if (refused := known_refusal(error, str(self), self.storage.options.retry_seconds)) is None:
                raise
            raise refused from None

    def write_whole_bytes(self, data: bytes, wait: Callable[[], object] = nothing) -> None:
        self.storage.replace(self.file, data, wait)

    def write_new(self, text: str) -> None:
        write_once(self.storage, self.file, text.encode())

    def begin_parquet(self, num_folders: int) -> "RemoteParquet":
        return RemoteParquet(self.storage.create(self.file))

    def delete(self) -> None:
        self.storage.delete(self.file)

    def delete_folder(self) -> None:
        for file in list(self.storage.list(self.file)):
            self.storage.delete(file.name)

    def delete_empty_folder(self) -> None:
        self.storage.delete_empty_folder(self.file)

    def lock(self, job: str) -> StorageLock:
        return StorageLock(self.storage, job)

    def by_delta(self, call: Callable[[str | Path, dict[str, str] | None], T]) -> T:
        storage = self.storage
        with reword_delta_failures(str(self), storage.options.retry_seconds):
            return storage.in_time(lambda: call(storage.delta_uri(self.file), storage.delta_options))


def bytes_of_chunk(chunk: pq.ColumnChunkMetaData) -> tuple[int, int]:
    start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return start, start + chunk.total_compressed_size


@dataclass
class RemoteParquet:
    """It appears when it is finished."""

    file: NewFile
    size: int = 0

    @property
    def sink(self) -> pa.NativeFile:
        return arrow_sink(self)

    def write(self, data: Data, /) -> int:
        self.size += memoryview(data).nbytes
        return self.file.write(data)

    def num_bytes(self) -> int:
        return self.size

    def finish(self) -> None:
        self.file.finish()

    def abandon(self) -> None:
        self.file.abandon()
