"""A folder of a local disk."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jobs.storage.stored_files import Data, StoredFile, last_bytes, nothing


@dataclass(frozen=True)
class LocalStorage:
    place: str

    @property
    def root(self) -> Path:
        return Path(self.place)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        for above, folders, names in os.walk(self.root / folder):
            folders.sort()
            for name in sorted(names):
                path = Path(above, name)
                # It may be gone by now.
                with suppress(FileNotFoundError):
                    yield stored_file(path, path.relative_to(self.root).as_posix())

    def find(self, name: str) -> StoredFile | None:
        try:
            return stored_file(self.root / name, name) if (self.root / name).is_file() else None
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes]:
        return (self.root / name).open("rb")

    def ranges(self, name: str, last: int) -> tuple["LocalRanges", Data]:
        ranges = LocalRanges(self.root / name)
        return ranges, last_bytes(ranges, last)

    def create(self, name: str) -> "LocalFile":
        return LocalFile(self.root / name)

    def replace(self, name: str, data: bytes, wait: Callable[[], object] = nothing) -> None:
        file = LocalFile(self.root / name)
        try:
            file.write(data)
            file.sync()
            wait()
            file.begun.replace(file.path)
        except BaseException:
            file.abandon()
            raise

    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)


def stored_file(path: Path, name: str) -> StoredFile:
    status = path.stat()
    return StoredFile(name, status.st_size, status.st_mtime_ns // 1_000_000)


@dataclass(frozen=True)
class LocalRanges:
    path: Path

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def read(self, start: int, length: int) -> Data:
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(length)


class LocalFile:
    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.begun = path.with_name(f"{path.name}.{uuid.uuid4().hex}.begun")
        self.file = self.begun.open("xb")

    def write(self, data: Data, /) -> int:
        return self.file.write(data)

    def sync(self) -> None:
        """Bytes that are on the disk outlive a power cut."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def finish(self) -> None:
        try:
            self.sync()
            # Unlike a rename, a link takes no other file's place.
            os.link(self.begun, self.path)
        except FileExistsError:
            self.abandon()
            raise FileExistsError(17, "is there already", str(self.path)) from None
        except OSError:
            self.abandon()
            raise
        self.begun.unlink()

    def abandon(self) -> None:
        # A disk that is full does not take the end of the file either.
        with suppress(OSError):
            self.file.close()
        self.begun.unlink(missing_ok=True)
