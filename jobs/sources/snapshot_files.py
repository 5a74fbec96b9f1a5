"""Files of snapshots as rows of cluster_snapshots and topic_snapshots.

    tables = read_snapshots(["captures/", "offsets-*.txt.gz"], "prod", run_id, captured_at_ms=None)

Files are JSON lines or what kafka-get-offsets or kafka-topics --describe prints, plain or gzipped. Text tells no time:
then it is the one given, else the file's own.
"""

import glob
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.failure import Failure
from jobs.flags import EPOCH
from schemas.columns import Table
from schemas.exit_codes import ExitCode
from schemas.snapshot_tables import CLUSTER_SNAPSHOTS, TOPIC_SNAPSHOTS
from udfs.snapshot_fields import Malformed, Snapshots
from udfs.snapshots import Contradiction, merged, parse
from udfs.tables.arrow_schema import table_schema

if TYPE_CHECKING:  # most snapshots are read without Spark
    from pyspark.sql import SparkSession

GZIP_MAGIC = b"\x1f\x8b"
REMOTE = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/")


@dataclass(frozen=True)
class SnapshotFile:
    name: str
    modified_ms: int
    content: bytes


def read_snapshots(
    paths: Iterable[str], cluster: str, run_id: str, captured_at_ms: int | None, spark: "SparkSession | None" = None
) -> dict[str, pa.Table]:
    """Files, folders and patterns, local ones or, with a session, of any file system that Hadoop knows."""
    read = [(file.name, snapshots_of(file, captured_at_ms)) for path in paths for file in files_at(path, spark)]
    clusters = ((name, row) for name, each in read for row in each.clusters)
    topics = ((name, row) for name, each in read for row in each.topics)
    return {
        CLUSTER_SNAPSHOTS.name: snapshot_table(CLUSTER_SNAPSHOTS, clusters, cluster, run_id),
        TOPIC_SNAPSHOTS.name: snapshot_table(TOPIC_SNAPSHOTS, topics, cluster, run_id),
    }


def snapshots_of(file: SnapshotFile, captured_at_ms: int | None) -> Snapshots:
    try:
        content = gzip.decompress(file.content) if file.content.startswith(GZIP_MAGIC) else file.content
        text = content.decode("utf-8-sig")
        return parse(text, file.modified_ms if captured_at_ms is None else captured_at_ms)
    except UnicodeDecodeError as error:
        told = f"byte {error.object[error.start]:#04x} at {error.start}, UTF-8 expected"
    except (OSError, EOFError, zlib.error) as error:
        told = f"not a whole gzip file, {error}"
    except Malformed as error:
        told = str(error)
    raise Failure(ExitCode.UNREADABLE_INPUT, f"{file.name}: {told}")


def snapshot_table(table: Table, rows: Iterable[tuple[str, dict[str, Any]]], cluster: str, run_id: str) -> pa.Table:
    try:
        whole = merged(rows, [name for name in table.key if name != "cluster"])
    except Contradiction as error:
        raise Failure(ExitCode.UNREADABLE_INPUT, str(error)) from None
    told = [
        {**row, "captured_time": instant(row["captured_time"]), "cluster": cluster, "run_id": run_id} for row in whole
    ]
    return pa.Table.from_pylist(told, schema=table_schema(table))


def instant(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def files_at(path: str, spark: "SparkSession | None") -> Iterator[SnapshotFile]:
    remote = REMOTE.match(path)
    if remote and remote[1] != "file":
        yield from remote_files(path, spark)
        return
    local = path.removeprefix("file:")
    found = [local] if Path(local).exists() else sorted(glob.glob(local, recursive=True))
    files = [file for each in found for file in local_files(Path(each))]
    if not files:
        raise Failure(
            ExitCode.UNREADABLE_INPUT, f"{path}: no such file, or a folder without any, snapshots were expected"
        )
    for file in files:
        try:
            yield SnapshotFile(str(file), file.stat().st_mtime_ns // 1_000_000, file.read_bytes())
        except OSError as error:
            raise Failure(
                ExitCode.UNREADABLE_INPUT, f"{file}: {error.strerror}, a readable file of snapshots was expected"
            ) from None


def local_files(path: Path) -> list[Path]:
    """The file, or all files within the folder but hidden ones."""
    if not path.is_dir():
        return [path]
    within = sorted(file for file in path.rglob("*") if not file.is_dir())
    return [file for file in within if not any(part.startswith(".") for part in file.relative_to(path).parts)]


def remote_files(path: str, spark: "SparkSession | None") -> Iterator[SnapshotFile]:
    if spark is None:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: is not on this machine, a local path was expected")
    # Bytes and times, where lines of text would come without either.
    frame = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    try:
        rows = frame.load(path).select("path", "modificationTime", "content").orderBy("path").collect()
    except Exception as error:
        from jobs.sources.archive_files import is_of_java, java_message

        told = java_message(error) if is_of_java(error) else str(error).splitlines()[0]
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: {told}, files of snapshots were expected") from None
    if not rows:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: holds no files, files of snapshots were expected")
    for row in rows:
        modified = row.modificationTime.astimezone(UTC) - EPOCH
        yield SnapshotFile(row.path, modified // timedelta(milliseconds=1), bytes(row.content))
