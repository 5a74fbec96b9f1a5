"""A storage as pyarrow takes file systems: for Parquet files and datasets of them."""

from datetime import UTC, datetime
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import fs

from jobs.storage.stored_files import Data, Storage, StoredFile


def arrow_files(storage: Storage) -> fs.FileSystem:
    """To read from, by names relative to the storage's place. Threads of Arrow call back into Python to read: who reads
    datasets waits for all of it, or says use_threads=False (apache/arrow#34314)."""
    return fs.PyFileSystem(StorageHandler(storage))


class Writable(Protocol):
    def write(self, data: Data, /) -> int: ...


def arrow_sink(file: Writable) -> pa.NativeFile:
    """To write Parquet to; closing it does not finish the file."""
    return pa.PythonFile(Unclosed(file), mode="w")


class Unclosed:
    closed = False

    def __init__(self, file: Writable) -> None:
        self.write = file.write

    def flush(self) -> None: ...

    def close(self) -> None: ...


class StorageHandler(fs.FileSystemHandler):  # type: ignore[misc]
    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageHandler) and self.storage == other.storage

    def __hash__(self) -> int:
        return hash(self.storage)

    def get_type_name(self) -> str:
        return "storage"

    def normalize_path(self, path: str) -> str:
        return path.strip("/")

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return [self.info(path) for path in paths]

    def info(self, path: str) -> fs.FileInfo:
        if file := self.storage.find(path):
            return file_info(file)
        is_folder = next(iter(self.storage.list(path)), None) is not None
        return fs.FileInfo(path, fs.FileType.Directory if is_folder else fs.FileType.NotFound)

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        files = list(self.storage.list(selector.base_dir))
        if not files and not selector.allow_not_found:
            raise FileNotFoundError(selector.base_dir)
        return [file_info(each) for each in files]

    def open_input_file(self, path: str) -> pa.NativeFile:
        return pa.PythonFile(self.storage.open(path), mode="r")

    def open_input_stream(self, path: str) -> pa.NativeFile:
        return self.open_input_file(path)

    def refuse(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("files are written by Storage.create")

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = refuse
    move = copy_file = open_output_stream = open_append_stream = refuse


def file_info(file: StoredFile) -> fs.FileInfo:
    modified = datetime.fromtimestamp(file.modified_ms / 1000, UTC)
    return fs.FileInfo(file.name, fs.FileType.File, size=file.size, mtime=modified)
