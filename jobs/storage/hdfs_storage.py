"""HDFS by hdfs-native, which reads HADOOP_CONF_DIR and Kerberos' tickets as Hadoop's own clients do."""

import errno
import re
import socket
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import IO, TypeVar
from urllib.parse import urlsplit

from hdfs_native import Client

from jobs.storage.calls.answers import Server
from jobs.storage.calls.processes import once_a_process
from jobs.storage.closes import Close, begin_close
from jobs.storage.cut_files import PATIENCE_SECONDS, restore
from jobs.storage.hdfs_client import WRITE_BYTES, HdfsClient, HdfsReader
from jobs.storage.options import StorageOptions
from jobs.storage.refusals import refusals_as_failures
from jobs.storage.stored_files import Data, StoredFile, buffered_reader, last_bytes, nothing

# delta-rs finds no table in folders of other names there.
PLAIN = re.compile(r"[\w./=+-]*", re.ASCII)
CONNECT_SECONDS = 5

T = TypeVar("T")


@dataclass(frozen=True)
class HdfsStorage:
    place: str
    options: StorageOptions

    @property
    def client(self) -> HdfsClient:
        where = urlsplit(self.place)
        return connect(f"{where.scheme}://{where.netloc}", self.options)  # type: ignore[no-any-return]

    def path(self, name: str) -> str:
        """As HDFS names it: nothing is escaped there."""
        root = self.place.split("://", 1)[1].partition("/")[2]
        return "/" + "/".join(part for part in (root, name) if part)

    def errors_of(self, name: str = "") -> AbstractContextManager[None]:
        """Refusals, as errors of the file."""
        return refusals_as_failures(f"{self.place}/{name}" if name else self.place, CONNECT_SECONDS)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        above = self.path("").rstrip("/") + "/"
        with self.errors_of(folder), suppress(FileNotFoundError):
            for status in self.client.list_status(self.path(folder), True):
                if not status.isdir:
                    yield StoredFile(status.path.removeprefix(above), status.length, status.modification_time)

    def find(self, name: str) -> StoredFile | None:
        try:
            with self.errors_of(name):
                status = self.client.get_file_info(self.path(name))
        except FileNotFoundError:
            return None
        return None if status.isdir else StoredFile(name, status.length, status.modification_time)

    def open(self, name: str) -> IO[bytes]:
        return buffered_reader(self.open_ranges(name))

    def ranges(self, name: str, last: int) -> tuple["HdfsRanges", Data]:
        ranges = self.open_ranges(name)
        return ranges, last_bytes(ranges, last)

    def open_ranges(self, name: str) -> "HdfsRanges":
        with self.errors_of(name):
            reader = self.client.read(self.path(name))
            return HdfsRanges(self, name, reader, len(reader))

    def create(self, name: str) -> "HdfsFile":
        return HdfsFile(self, name)

    def replace(self, name: str, data: bytes, wait: Callable[[], object] = nothing) -> None:
        file = HdfsFile(self, name)
        try:
            file.write(data)
            file.begin_close()
            wait()
        except BaseException:
            file.abandon()
            raise
        file.finish(is_new=False)

    def delete(self, name: str) -> None:
        with self.errors_of(name):
            self.client.delete(self.path(name))

    def restore(self, folder: str = "") -> None:
        with self.errors_of(folder):
            cut = restore(self.client, self.path(folder))
        if cut:
            line = f"the name node does not know the length of this file again, tried for {PATIENCE_SECONDS:g} s"
            place = self.place.removesuffix(self.path("")) + cut[0]
            raise OSError(errno.EIO, f"{line}: check that all data nodes run", place)

    def absent_folders(self) -> Sequence["HdfsStorage"]:
        absent: list[HdfsStorage] = []
        storage = self
        while storage.path("") != "/" and not storage.is_there():
            absent.insert(0, storage)
            storage = replace(storage, place=storage.place.rpartition("/")[0])
        return absent

    def is_there(self) -> bool:
        try:
            with self.errors_of():
                self.client.get_file_info(self.path(""))
        except FileNotFoundError:
            return False
        return True

    def delete_empty_folder(self, folder: str = "") -> None:
        with suppress(OSError), self.errors_of(folder):
            self.client.delete(self.path(folder))

    def in_time(self, call: Callable[[], T]) -> T:
        return self.client.server.answer(call)

    @property
    def delta_options(self) -> dict[str, str]:
        return self.options.of_hadoop()

    def delta_uri(self, folder: str) -> str:
        if not PLAIN.fullmatch(self.path(folder)):
            line = "is not a place for tables; use only letters, digits and . _ - = + / in its path"
            raise OSError(22, line, self.place)
        return f"{self.place}/{folder}"


@once_a_process
def connect(root: str, options: StorageOptions) -> HdfsClient:
    """The client itself tries for minutes where nobody listens, so that is found out before."""
    where = urlsplit(root)
    if where.hostname and where.port:
        socket.create_connection((where.hostname, where.port), CONNECT_SECONDS).close()
    server = Server(options.answer_seconds)
    return HdfsClient(server.answer(lambda: Client(root if where.netloc else None, options.of_hadoop())), server)


@dataclass(frozen=True)
class HdfsRanges:
    storage: HdfsStorage
    name: str
    reader: HdfsReader
    size: int

    def read(self, start: int, length: int) -> Data:
        with self.storage.errors_of(self.name):
            return self.reader.read_range(start, length)


class HdfsFile:
    """Written under a name of its own; a rename, which HDFS does as one step, gives it its name."""

    def __init__(self, storage: HdfsStorage, name: str) -> None:
        self.storage, self.name = storage, name
        self.begun = f"{name}.{uuid.uuid4().hex}.begun"
        self.waiting = bytearray()
        self.size = 0
        self.closing: Close | None = None
        with storage.errors_of(name):
            self.file = storage.client.create(storage.path(self.begun))

    def write(self, data: Data, /) -> int:
        self.waiting += data
        if len(self.waiting) >= WRITE_BYTES:
            self.flush_waiting()
        return memoryview(data).nbytes

    def flush_waiting(self) -> None:
        with self.storage.errors_of(self.name):
            self.file.write(self.waiting)
        self.size += len(self.waiting)
        self.waiting.clear()

    def begin_close(self) -> Close:
        """It continues in the background: when the client first asks, the name node has not heard of the last block
        yet, and the client asks again half a second later."""
        if self.closing is None:
            self.flush_waiting()
            self.closing = begin_close(self.close)
        return self.closing

    def close(self) -> None:
        # Closed by its number: under its name there may be no file any more, or another one.
        with suppress(FileNotFoundError), self.storage.errors_of(self.name):
            self.file.close()

    def is_readable(self) -> bool:
        """A file's length counts its last block before readers get it; the length of its located blocks does not."""
        # A name node that does not say so says it of the close.
        with suppress(Exception):
            return len(self.storage.client.read(self.storage.path(self.begun))) == self.size
        return False

    def finish(self, *, is_new: bool = True) -> None:
        path = self.storage.path
        try:
            self.begin_close().wait_until(self.is_readable)
            with self.storage.errors_of(self.name):
                self.storage.client.rename(path(self.begun), path(self.name), not is_new)
        except OSError:
            self.abandon()
            raise

    def abandon(self) -> None:
        if self.closing is None:
            # Where nothing can be written any more it cannot be closed or removed either.
            with suppress(Exception):
                self.close()
        with suppress(OSError):
            self.storage.delete(self.begun)
