"""The source `segments:DIR`: segment files of a broker's offsets partitions, and copies of them."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs.output.failure import Failure
from jobs.sources.segment_files import FOLDER, batch_crc, first_offset_of, offsets_partition_of, open_segment
from jobs.sources.stored_segments import stored_segments
from jobs.storage.options import StorageOptions, storage_options
from jobs.storage.places.addresses import is_remote
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.places.place import Place
from schemas.words.exit_codes import ExitCode

SUFFIX = ".log"


@dataclass(frozen=True)
class SegmentFile:
    path: Place
    partition: int
    size: int
    modified_ms: int
    # Distinguishes it from another file with its name. None if files have no such mark.
    identity: int | None
    # No record in it has a lower offset. The name shows it, and is more reliable than bytes that may be damaged. 0 for
    # other names.
    base_offset: int


@dataclass(frozen=True)
class Marks:
    """Shows later that a file, or its beginning, is unchanged."""

    size: int
    modified_ms: int
    read_to: int
    last_offset: int | None
    first_batch_crc: int | None
    last_batch_position: int | None
    last_batch_crc: int | None


def segment_files(pattern: str, partition: int | None, options: StorageOptions | None = None) -> list[SegmentFile]:
    """Files by offsets partition, then folder, then first offset."""
    if is_remote(pattern):
        return stored_segment_files(pattern, partition, options or storage_options((), os.environ, {}))
    roots = [Path(match) for match in sorted(glob.glob(pattern))] if has_magic(pattern) else [Path(pattern)]
    if not roots:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{pattern}: nothing matches; give folders of segments")
    paths = sorted({path.absolute() for root in roots for path in paths_below(root)})
    files = [segment_file(path, partition_of(path, partition)) for path in map(LocalPlace, paths)]
    if not files:
        line = "no segment files (….log) in it; give a log dir, a folder with several of them, or __consumer_offsets-N"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{pattern}: {line}")
    return sorted(files, key=in_order)


def stored_segment_files(place: str, partition: int | None, options: StorageOptions) -> list[SegmentFile]:
    """The same for remote storage, by the same rules."""
    return sorted(
        (
            SegmentFile(
                path=path,
                partition=partition_of(path, partition),
                size=file.size,
                modified_ms=file.modified_ms,
                identity=file.modified_ms,
                base_offset=base_offset_of(path),
            )
            for path, file in stored_segments(place, options)
        ),
        key=in_order,
    )


def in_order(file: SegmentFile) -> tuple[int, str, int, str]:
    return file.partition, str(file.path.parent), file.base_offset, str(file.path)


def has_magic(pattern: str) -> bool:
    # A folder may have such a name too.
    return glob.has_magic(pattern) and not Path(pattern).exists()


def paths_below(root: Path) -> Iterator[Path]:
    """Segment files of a folder and, for folders of offsets partitions, of the folders in it."""
    if root.is_file():
        yield root
    elif not root.exists():
        raise Failure(ExitCode.UNREADABLE_INPUT, f"segments:{root}: no such folder; give a folder with segment files")
    else:
        yield from (path for path in root.iterdir() if path.name.endswith(SUFFIX) and not path.is_dir())
        for folder in partition_folders(root):
            # A folder instead of a segment is reported when it is opened: its records would be missing.
            yield from (path for path in folder.iterdir() if path.name.endswith(SUFFIX))


def partition_folders(root: Path) -> Iterator[Path]:
    """Also links to folders, unless they lead to one that is found anyway."""
    own_folders: list[Path] = []
    links: list[Path] = []
    for above, folders, _ in os.walk(root):
        if FOLDER.fullmatch(Path(above).name):
            own_folders.append(Path(above))
            folders.clear()
        links += [Path(above, name) for name in folders if FOLDER.fullmatch(name) and Path(above, name).is_symlink()]
    # Two paths to one folder are one copy.
    targets = {folder.resolve(): folder for folder in sorted(links)} | {
        folder.resolve(): folder for folder in own_folders
    }
    return iter(sorted(targets.values()))


def partition_of(path: Place, given: int | None) -> int:
    if (named := offsets_partition_of(path)) is not None:
        return named
    if given is None:
        line = "not in a folder __consumer_offsets-N; add --offsets-partition N"
        raise Failure(ExitCode.USAGE, f"{path}: {line}")
    return given


def segment_file(path: LocalPlace, partition: int) -> SegmentFile:
    with open_segment(path) as file:
        stat = os.fstat(file.fileno())
    modified_ms = stat.st_mtime_ns // 1_000_000
    return SegmentFile(
        path=path,
        partition=partition,
        size=stat.st_size,
        modified_ms=modified_ms,
        identity=stat.st_ino,
        base_offset=base_offset_of(path),
    )


def base_offset_of(path: Place) -> int:
    return first_offset_of(path) or 0


def read_on_from(file: SegmentFile, marks: Marks | None) -> int | None:
    """Where to begin reading: None if nothing has changed; the former end of a file that has only grown; else 0."""
    if marks is None or file.size < marks.read_to:
        return 0
    is_same = (file.size, file.modified_ms) == (marks.size, marks.modified_ms)
    if file.path.is_remote and is_same:
        # On remote storage, checking each of thousands of files takes long.
        return None
    if not holds_batches_of(file.path, file.identity, marks):
        return 0
    if file.size == marks.size:
        return None if file.modified_ms == marks.modified_ms else 0
    return marks.read_to if file.size > marks.size else 0


def holds_batches_of(path: Place, identity: int | None, marks: Marks) -> bool:
    """A file without a good batch is identified by its beginning."""
    with open_segment(path, identity) as file:
        if marks.first_batch_crc != batch_crc(file, 0):
            return False
        last = marks.last_batch_position
        return last is None or batch_crc(file, last) == marks.last_batch_crc
