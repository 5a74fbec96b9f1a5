"""Buckets of object stores (S3 and what speaks it, Google Cloud Storage, Azure) by obstore, the library of delta-rs."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

import obstore
from obstore.store import from_url

from jobs.storage.calls.processes import once_a_process
from jobs.storage.options import StorageOptions
from jobs.storage.refusals import refusals_as_failures
from jobs.storage.stored_files import Data, StoredFile, buffered_reader, last_bytes, nothing

# A put that fails where there is an object cannot be done in parts: up to so much is put at once.
MOST_AT_ONCE = 32 << 20
PART_BYTES = 8 << 20
CONNECT_SECONDS = 5
NO_LAST_BYTES = re.compile(r"NotPartial|\b416\b")
PREFIXES = {"s3": "aws", "s3a": "aws", "gs": "google", "abfs": "azure", "abfss": "azure"}

T = TypeVar("T")


@dataclass(frozen=True)
class ObjectStorage:
    place: str
    options: StorageOptions

    @property
    def prefix(self) -> str:
        return PREFIXES[urlsplit(self.place).scheme.lower()]

    @property
    def store(self) -> Any:
        return connect(self.place, self.options)

    def errors_of(self, name: str = "") -> AbstractContextManager[None]:
        """Refusals, as errors of the file."""
        return refusals_as_failures(f"{self.place}/{name}" if name else self.place, self.options.retry_seconds)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        with self.errors_of(folder):
            for page in obstore.list(self.store, folder or None):
                yield from map(stored_file, page)

    def find(self, name: str) -> StoredFile | None:
        try:
            with self.errors_of(name):
                return stored_file(obstore.head(self.store, name))
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes]:
        with self.errors_of(name):
            return buffered_reader(ObjectRanges(self, name, self.size_of(name)))

    def ranges(self, name: str, last: int) -> tuple["ObjectRanges", Data]:
        """By one request, but on Azure, which gives no last bytes of what one does not know the size of."""
        if self.prefix != "azure":
            try:
                answer = obstore.get(self.store, name, options={"range": {"suffix": last}})
                return ObjectRanges(self, name, int(answer.meta["size"])), answer.bytes()
            except Exception as error:
                # An empty object has none either.
                if not NO_LAST_BYTES.search(str(error)):
                    with self.errors_of(name):
                        raise
        with self.errors_of(name):
            ranges = ObjectRanges(self, name, self.size_of(name))
        return ranges, last_bytes(ranges, last)

    def size_of(self, name: str) -> int:
        try:
            return int(obstore.head(self.store, name)["size"])
        except FileNotFoundError:
            # That answer has no text. This one says whether the file is missing, or the bucket.
            return int(obstore.get(self.store, name).meta["size"])

    def create(self, name: str) -> "ObjectFile":
        return ObjectFile(self, name)

    def replace(self, name: str, data: bytes, wait: Callable[[], object] = nothing) -> None:
        wait()
        with self.errors_of(name):
            obstore.put(self.store, name, data, use_multipart=False)

    def delete(self, name: str) -> None:
        # Some stores refuse to delete what is not there.
        if self.find(name) is not None:
            with self.errors_of(name):
                obstore.delete(self.store, name)

    def restore(self, folder: str = "") -> None:
        """A file that is there is whole."""

    def absent_folders(self) -> Sequence["ObjectStorage"]:
        """There are no folders."""
        return ()

    def delete_empty_folder(self, folder: str = "") -> None:
        """See above."""

    def in_time(self, call: Callable[[], T]) -> T:
        return call()

    @property
    def delta_options(self) -> dict[str, str]:
        retry = self.options.retry_seconds
        seconds = {"retry_timeout": retry, "timeout": retry, "connect_timeout": CONNECT_SECONDS}
        timeouts = {name: f"{value}s" for name, value in seconds.items()}
        return {**self.options.of(self.prefix), **CONDITIONAL.get(self.prefix, {}), **timeouts}

    def delta_uri(self, folder: str) -> str:
        return f"{self.place}/{folder}"


# A commit of a version that is there fails: that keeps two writers apart.
CONDITIONAL = {"aws": {"aws_conditional_put": "etag"}}


@once_a_process
def connect(place: str, options: StorageOptions) -> Any:
    prefix = PREFIXES[urlsplit(place).scheme.lower()]
    config = {**options.of(prefix), **CONDITIONAL.get(prefix, {})}
    is_plain = config.pop(f"{prefix}_allow_http", "false").lower() == "true"
    seconds = timedelta(seconds=options.retry_seconds)
    # Each kind of store has types of its own for its options.
    reach: Any = from_url
    return reach(
        place,
        config=config,
        client_options={
            "allow_http": is_plain,
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
            "timeout": seconds,
        },
        retry_config={"retry_timeout": seconds},
    )


def stored_file(about: Any) -> StoredFile:
    return StoredFile(about["path"], about["size"], int(about["last_modified"].timestamp() * 1000))


@dataclass(frozen=True)
class ObjectRanges:
    storage: ObjectStorage
    name: str
    size: int

    def read(self, start: int, length: int) -> Data:
        with self.storage.errors_of(self.name):
            return obstore.get_range(self.storage.store, self.name, start=start, length=length)


class ObjectFile:
    """Waits in memory until it is finished, or is large: then its parts are uploaded as they come."""

    def __init__(self, storage: ObjectStorage, name: str) -> None:
        self.storage, self.name = storage, name
        self.waiting = io.BytesIO()
        self.parts: Any = None

    def write(self, data: Data, /) -> int:
        if self.parts is None and self.waiting.tell() + memoryview(data).nbytes > MOST_AT_ONCE:
            self.begin_parts()
        if self.parts is None:
            return self.waiting.write(data)
        with self.storage.errors_of(self.name):
            return int(self.parts.write(data))

    def begin_parts(self) -> None:
        """Large files have names that nobody else gives, so a look is enough of a condition."""
        if self.storage.find(self.name) is not None:
            with self.storage.errors_of(self.name):
                raise FileExistsError
        with self.storage.errors_of(self.name):
            self.parts = obstore.open_writer(self.storage.store, self.name, buffer_size=PART_BYTES)
            self.parts.write(self.waiting.getbuffer())
        self.waiting = io.BytesIO()

    def finish(self) -> None:
        with self.storage.errors_of(self.name):
            if self.parts is None:
                obstore.put(self.storage.store, self.name, self.waiting.getvalue(), mode="create", use_multipart=False)
            else:
                self.parts.close()

    def abandon(self) -> None:
        """Parts that were uploaded go by the bucket's rule for uploads without an end."""
        self.parts, self.waiting = None, io.BytesIO()
