"""`segments:URI`: segment files on any file system that Hadoop knows: their list, and their bytes in tasks of Spark."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.failure import Failure
from jobs.flags import EPOCH
from jobs.ingestion.plan import Part, Unit
from jobs.ingestion.tasks import Task
from jobs.sources.archive_files import FileSystem, is_of_java, java_message
from jobs.sources.places import RemotePath
from jobs.sources.segment_files import FOLDER, Span
from jobs.sources.segment_source import SUFFIX, SegmentFile, base_offset_of, in_order, partition_of
from schemas.exit_codes import ExitCode

# Spark takes a whole file into one array.
LARGEST_FILE = 2**31 - 1
EXPECTED = "a log dir, copies of one, or a folder __consumer_offsets-N was expected"
# Files are large, and a batch lies in memory as a whole, in Java and in Python.
ONE_FILE_A_BATCH = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}
COLUMNS = ("path", "modificationTime", "content")


def remote_segment_files(spark: SparkSession, place: str, partition: int | None) -> list[SegmentFile]:
    """As segment_source lists local ones."""
    system = FileSystem(spark)
    try:
        found = [status for root in system.statuses(place) for status in segments_below(system, root)]
        files = [segment_file(status, partition) for status in found]
    except Exception as error:
        if not is_of_java(error):
            raise
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{place}: {java_message(error)}, {EXPECTED}") from None
    if not files:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{place}: no segment files (….log) there, {EXPECTED}")
    return sorted(set(files), key=in_order)


def segments_below(system: FileSystem, root: Any) -> Iterator[Any]:
    if not root.isDirectory():
        yield root
        return
    children = list(system.of(root.getPath()).listStatus(root.getPath()))
    yield from (each for each in children if not each.isDirectory() and is_segment(each))
    yield from segments_in_partition_folders(system, root, children)


def segments_in_partition_folders(system: FileSystem, folder: Any, children: Sequence[Any]) -> Iterator[Any]:
    if FOLDER.fullmatch(folder.getPath().getName()):
        yield from (each for each in children if is_segment(each))
        return
    for child in children:
        if child.isDirectory():
            path = child.getPath()
            yield from segments_in_partition_folders(system, child, list(system.of(path).listStatus(path)))


def is_segment(status: Any) -> bool:
    return bool(status.getPath().getName().endswith(SUFFIX))


def segment_file(status: Any, partition: int | None) -> SegmentFile:
    path = RemotePath(status.getPath().toString())
    if status.isDirectory():
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: is a folder, a segment file was expected")
    size = int(status.getLen())
    if size > LARGEST_FILE:
        told = f"{path}: {size:,} bytes, at most {LARGEST_FILE:,} was expected: copy it to a local disk"
        raise Failure(ExitCode.UNREADABLE_INPUT, told)
    modified_ms = int(status.getModificationTime())
    return SegmentFile(path, partition_of(path, partition), size, modified_ms, None, base_offset_of(path))


@dataclass(frozen=True)
class Expected:
    """What tasks are told of the files: which unit each is of, and when it was last changed."""

    units: Mapping[str, Unit]
    modified_ms: Mapping[str, int]


def expected_files(units: Sequence[Unit], files: Iterable[SegmentFile]) -> Expected:
    """A file is one span of one unit here, since its bytes come at once."""
    of_files = {part.span.name: unit for unit in units for copy in unit.copies for part in copy}
    return Expected(of_files, {str(file.path): file.modified_ms for file in files})


def content_frames(spark: SparkSession, units: Sequence[Unit]) -> list[DataFrame]:
    """The files of the units, each a row. All copies of a stretch come to one task, in the order of their offsets."""
    alone = [part.span.name for unit in units if len(unit.copies) == 1 for part in unit.copies[0]]
    places = [
        (part.span.name, number, part.first)
        for number, unit in enumerate(unit for unit in units if len(unit.copies) > 1)
        for copy in unit.copies
        for part in copy
    ]
    found = [content(spark, alone)] if alone else []
    if places:
        table = spark.createDataFrame(places, "path string, unit int, first bigint")
        together = content(spark, [path for path, *_ in places]).join(F.broadcast(table), "path")
        num_units = max(number for _, number, _ in places) + 1
        found.append(together.repartitionById(num_units, "unit").sortWithinPartitions("first", "path"))
    return [frame.select(*COLUMNS) for frame in found]


def content(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.read.format("binaryFile").option("__globPaths__", "false").load(list(paths))


@dataclass
class Contents:
    """Files in the order in which they come; `with_content` waits for the one that it needs."""

    batches: Iterator[pa.RecordBatch]
    expected: Expected
    waiting: dict[str, pa.Buffer] = field(default_factory=dict)

    def units(self) -> Iterator[Unit]:
        """Those whose files are here, by the first that comes of each."""
        while self.waiting or self.read_on():
            yield self.expected.units[next(iter(self.waiting))]

    def read_on(self) -> bool:
        for batch in self.batches:
            for path, modified, bytes_of in zip(*(batch.column(name) for name in COLUMNS), strict=True):
                self.check_same(path.as_py(), (modified.as_py() - EPOCH) // timedelta(milliseconds=1))
                self.waiting[path.as_py()] = bytes_of.as_buffer()
            if batch.num_rows:
                return True
        return False

    def check_same(self, path: str, modified_ms: int) -> None:
        if modified_ms != self.expected.modified_ms[path]:
            raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: another file has taken its place while it was read")

    def with_content(self, parts: Sequence[Part]) -> Iterator[Part]:
        for part in parts:
            path = part.span.name
            while path not in self.waiting and self.read_on():
                pass
            if path not in self.waiting:
                raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: is gone, a readable segment file was expected")
            assert isinstance(part.span, Span)
            yield replace(part, span=replace(part.span, content=self.waiting.pop(path)))


def content_steps(expected: Expected, batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[None]:
    contents = Contents(batches, expected)
    for unit in contents.units():
        yield from task.take_on(unit, contents.with_content)
