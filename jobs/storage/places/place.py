"""A file or folder, named as pathlib names local ones, and what a warehouse does with it: the same on every storage.

There are two kinds: `LocalPlace` on a disk of this machine, and `RemotePlace` in a bucket or on HDFS. Who makes a place
of what people write is `addresses.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol, Self, TypeVar

import pyarrow.parquet as pq
from pyarrow import fs

from jobs.storage.stored_files import nothing

T = TypeVar("T")


class BegunParquet(Protocol):
    """A Parquet file that is being written to its `sink`. Until it is finished, nobody asks for it."""

    @property
    def sink(self) -> Any: ...

    def num_bytes(self) -> int:
        """Of what was written, without asking a storage what it was just given."""
        ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


class Lock(Protocol):
    """One writer at a time."""

    def hold(
        self, wait_seconds: float, notify: Callable[[str], None], prepare: Callable[[], None] = nothing
    ) -> AbstractContextManager[object]:
        """`prepare`: makes or checks the folder, before each attempt to take the lock."""
        ...

    def remove_at_end(self) -> None:
        """By the holder: when it frees the lock, nothing is left of it. Whoever waits for it takes a new one."""
        ...

    def check(self) -> None:
        """Before anything is done that only the holder may do."""
        ...

    def live_holder(self, notify: Callable[[str], None]) -> str | None:
        """Who holds it; None where nobody does, or a run that has ended. No run waits for this question."""
        ...


class Place(ABC):
    # Each request to it takes a while, and its answer may be lost on the way.
    is_remote: ClassVar[bool]
    # So many files that are written together take hardly longer than one.
    most_at_once: ClassVar[int]

    @abstractmethod
    def __truediv__(self, name: str | Path) -> Self: ...

    def __lt__(self, other: "Place") -> bool:
        return str(self) < str(other)

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def stem(self) -> str: ...

    @property
    @abstractmethod
    def parent(self) -> Self: ...

    @property
    @abstractmethod
    def address(self) -> str:
        """From everywhere: not relative to the folder of this process."""
        ...

    @property
    @abstractmethod
    def uri(self) -> str: ...

    # What is there.

    @abstractmethod
    def is_file(self) -> bool: ...

    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def files_in(self, ending: str = "") -> list[Self]:
        """Right in this folder, by name; none where there is no such folder."""
        ...

    @abstractmethod
    def files_by_folder(self, folders: Iterable[str]) -> dict[str, list[Self]]:
        """Files right in each of the folders, which are named relative to this one."""
        ...

    @abstractmethod
    def names_in(self) -> set[str]:
        """Of the files and folders in it."""
        ...

    @abstractmethod
    def is_folder(self) -> bool: ...

    @abstractmethod
    def is_no_folder(self) -> bool:
        """There is something, but no folder."""
        ...

    @abstractmethod
    def is_writable(self) -> bool: ...

    @abstractmethod
    def make_folder(self) -> list[Self]:
        """What was not there: the folder and those above it, the outermost first. Where files make their folders, these
        will be there with the first file."""
        ...

    # Reading.

    @abstractmethod
    def open(self) -> IO[bytes]: ...

    @abstractmethod
    def open_identified(self) -> tuple[IO[bytes], int]:
        """With what distinguishes the file from another one that takes its name later."""
        ...

    @abstractmethod
    def read_bytes(self) -> bytes: ...

    def read_text(self) -> str:
        return self.read_bytes().decode()

    @abstractmethod
    def parquet_source(self) -> Any:
        """As pyarrow.parquet reads files. For files of a warehouse alone, which stay as they are."""
        ...

    @abstractmethod
    def row_group_source(self, footer: pq.FileMetaData, group: int, columns: Iterable[str]) -> Any:
        """The same for these columns of one row group. Columns by name, or by their paths in the file."""
        ...

    @property
    @abstractmethod
    def arrow_name(self) -> str:
        """In the file system that `arrow_files` makes."""
        ...

    @abstractmethod
    def arrow_files(self) -> fs.FileSystem | None:
        """Made anew by each call: once for a table, not once for each of its files. None: Arrow's own for local
        files."""
        ...

    @abstractmethod
    def restore(self) -> None:
        """Files of the folder that a server lost the end of, where a server can: only on HDFS."""
        ...

    @abstractmethod
    def known_refusals(self) -> AbstractContextManager[None]:
        """Around a library that reaches the place by itself: what a server refused, as a line of ours. Any other error
        stays as it is: the file may be damaged."""
        ...

    # Writing.

    def write_whole(self, text: str, wait: Callable[[], object] = nothing) -> None:
        self.write_whole_bytes(text.encode(), wait)

    @abstractmethod
    def write_whole_bytes(self, data: bytes, wait: Callable[[], object] = nothing) -> None:
        """The file is there with all of the bytes, also after a power cut, or it is not there. It does not appear
        before `wait` has returned."""
        ...

    @abstractmethod
    def write_new(self, text: str) -> None:
        """As a whole; fails by FileExistsError where there is one of its name."""
        ...

    @abstractmethod
    def begin_parquet(self, num_folders: int) -> BegunParquet:
        """Makes so many folders above the file if they are not there, but none above those: a task that outlives its
        run must not make a warehouse again that the run has removed."""
        ...

    @abstractmethod
    def delete(self) -> None:
        """Nothing happens where there is no such file."""
        ...

    @abstractmethod
    def delete_folder(self) -> None: ...

    @abstractmethod
    def delete_empty_folder(self) -> None:
        """Nothing happens where there is no such folder, or where something is in it."""
        ...

    @abstractmethod
    def lock(self, job: str) -> Lock:
        """Of the warehouse whose folder this is."""
        ...

    @abstractmethod
    def by_delta(self, call: Callable[[str | Path, dict[str, str] | None], T]) -> T:
        """What delta-rs does with the table in this folder, which it takes as these two; a server's refusals as lines
        of ours."""
        ...
