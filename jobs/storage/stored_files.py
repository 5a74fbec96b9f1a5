"""What every storage can do. Names are relative to its place; what fails raises an OSError whose file is the URI."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Protocol, TypeVar

from jobs.storage.options import StorageOptions

# Python has no type of its own for them before 3.12.
Data = Any
T = TypeVar("T")
# Of small reads one request is made: each costs a round trip.
READ_AHEAD = 1 << 20


def nothing() -> None:
    pass


@dataclass(frozen=True)
class StoredFile:
    name: str
    size: int
    modified_ms: int


class NewFile(Protocol):
    """A file that is being written. It appears as a whole by `finish`, or not at all."""

    def write(self, data: Data, /) -> int: ...

    def finish(self) -> None:
        """Fails by FileExistsError where there is one of its name."""
        ...

    def abandon(self) -> None: ...


class Storage(Protocol):
    """Plain data, to be pickled and sent to workers; connections are opened in the process that needs them."""

    @property
    def place(self) -> str:
        """As people write it, without a slash at its end."""
        ...

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Files in the folder and in all below it; none where there is no such folder."""
        ...

    def find(self, name: str) -> StoredFile | None: ...

    def open(self, name: str) -> IO[bytes]:
        """For reading anywhere in it."""
        ...

    def ranges(self, name: str, last: int) -> tuple["Ranges", Data]:
        """For reading by ranges, and so many of its last bytes, or all there are."""
        ...

    def create(self, name: str) -> NewFile: ...

    def replace(self, name: str, data: bytes, wait: Callable[[], object] = nothing) -> None:
        """A reader sees all of the old or all of the new bytes. The new ones do not appear before `wait` has returned;
        other slow steps run while it waits."""
        ...

    def delete(self, name: str) -> None:
        """Nothing happens where there is no such file."""
        ...


class RemoteStorage(Storage, Protocol):
    """One that is reached over the network."""

    @property
    def options(self) -> StorageOptions: ...

    def restore(self, folder: str = "") -> None:
        """Files of a warehouse that a server lost the end of, where a server can: only on HDFS."""
        ...

    def absent_folders(self) -> "Sequence[RemoteStorage]":
        """This place and those above it, the outermost first, as far as they are folders that the first file will make:
        only on HDFS."""
        ...

    def delete_empty_folder(self, folder: str = "") -> None:
        """Nothing happens where there is no such folder, or where something is in it."""
        ...

    def in_time(self, call: Callable[[], T]) -> T:
        """Around what another library does with this storage, if the library itself would wait for ever for a server
        that does not answer: only on HDFS."""
        ...

    @property
    def delta_options(self) -> dict[str, str]:
        """What delta-rs needs beside the URI of a table."""
        ...

    def delta_uri(self, folder: str) -> str: ...


def uri_of(storage: Storage, name: str) -> str:
    return f"{storage.place}/{name}" if name else storage.place


def read_whole(storage: Storage, name: str) -> bytes:
    with storage.open(name) as file:
        return file.read()


def write_once(storage: Storage, name: str, data: bytes) -> None:
    """Fails by FileExistsError where there is one: of several writers one succeeds."""
    with created(storage, name) as file:
        file.write(data)


class created:
    """The new file, finished when the block ends, abandoned when it fails."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.file = storage.create(name)

    def __enter__(self) -> NewFile:
        return self.file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.file.finish()
        else:
            self.file.abandon()


class Ranges(Protocol):
    """What gives the bytes of a file by ranges."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, length: int) -> Data: ...


class RangeReader(io.RawIOBase):
    """A file whose bytes come by ranges, as Python reads files."""

    def __init__(self, ranges: Ranges) -> None:
        super().__init__()
        self.ranges = ranges
        self.position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.ranges.size}[whence]
        self.position = base + offset
        return self.position

    def readinto(self, into: Data) -> int:
        view = memoryview(into).cast("B")
        # Servers refuse a range that begins after the end, and clients panic.
        length = max(0, min(len(view), self.ranges.size - self.position))
        if length:
            view[:length] = memoryview(self.ranges.read(self.position, length)).cast("B")
            self.position += length
        return length


def last_bytes(ranges: Ranges, most: int) -> Data:
    length = min(most, ranges.size)
    return ranges.read(ranges.size - length, length) if length else b""


def buffered_reader(ranges: Ranges) -> IO[bytes]:
    return io.BufferedReader(RangeReader(ranges), READ_AHEAD)
