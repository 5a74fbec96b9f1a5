"""Reads snapshot files into rows of cluster_snapshots and topic_snapshots.

    read = read_snapshots(["captures/", "s3://bucket/offsets-*.txt.gz"], "prod", run_id, None, options)
    read.tables, read.files     # by name of the table; by time of the snapshot, the file that it is from

Files are JSON lines, or the output of kafka-get-offsets or kafka-topics --describe, plain or gzipped, on any storage.
That output contains no time: the capture time is the given one, else that of the file.
"""

import glob
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.command_line.values import EPOCH
from jobs.output.failure import Failure, os_error_line
from jobs.sources.stored_segments import split_at_pattern
from jobs.sources.unreadable import IS_PACKED, UNPACK
from jobs.storage.calls.answers import NoAnswer, Server
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import is_remote, storage_at
from jobs.storage.stored_files import Storage, StoredFile, read_whole, uri_of
from schemas.tables import TABLES, Table
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema
from udfs.sources.snapshot_fields import Malformed, Row, Snapshots
from udfs.sources.snapshot_lines import Contradiction, merge_rows, parse_each

GZIP_MAGIC = b"\x1f\x8b"
# Of zip, bzip2, xz, Zstandard and LZ4; and of tar, whose first file's name comes before.
PACKED_MAGIC = (b"PK\3\4", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
TAR_PLACE, TAR_MAGIC = 257, b"ustar"
IN_UTF_8 = "give the file in UTF-8"


@dataclass(frozen=True)
class SnapshotFile:
    name: str
    modified_ms: int
    content: bytes


@dataclass(frozen=True)
class ReadSnapshots:
    tables: dict[str, pa.Table]
    files: dict[datetime, str]


def read_snapshots(
    paths: Iterable[str], cluster: str, run_id: str, captured_at_ms: int | None, options: StorageOptions
) -> ReadSnapshots:
    """Files, folders and patterns, local ones or of a storage that `options` say how to reach."""
    captured, files = CapturedSnapshots(cluster, run_id), dict[datetime, str]()
    for path in paths:
        for file in files_at(path, options):
            for each in snapshots_of(file, captured_at_ms):
                captured.add(file.name, each)
                files |= {instant(row["captured_time"]): file.name for row in each.clusters}
    return ReadSnapshots(captured.tables(), files)


def snapshots_of(file: SnapshotFile, captured_at_ms: int | None) -> Iterator[Snapshots]:
    try:
        yield from parse_each(text_of(file.content), file.modified_ms if captured_at_ms is None else captured_at_ms)
        return
    except UnicodeDecodeError as error:
        line = f"byte {error.object[error.start]:#04x} at position {error.start} is not UTF-8; {IN_UTF_8}"
    except (OSError, EOFError, zlib.error) as error:
        line = f"not a whole gzip file, {error}"
    except Malformed as error:
        line = str(error)
    raise Failure(ExitCode.UNREADABLE_INPUT, f"{file.name}: {line}")


def text_of(content: bytes) -> str:
    plain = gzip.decompress(content) if content.startswith(GZIP_MAGIC) else content
    if plain.startswith(PACKED_MAGIC) or plain[TAR_PLACE:].startswith(TAR_MAGIC):
        raise Malformed(f"{IS_PACKED}; {UNPACK}")
    text = plain.decode("utf-8-sig")
    if (place := text.find("\0")) >= 0:
        raise Malformed(f"byte 0x00 at position {place}, as UTF-16 has it; {IN_UTF_8}")
    return text


@dataclass
class CapturedRows:
    """Rows of a table, as columns as soon as a snapshot is read: as Python objects, all of them would take gigabytes.
    `parts`: by capture time in milliseconds, each with the file that it is from."""

    table: Table
    cluster: str
    run_id: str
    parts: dict[int, list[tuple[str, pa.Table]]] = field(default_factory=dict)

    def add(self, place: str, rows: list[Row]) -> None:
        """Of one snapshot."""
        if rows:
            columns = snapshot_rows(self.table, ((place, row) for row in rows), self.cluster, self.run_id)
            self.parts.setdefault(rows[0]["captured_time"], []).append((place, columns))

    def table_of_all(self) -> pa.Table:
        tables = [self.whole(ms, self.parts[ms]) for ms in sorted(self.parts)]
        return pa.concat_tables([table_schema(self.table).empty_table(), *tables])

    def whole(self, ms: int, parts: list[tuple[str, pa.Table]]) -> pa.Table:
        """A capture time may have several parts. What one part does not contain, another may."""
        if len(parts) == 1:
            return parts[0][1]
        rows = ((place, {**row, "captured_time": ms}) for place, columns in parts for row in columns.to_pylist())
        return snapshot_rows(self.table, rows, self.cluster, self.run_id)


class CapturedSnapshots:
    """Rows of both tables."""

    def __init__(self, cluster: str, run_id: str) -> None:
        self.clusters = CapturedRows(TABLES["cluster_snapshots"], cluster, run_id)
        self.topics = CapturedRows(TABLES["topic_snapshots"], cluster, run_id)

    def add(self, place: str, snapshots: Snapshots) -> None:
        """Of one capture time."""
        self.clusters.add(place, snapshots.clusters)
        self.topics.add(place, snapshots.topics)

    def tables(self) -> dict[str, pa.Table]:
        return {each.table.name: each.table_of_all() for each in (self.clusters, self.topics)}


def snapshot_rows(table: Table, rows: Iterable[tuple[str, dict[str, Any]]], cluster: str, run_id: str) -> pa.Table:
    """Of one capture time."""
    try:
        whole = merge_rows(rows, [name for name in table.key if name != "cluster"])
    except Contradiction as error:
        raise Failure(ExitCode.UNREADABLE_INPUT, str(error)) from None
    of_all = {"captured_time": instant(whole[0]["captured_time"]), "cluster": cluster, "run_id": run_id}
    complete_rows = [row | of_all for row in whole]
    return pa.Table.from_pylist(complete_rows, schema=table_schema(table))


def instant(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def files_at(path: str, options: StorageOptions) -> Iterator[SnapshotFile]:
    if is_remote(path):
        yield from stored_files(path, options)
        return
    local = path.removeprefix("file:")
    places = [local] if Path(local).exists() else sorted(glob.glob(local, recursive=True))
    files = [file for each in places for file in local_files(Path(each))]
    if not files:
        raise no_files(path)
    disk = Server(options.answer_seconds)
    for file in files:
        try:
            # A pipe may be meant, such as the output of a command, or be one that nobody writes to.
            content = disk.answer(file.read_bytes)
            yield SnapshotFile(str(file), file.stat().st_mtime_ns // 1_000_000, content)
        except OSError as error:
            reason = str(error) if isinstance(error, NoAnswer) else error.strerror
            line = f"{file}: {reason}; give a readable file of snapshots"
            raise Failure(ExitCode.UNREADABLE_INPUT, line) from None


def no_files(path: str) -> Failure:
    line = "no such file, or a folder without files; give files of snapshots"
    return Failure(ExitCode.UNREADABLE_INPUT, f"{path}: {line}")


def local_files(path: Path) -> list[Path]:
    """The file, or all files in the folder except hidden ones."""
    if not path.is_dir():
        return [path]
    within = sorted(file for file in path.rglob("*") if not file.is_dir())
    return [file for file in within if not any(map(is_hidden, file.relative_to(path).parts))]


def stored_files(path: str, options: StorageOptions) -> Iterator[SnapshotFile]:
    try:
        storage, listed = matching_files(path.rstrip("/"), options)
        for file in listed:
            yield SnapshotFile(uri_of(storage, file.name), file.modified_ms, read_whole(storage, file.name))
    except OSError as error:
        raise Failure(ExitCode.UNREADABLE_INPUT, os_error_line(error, path)) from None
    if not listed:
        raise no_files(path)


def matching_files(path: str, options: StorageOptions) -> tuple[Storage, list[StoredFile]]:
    """As on a local disk, a file with exactly this name comes before files that match it as a pattern."""
    above, pattern = split_at_pattern(path)
    folder = ""
    # Without a pattern it is a file or a folder in the folder above. A bucket has no folder above.
    if not pattern and above.count("/") > 2:
        above, _, folder = above.rpartition("/")
        pattern = [folder]
    storage = storage_at(above, options)
    if pattern and (file := storage.find("/".join(pattern))):
        return storage, [file]
    matching = (file for file in storage.list(folder) if is_match(file.name.split("/"), pattern))
    return storage, sorted(matching, key=lambda file: file.name)


def is_match(names: list[str], pattern: list[str]) -> bool:
    """Whether the pattern matches the file, or a folder above it. As in a shell, `**` is any number of folders, and
    hidden names are left out unless the pattern names them."""
    if not pattern:
        return not any(map(is_hidden, names))
    if not names:
        return False
    first, *rest = pattern
    is_shown = first.startswith(".") or not is_hidden(names[0])
    if first == "**":
        return is_match(names, rest) or (is_shown and is_match(names[1:], pattern))
    return is_shown and fnmatchcase(names[0], first) and is_match(names[1:], rest)


def is_hidden(name: str) -> bool:
    return name.startswith(".")
