"""`segments:DIR`: the segment files of a broker's offsets partitions, wherever copies of them lie."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs.failure import Failure
from jobs.sources.places import FilePath, RemotePath
from jobs.sources.segment_files import FOLDER, batch_crc, first_offset_of, opened
from schemas.exit_codes import ExitCode

SUFFIX = ".log"


@dataclass(frozen=True)
class SegmentFile:
    path: FilePath
    partition: int
    size: int
    modified_ms: int
    # None where files have none.
    inode: int | None
    # No record in it is below: its name says so, which is surer than bytes that may be damaged. 0 for other names.
    base_offset: int


@dataclass(frozen=True)
class Marks:
    """What proves later that a file, or its beginning, is still the same."""

    size: int
    modified_ms: int
    read_to: int
    last_offset: int | None
    first_batch_crc: int | None
    last_batch_position: int | None
    last_batch_crc: int | None


def segment_files(pattern: str, partition: int | None) -> list[SegmentFile]:
    """Files by offsets partition, then folder, then first offset."""
    roots = [Path(found) for found in sorted(glob.glob(pattern))] if has_magic(pattern) else [Path(pattern)]
    if not roots:
        raise Failure(
            ExitCode.UNREADABLE_INPUT, f"segments:{pattern}: nothing matches, folders of segments were expected"
        )
    found = {path.absolute() for root in roots for path in paths_below(root)}
    files = [segment_file(path, partition_of(path, partition)) for path in sorted(found)]
    if not files:
        told = "no segment files (….log) in it, a log dir, copies of one, or a folder __consumer_offsets-N was expected"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{pattern}: {told}")
    return sorted(files, key=in_order)


def in_order(file: SegmentFile) -> tuple[int, str, int, str]:
    return file.partition, str(file.path.parent), file.base_offset, str(file.path)


def has_magic(pattern: str) -> bool:
    # A folder may well be called so.
    return glob.has_magic(pattern) and not Path(pattern).exists()


def paths_below(root: Path) -> Iterator[Path]:
    """Segment files of a folder and, in folders of offsets partitions, of those below it."""
    if root.is_file():
        yield root
    elif not root.exists():
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{root}: no such folder, one with segments was expected")
    else:
        yield from (path for path in root.iterdir() if path.name.endswith(SUFFIX) and not path.is_dir())
        for folder, folders, names in os.walk(root):
            if FOLDER.fullmatch(Path(folder).name):
                # A folder in the place of a segment is told when it is opened: its records would be missing.
                yield from (Path(folder, name) for name in (*folders, *names) if name.endswith(SUFFIX))
                folders.clear()


def partition_of(path: FilePath, given: int | None) -> int:
    match = FOLDER.fullmatch(path.parent.name)
    if match:
        return int(match[1])
    if given is None:
        told = "not in a folder __consumer_offsets-N, --offsets-partition N was expected"
        raise Failure(ExitCode.USAGE, f"{path}: {told}")
    return given


def segment_file(path: Path, partition: int) -> SegmentFile:
    with opened(path) as file:
        stat = os.fstat(file.fileno())
    modified_ms = stat.st_mtime_ns // 1_000_000
    return SegmentFile(path, partition, stat.st_size, modified_ms, stat.st_ino, base_offset_of(path))


def base_offset_of(path: FilePath) -> int:
    return first_offset_of(path) or 0


def read_on_from(file: SegmentFile, marks: Marks | None) -> int | None:
    """Where to begin: None when nothing has changed since; the former end of a file that has only grown; else 0."""
    if marks is None or file.size < marks.read_to:
        return 0
    if isinstance(file.path, RemotePath):
        # Nothing of it can be read cheaply: one that has not changed shows it by size and time.
        return None if (file.size, file.modified_ms) == (marks.size, marks.modified_ms) else 0
    if not holds_batches_of(file.path, file.inode, marks):
        return 0
    if file.size == marks.size:
        return None if file.modified_ms == marks.modified_ms else 0
    return marks.read_to if file.size > marks.size else 0


def holds_batches_of(path: Path, inode: int | None, marks: Marks) -> bool:
    """A file without a good batch shows how it begins."""
    with opened(path, inode) as file:
        if marks.first_batch_crc != batch_crc(file, 0):
            return False
        last = marks.last_batch_position
        return last is None or batch_crc(file, last) == marks.last_batch_crc
