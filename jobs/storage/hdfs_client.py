"""hdfs-native's client, whose calls all end in time: a name node or data node that hangs would hold them for ever."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from hdfs_native import Client, FileReader, FileStatus, WriteOptions

from jobs.storage.calls.answers import Server
from jobs.storage.stored_files import Data

if TYPE_CHECKING:
    from hdfs_native._internal import RawFileWriter

T = TypeVar("T")

# A folder is listed by requests of many files; each file would be a call of its own.
LISTED_AT_ONCE = 100
WRITE_BYTES = 1 << 20


@dataclass(frozen=True)
class HdfsClient:
    client: Client
    server: Server

    def list_status(self, path: str, recursive: bool) -> Iterator[FileStatus]:
        statuses = self.server.answer(lambda: self.client.list_status(path, recursive))
        while some := self.server.answer(lambda: list(islice(statuses, LISTED_AT_ONCE))):
            yield from some

    def get_file_info(self, path: str) -> FileStatus:
        return self.server.answer(lambda: self.client.get_file_info(path))

    def read(self, path: str) -> "HdfsReader":
        return HdfsReader(self.server, self.server.answer(lambda: self.client.read(path)))

    def create(self, path: str) -> "HdfsWriter":
        options = WriteOptions(create_parent=True)
        # What hdfs-native wraps, since Python closes the wrapper by itself when it frees it. It does so on any thread,
        # which would wait for ever there.
        return HdfsWriter(self.server, self.server.answer(lambda: self.client.inner.create(path, options)))

    def rename(self, old: str, new: str, overwrite: bool) -> None:
        self.server.answer(lambda: self.client.rename(old, new, overwrite))

    def delete(self, path: str) -> bool:
        return self.server.answer(lambda: self.client.delete(path, False))

    def recover_lease(self, path: str) -> bool:
        return self.server.answer(lambda: self.client.recover_lease(path))


@dataclass(frozen=True)
class HdfsReader:
    server: Server
    file: FileReader

    def __len__(self) -> int:
        return len(self.file)

    def read_range(self, start: int, length: int) -> Data:
        """However much it is: a slow server sends it piece by piece."""
        pieces = self.server.pieces(lambda: self.file.read_range_stream(start, length))
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


@dataclass(frozen=True)
class HdfsWriter:
    server: Server
    file: "RawFileWriter"

    def write(self, data: Data) -> None:
        """However much it is: a slow server takes it piece by piece."""
        for start in range(0, len(data), WRITE_BYTES):
            piece = bytes(data[start : start + WRITE_BYTES])
            self.server.answer(lambda piece=piece: self.file.write(piece))  # type: ignore[misc]

    def close(self) -> None:
        self.server.answer(self.file.close)
