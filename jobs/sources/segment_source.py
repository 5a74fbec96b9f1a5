"""The source `segments:DIR`: segment files of a broker's offsets partitions, and copies of them."""

import os
from dataclasses import dataclass, field

from jobs.output.failure import Failure
from jobs.sources.local_segments import local_segments
from jobs.sources.segment_files import batch_crc, first_offset_of, offsets_partition_of, open_segment
from jobs.sources.stored_segments import stored_segments
from jobs.sources.unreadable import Unreadable, refusal
from jobs.storage.options import StorageOptions, storage_options
from jobs.storage.places.addresses import is_remote
from jobs.storage.places.place import Place
from schemas.words.exit_codes import ExitCode


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


@dataclass(frozen=True)
class FoundSegments:
    """`files` by offsets partition, then folder, then first offset. `passed_over`: lines about folders that may hold
    some, and cannot be looked into."""

    files: list[SegmentFile]
    unreadable: list[Unreadable]
    passed_over: list[str] = field(default_factory=list)


def segment_files(pattern: str, partition: int | None, options: StorageOptions | None = None) -> list[SegmentFile]:
    """All of them: if one cannot be read, this fails."""
    found = find_segments(pattern, partition, options)
    if found.unreadable:
        raise refusal(found.unreadable)
    return found.files


def find_segments(pattern: str, partition: int | None, options: StorageOptions | None = None) -> FoundSegments:
    options = options or storage_options((), os.environ, {})
    if is_remote(pattern):
        return in_storage(pattern, partition, options)
    found = local_segments(pattern, options.answer_seconds)
    files = [
        SegmentFile(
            path=each.path,
            partition=partition_of(each.path, partition),
            size=each.size,
            modified_ms=each.modified_ms,
            identity=each.identity,
            base_offset=base_offset_of(each.path),
        )
        for each in found.files
    ]
    return FoundSegments(sorted(files, key=in_order), found.unreadable, found.passed_over)


def in_storage(place: str, partition: int | None, options: StorageOptions) -> FoundSegments:
    """The same for remote storage, by the same rules."""
    found = stored_segments(place, options)
    files = [
        SegmentFile(
            path=path,
            partition=partition_of(path, partition),
            size=file.size,
            modified_ms=file.modified_ms,
            identity=file.modified_ms,
            base_offset=base_offset_of(path),
        )
        for path, file in found.files
    ]
    return FoundSegments(sorted(files, key=in_order), found.unreadable)


def in_order(file: SegmentFile) -> tuple[int, str, int, str]:
    return file.partition, str(file.path.parent), file.base_offset, str(file.path)


def partition_of(path: Place, given: int | None) -> int:
    if (named := offsets_partition_of(path)) is not None:
        return named
    if given is None:
        line = "not in a folder __consumer_offsets-N; add --offsets-partition N"
        raise Failure(ExitCode.USAGE, f"{path}: {line}")
    return given


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
