"""A file or folder of a disk of this machine, or one that it has mounted."""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import pyarrow.parquet as pq

from jobs.storage.kernel_lock import KernelLock
from jobs.storage.local_storage import LocalStorage
from jobs.storage.places.place import Place
from jobs.storage.stored_files import nothing, write_once

T = TypeVar("T")


@dataclass(frozen=True)
class LocalPlace(Place):
    path: Path

    is_remote = False
    # Each file waits until the disk has it.
    most_at_once = 8

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str | Path) -> "LocalPlace":
        return LocalPlace(self.path / name)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def parent(self) -> "LocalPlace":
        return LocalPlace(self.path.parent)

    @property
    def address(self) -> str:
        return str(self.path.absolute())

    @property
    def uri(self) -> str:
        """As Spark and Trino name it: nothing in it is escaped."""
        return f"file://{self.address}"

    def is_file(self) -> bool:
        return self.path.is_file()

    def size(self) -> int:
        return self.path.stat().st_size

    def files_in(self, ending: str = "") -> list["LocalPlace"]:
        return [LocalPlace(path) for path in sorted(self.path.glob(f"*{ending}"))]

    def files_by_folder(self, folders: Iterable[str]) -> dict[str, list["LocalPlace"]]:
        return {folder: (self / folder).files_in() for folder in folders}

    def names_in(self) -> set[str]:
        return set(os.listdir(self.path))

    def is_folder(self) -> bool:
        return self.path.is_dir()

    def is_no_folder(self) -> bool:
        return self.path.exists() and not self.path.is_dir()

    def is_writable(self) -> bool:
        return os.access(self.path, os.W_OK)

    def make_folder(self) -> list["LocalPlace"]:
        made: list[LocalPlace] = []
        try:
            while absent := [path for path in (self.path, *self.path.parents) if not path.exists()]:
                # Another process may have just made it, or removed the one above it.
                with suppress(FileNotFoundError):
                    made += [LocalPlace(absent[-1])] if is_made(absent[-1]) else []
        except OSError:
            for each in reversed(made):
                each.delete_empty_folder()
            raise
        return made

    def open(self) -> IO[bytes]:
        return self.path.open("rb")

    def open_identified(self) -> tuple[IO[bytes], int]:
        """Only regular files: a pipe would hold the command until somebody writes to it."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            is_folder = stat.S_ISDIR(status.st_mode)
            what = (errno.EISDIR, os.strerror(errno.EISDIR)) if is_folder else (errno.EINVAL, "is a pipe or device")
            raise OSError(*what, str(self.path))
        return os.fdopen(descriptor, "rb"), status.st_ino

    def read_bytes(self) -> bytes:
        return self.path.read_bytes()

    def parquet_source(self) -> Path:
        return self.path

    def row_group_source(self, footer: pq.FileMetaData, group: int, columns: Iterable[str]) -> Path:
        return self.path

    @property
    def arrow_name(self) -> str:
        return str(self.path)

    def arrow_files(self) -> None:
        """Arrow's threads read by paths without calling back into Python."""
        return None

    def restore(self) -> None:
        """A file that is there is whole."""

    def known_refusals(self) -> AbstractContextManager[None]:
        return nullcontext()

    def write_whole_bytes(self, data: bytes, wait: Callable[[], object] = nothing) -> None:
        LocalStorage(str(self.path.parent)).replace(self.path.name, data, wait)

    def write_new(self, text: str) -> None:
        write_once(LocalStorage(str(self.path.parent)), self.path.name, text.encode())

    def begin_parquet(self, num_folders: int) -> "LocalParquet":
        for folder in reversed(self.path.parents[:num_folders]):
            folder.mkdir(exist_ok=True)
        return LocalParquet(self.path)

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    def delete_folder(self) -> None:
        for above, folders, names in os.walk(self.path, topdown=False):
            for name in names:
                Path(above, name).unlink(missing_ok=True)
            for name in folders:
                with suppress(OSError):
                    Path(above, name).rmdir()
        self.delete_empty_folder()

    def delete_empty_folder(self) -> None:
        with suppress(OSError):
            self.path.rmdir()

    def lock(self, job: str) -> KernelLock:
        return KernelLock(self.path, job)

    def by_delta(self, call: Callable[[str | Path, dict[str, str] | None], T]) -> T:
        return call(self.path, None)


def is_made(folder: Path) -> bool:
    """False: there is one already."""
    try:
        folder.mkdir()
    except FileExistsError:
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise
        return False
    return True


@dataclass(frozen=True)
class LocalParquet:
    """Written under its own name, which nobody asks for before it is committed."""

    sink: Path

    def num_bytes(self) -> int:
        return self.sink.stat().st_size

    def finish(self) -> None:
        """It is there already."""

    def abandon(self) -> None:
        self.sink.unlink(missing_ok=True)
