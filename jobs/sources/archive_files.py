"""The files of an archive on any storage that Hadoop can read: Delta tables, Parquet and JSON lines."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from jobs.output.failure import Failure
from jobs.sources.unreadable import Unreadable
from schemas.words.exit_codes import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA_LOG = "_delta_log"
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
CODEC_ENDINGS = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")
PARQUET_MAGIC = b"PAR1"
EXPECTED = "give Parquet, a Delta table or JSON lines"


class Format(StrEnum):
    DELTA = "delta"
    PARQUET = "parquet"
    JSON = "json"


class ArchiveFile(NamedTuple):
    """`path`: as `source_file` of the file's rows has it."""

    path: str
    size_bytes: int
    modified_ms: int


class FileSystem:
    """Hadoop's file system, through the session's virtual machine."""

    def __init__(self, spark: "SparkSession") -> None:
        self.java = cast(Any, spark._jvm)
        self.session: Any = spark._jsparkSession
        self.conf: Any = self.session.sessionState().newHadoopConf()
        # If paths without a scheme are local, local files are shown without a scheme.
        default = self.java.org.apache.hadoop.fs.FileSystem.getDefaultUri(self.conf).getScheme()
        self.hidden_scheme = "file:" if default == "file" else None

    def path(self, text: str) -> Any:
        return self.java.org.apache.hadoop.fs.Path(text)

    def of(self, path: Any) -> Any:
        return path.getFileSystem(self.conf)

    def shown_path(self, path: Any) -> str:
        whole: str = path.toString()
        return whole.removeprefix(self.hidden_scheme) if self.hidden_scheme else whole

    def statuses(self, text: str) -> list[Any]:
        """Of the path, or of the files that it matches as a pattern."""
        path = self.path(text)
        files = self.of(path)
        if files.exists(path):
            return [files.getFileStatus(path)]
        return list(files.globStatus(path) or [])

    def children(self, path: Any) -> list[Any]:
        """Sorted by name, without those that Spark hides too."""
        statuses = [status for status in self.of(path).listStatus(path) if not is_hidden(status.getPath().getName())]
        return sorted(statuses, key=lambda status: status.getPath().getName())

    def is_delta(self, folder: Any) -> bool:
        return bool(self.of(folder).exists(self.java.org.apache.hadoop.fs.Path(folder, DELTA_LOG)))

    def head(self, text: str) -> bytes:
        path = self.path(text)
        stream = self.of(path).open(path)
        try:
            return bytes(stream.readNBytes(len(PARQUET_MAGIC)))
        finally:
            stream.close()


@dataclass(frozen=True)
class DeltaVersion:
    """A Delta table's current version, in Delta's own objects: its public functions return names of files but no
    sizes."""

    folder: str
    log: Any
    snapshot: Any
    added: Mapping[str, Any]  # by the path of the file

    def frame(self, files: FileSystem, paths: Collection[str]) -> Any:
        """The rows of some of its files."""
        wanted = files.java.java.util.ArrayList()
        for path in paths:
            wanted.add(self.added[path])
        sequence = files.java.org.apache.spark.api.python.PythonUtils.toSeq(wanted)
        return self.log.createDataFrame(self.snapshot, sequence, False, none(files))


@dataclass(frozen=True)
class ArchiveFiles:
    """Files of one format. Those of a Delta table are all of one table."""

    format: Format
    files: tuple[ArchiveFile, ...]
    table: DeltaVersion | None = None


def is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def archive_files(spark: "SparkSession", path: str, unreadable: list[Unreadable] | None = None) -> list[ArchiveFile]:
    """For a Delta table, the files of its current version."""
    return [file for archive in find_archives(spark, path, unreadable) for file in archive.files]


def find_archives(spark: "SparkSession", path: str, unreadable: list[Unreadable] | None = None) -> list[ArchiveFiles]:
    """What is at the path; a Failure if there is nothing, or something that is not an archive. `unreadable` takes what
    cannot be listed or opened; without it, that fails."""
    files = FileSystem(spark)
    try:
        archives = list(archives_at(files, path, unreadable))
    except Exception as error:
        if not is_of_java(error):
            raise
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: {java_message(error)}; {EXPECTED}") from None
    if not archives and not unreadable:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: holds no files; {EXPECTED}")
    return archives


def unreadable_files(spark: "SparkSession", some: Iterable[ArchiveFile]) -> list[Unreadable]:
    """Of these files, by opening each."""
    files, found = FileSystem(spark), list[Unreadable]()
    for file in some:
        with taken_note_of(found, file.path):
            files.head(file.path)
    return found


@contextmanager
def taken_note_of(unreadable: list[Unreadable] | None, path: str) -> Iterator[None]:
    """Of a file or folder that Java cannot read; without a list it fails."""
    try:
        yield
    except Exception as error:
        if unreadable is None or not is_of_java(error):
            raise
        reason = java_message(error).removeprefix(f"{path}: ").removeprefix(f"{path} ")
        unreadable.append(Unreadable(path, None, reason.strip("()"), "make it readable"))


def archives_at(files: FileSystem, path: str, unreadable: list[Unreadable] | None = None) -> Iterator[ArchiveFiles]:
    statuses = files.statuses(path)
    if not statuses:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: there is no such file or folder; {EXPECTED}")
    loose: dict[Format, list[ArchiveFile]] = {}
    for status in statuses:
        check_outside_tables(files, status.getPath())
        for entry in walk(files, status, unreadable):
            if isinstance(entry, ArchiveFiles):
                yield entry
                continue
            with taken_note_of(unreadable, entry.path):
                loose.setdefault(format_of(files, entry), []).append(entry)
    yield from (ArchiveFiles(format, tuple(entries)) for format, entries in loose.items())


def check_outside_tables(files: FileSystem, path: Any) -> None:
    """Files taken out of a Delta table may belong to another version, or have rows that are deleted."""
    while (path := path.getParent()) is not None:
        if files.is_delta(path):
            table = files.shown_path(path)
            raise Failure(
                ExitCode.UNREADABLE_INPUT,
                f"{table}: is a Delta table; give this folder itself, not files or folders inside it",
            )


def walk(files: FileSystem, status: Any, unreadable: list[Unreadable] | None) -> Iterator[ArchiveFile | ArchiveFiles]:
    path = status.getPath()
    if not status.isDirectory():
        yield ArchiveFile(files.shown_path(path), int(status.getLen()), int(status.getModificationTime()))
    elif files.is_delta(path):
        yield delta_files(files, path)
    else:
        children: list[Any] = []
        with taken_note_of(unreadable, files.shown_path(path)):
            children = files.children(path)
        for child in children:
            yield from walk(files, child, unreadable)


def format_of(files: FileSystem, file: ArchiveFile) -> Format:
    """By the name, else by the beginning of the file."""
    name = file.path.lower()
    bare = next((name.removesuffix(ending) for ending in CODEC_ENDINGS if name.endswith(ending)), name)
    if bare.endswith(JSON_ENDINGS):
        return Format.JSON
    if name.endswith(".parquet"):
        return Format.PARQUET
    head = files.head(file.path)
    if head == PARQUET_MAGIC:
        return Format.PARQUET
    if not head.strip() or head.strip()[:1] == b"{":
        return Format.JSON
    raise Failure(ExitCode.UNREADABLE_INPUT, f"{file.path}: begins with {head!r}; {EXPECTED}")


def none(files: FileSystem) -> Any:
    return getattr(files.java.scala, "None$").__getattr__("MODULE$")


def delta_files(files: FileSystem, folder: Any) -> ArchiveFiles:
    log = files.java.org.apache.spark.sql.delta.DeltaLog.forTable(files.session, folder.toString())
    snapshot = log.update(False, none(files), none(files))
    added = {added_path(files, folder, each): each for each in snapshot.allFiles().collectAsList()}
    entries = [ArchiveFile(path, each.size(), each.modificationTime()) for path, each in sorted(added.items())]
    return ArchiveFiles(Format.DELTA, tuple(entries), DeltaVersion(files.shown_path(folder), log, snapshot, added))


def added_path(files: FileSystem, folder: Any, added: Any) -> str:
    """The log has paths as parts of a URI, mostly below the table's folder."""
    path = files.java.org.apache.hadoop.fs.Path(files.java.java.net.URI(added.path()))
    return files.shown_path(path if path.isAbsolute() else files.java.org.apache.hadoop.fs.Path(folder, path))


def is_of_java(error: Exception) -> bool:
    """Whether a call into the virtual machine failed: py4j's error, recognized without importing what pyspark hides."""
    return hasattr(error, "java_exception")


def java_message(error: Any) -> str:
    """The first line of the innermost cause: the others only say where it was passed on."""
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    lines = str(cause.getMessage() or cause.getClass().getName()).splitlines()
    return lines[0] if lines else "unreadable"
