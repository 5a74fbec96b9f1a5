"""A file or folder of a storage, named as pathlib names local ones; what a warehouse does with either is here too."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.storage.arrow_files import arrow_sink
from jobs.storage.kept_files import open_kept, open_parts
from jobs.storage.local_storage import LocalStorage
from jobs.storage.refusals import known_refusal, reword_delta_failures
from jobs.storage.stored_files import Data, NewFile, Storage, nothing, read_whole, uri_of, write_once

T = TypeVar("T")


@dataclass(frozen=True)
class StoredPath:
    storage: Storage
    # Relative to the storage's place; empty: the place itself.
    file: str = ""

    def __str__(self) -> str:
        return uri_of(self.storage, self.file)

    def __lt__(self, other: "StoredPath") -> bool:
        return str(self) < str(other)

    def __truediv__(self, name: str | Path) -> "StoredPath":
        return StoredPath(self.storage, f"{self.file}/{name}".lstrip("/"))

    @property
    def name(self) -> str:
        return str(self).rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def parent(self) -> "StoredPath":
        """Of a file that lies in the place itself it is the place."""
        return StoredPath(self.storage, self.file.rpartition("/")[0])


Place = Path | StoredPath


def parquet_source(place: Place) -> Any:
    """As pyarrow.parquet reads files. For files of a warehouse alone, which stay as they are."""
    return place if isinstance(place, Path) else pa.PythonFile(open_kept(place.storage, place.file), mode="r")


def row_group_source(place: Place, footer: pq.FileMetaData, group: int, columns: Iterable[str]) -> Any:
    """The same for these columns of one row group, whose bytes are read at once. Columns by name, or by their paths in
    the file."""
    if isinstance(place, Path):
        return place
    wanted = frozenset(columns)
    chunks = map(footer.row_group(group).column, range(footer.num_columns))
    parts = [
        bytes_of_chunk(each) for each in chunks if wanted & {each.path_in_schema, each.path_in_schema.split(".")[0]}
    ]
    return pa.PythonFile(open_parts(place.storage, place.file, parts), mode="r")


def bytes_of_chunk(chunk: pq.ColumnChunkMetaData) -> tuple[int, int]:
    start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return start, start + chunk.total_compressed_size


def size_of(place: Place) -> int:
    if isinstance(place, Path):
        return place.stat().st_size
    file = place.storage.find(place.file)
    if file is None:
        raise FileNotFoundError(2, "no such file", str(place))
    return file.size


def is_file(place: Place) -> bool:
    return place.is_file() if isinstance(place, Path) else place.storage.find(place.file) is not None


def files_in(folder: Place, ending: str) -> list[Place]:
    """By name; none where there is no such folder."""
    if isinstance(folder, Path):
        return sorted(folder.glob(f"*{ending}"))
    depth = folder.file.count("/") + 2 if folder.file else 1
    names = (file.name for file in folder.storage.list(folder.file))
    near = sorted(name for name in names if name.endswith(ending) and name.count("/") + 1 == depth)
    return [StoredPath(folder.storage, name) for name in near]


def files_by_folder(root: Place, folders: Iterable[str]) -> dict[str, list[Place]]:
    """Files right in each of the folders, which are named relative to the root. A storage is listed once for all: each
    listing costs a request, and gives what is in the folders below too."""
    if isinstance(root, Path):
        return {folder: files_in(root / folder, "") for folder in folders}
    by_folder: dict[str, list[Place]] = {folder: [] for folder in folders}
    above = f"{root.file}/".lstrip("/")
    for file in root.storage.list(root.file):
        folder = file.name.removeprefix(above).rpartition("/")[0]
        if folder in by_folder:
            by_folder[folder].append(StoredPath(root.storage, file.name))
    return by_folder


def names_in(folder: Place) -> set[str]:
    """Of the files and folders in it."""
    if isinstance(folder, Path):
        return set(os.listdir(folder))
    above = f"{folder.file}/".lstrip("/")
    return {file.name.removeprefix(above).split("/")[0] for file in folder.storage.list(folder.file)}


def delete(place: Place) -> None:
    """Nothing happens where there is no such file."""
    if isinstance(place, Path):
        place.unlink(missing_ok=True)
    else:
        place.storage.delete(place.file)


def delete_folder(folder: Place) -> None:
    if isinstance(folder, StoredPath):
        for file in list(folder.storage.list(folder.file)):
            folder.storage.delete(file.name)
        return
    for above, folders, names in os.walk(folder, topdown=False):
        for name in names:
            Path(above, name).unlink(missing_ok=True)
        for name in folders:
            with suppress(OSError):
                Path(above, name).rmdir()
    with suppress(OSError):
        folder.rmdir()


def bytes_of(place: Place) -> bytes:
    return place.read_bytes() if isinstance(place, Path) else read_whole(place.storage, place.file)


def text_of(place: Place) -> str:
    return bytes_of(place).decode()


def write_whole(place: Place, text: str, wait: Callable[[], object] = nothing) -> None:
    """The file is there with all of the text, also after a power cut, or it is not there. It does not appear before
    `wait` has returned."""
    write_whole_bytes(place, text.encode(), wait)


def write_whole_bytes(place: Place, data: bytes, wait: Callable[[], object] = nothing) -> None:
    if isinstance(place, StoredPath):
        place.storage.replace(place.file, data, wait)
        return
    wait()
    place.parent.mkdir(parents=True, exist_ok=True)
    begun = place.with_name(f"{place.name}.{os.getpid()}.begun")
    try:
        with begun.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        begun.replace(place)
    except OSError:
        begun.unlink(missing_ok=True)
        raise


def write_new(place: Place, text: str) -> None:
    """As a whole; fails by FileExistsError where there is one of its name."""
    if isinstance(place, StoredPath):
        write_once(place.storage, place.file, text.encode())
    else:
        write_once(LocalStorage(str(place.parent)), place.name, text.encode())


class BegunParquet:
    """Where a Parquet file is written. On a local disk under its own name, which nobody asks for before it is
    committed; on a storage it appears when it is finished."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.file: NewFile | None = None
        self.size = 0
        if isinstance(place, StoredPath):
            self.file = place.storage.create(place.file)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)

    @property
    def sink(self) -> Any:
        return self.place if isinstance(self.place, Path) else arrow_sink(self)

    def write(self, data: Data, /) -> int:
        assert self.file is not None
        self.size += memoryview(data).nbytes
        return self.file.write(data)

    def num_bytes(self) -> int:
        """Of what was written, without asking a storage what it was just given."""
        return size_of(self.place) if self.file is None else self.size

    def finish(self) -> None:
        if self.file is not None:
            self.file.finish()

    def abandon(self) -> None:
        if self.file is not None:
            self.file.abandon()
        else:
            delete(self.place)


def by_delta(folder: Place, call: Callable[[str | Path, dict[str, str] | None], T]) -> T:
    """What delta-rs does with the table in the folder, which it takes as these two; its refusals as lines of ours."""
    if isinstance(folder, Path):
        return call(folder, None)
    storage = cast(Any, folder.storage)
    with reword_delta_failures(str(folder), storage.options.retry_seconds):
        return folder.storage.in_time(lambda: call(storage.delta_uri(folder.file), storage.delta_options))


@contextmanager
def known_refusals(place: Place) -> Iterator[None]:
    """Around a library that reaches the storage by itself: what the storage refused, as a line of ours. Any other error
    stays as it is: the file may be damaged."""
    try:
        yield
    except Exception as error:
        if isinstance(place, Path):
            raise
        options = cast(Any, place.storage).options
        if (refused := known_refusal(error, str(place), options.retry_seconds)) is None:
            raise
        raise refused from None
