"""Plans what an ingest of segments reads, and cuts it into units that tasks can read independently.

A unit is a span of one offsets partition: in one copy of the log that no other copy overlaps, or in all copies that
contain the span. Units that the warehouse may already have are marked: only these are compared with its rows.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from jobs.engine.task import PlanRow, TaskSpec
from jobs.sources.log_span import LogSpan
from jobs.sources.segment_files import BASE_NAME, SUFFIX, Span, first_offset_of, spans_of
from jobs.sources.segment_source import Marks, SegmentFile, read_on_from
from jobs.sources.unreadable import Unreadable, unpacked_name
from udfs.log.offset_ranges import Range

NO_END = 2**63 - 1
LARGEST_TASK = 128 << 20
SMALLEST_TASK = 16 << 20
TASKS_PER_CORE = 3


@dataclass(frozen=True)
class Reading:
    """The part of one file to read: offsets from `first` to `last` or below."""

    file: SegmentFile
    copy: str
    start: int
    first: int
    last: int
    # Only the newest segment of a partition may end inside a batch.
    is_newest: bool

    @property
    def size(self) -> int:
        return self.file.size - self.start


@dataclass(frozen=True)
class CopySpan:
    span: LogSpan
    # No record of it has a lower offset.
    first: int
    # No record in it has a higher offset; None: unknown.
    last: int | None
    is_newest: bool
    # False: its first offset is unknown, but not below `first`.
    is_first_known: bool = True


@dataclass(frozen=True)
class PartitionSpan:
    partition: int
    copies: tuple[tuple[CopySpan, ...], ...]
    first: int
    last: int
    may_be_known: bool

    @property
    def size(self) -> int:
        return sum(part.span.size for copy in self.copies for part in copy)


def readings(
    files: Sequence[SegmentFile], marks: Mapping[str, Marks], skipped: Iterable[Unreadable] = ()
) -> tuple[list[Reading], int]:
    """What has changed, and the number of unchanged files. `skipped`: what is there and cannot be read."""
    changed, num_unchanged = [], 0
    missing = first_offsets_by_copy(skipped)
    for copy, of_copy in copies_of(files):
        for number, file in enumerate(of_copy):
            mark = marks.get(str(file.path))
            start = read_on_from(file, mark)
            if start is None:
                num_unchanged += 1
                continue
            first = file.base_offset if mark is None or not start else next_offset(file, mark)
            # Of the next segment, whether it can be read or not.
            following = [each.base_offset for each in of_copy[number + 1 : number + 2]]
            following += [each for each in missing.get((file.partition, copy), ()) if each > file.base_offset]
            is_newest = not following
            last = NO_END if is_newest else min(following) - 1
            changed.append(Reading(file=file, copy=copy, start=start, first=first, last=last, is_newest=is_newest))
    return changed, num_unchanged


def first_offsets_by_copy(skipped: Iterable[Unreadable]) -> dict[tuple[int | None, str], list[int]]:
    """Of segments, the lowest offset that they may hold, by offsets partition and copy."""
    found: dict[tuple[int | None, str], list[int]] = defaultdict(list)
    for each in skipped:
        folder, _, name = unpacked_name(each.path).rpartition("/")
        if BASE_NAME.fullmatch(name):
            found[each.offsets_partition, folder].append(int(name.removesuffix(SUFFIX)))
    return found


def unchanged_beside(files: Sequence[SegmentFile], changed: Sequence[Reading]) -> list[SegmentFile]:
    """Unchanged segments directly before or after one that is read from its beginning. They are not read again, but
    their rows show that the files are neighbors: so what is missing between them was removed by compaction.
    """
    are_read = {reading.file.path for reading in changed}
    are_new = {reading.file.path for reading in changed if not reading.start}
    beside: dict[SegmentFile, None] = {}
    for _, of_copy in copies_of(files):
        for pair in pairwise(of_copy):
            if any(file.path in are_new for file in pair):
                beside |= {file: None for file in pair if file.path not in are_read}
    return list(beside)


def copies_of(files: Iterable[SegmentFile]) -> Iterator[tuple[str, list[SegmentFile]]]:
    """For each location of a copy of a log, its segments in order."""
    for (_, copy), group in groupby(sorted(files, key=place), key=lambda file: place(file)[:2]):
        yield copy, list(group)


def place(file: SegmentFile) -> tuple[int, str, int, str]:
    """Files that are named by their first offset and are in one folder are segments of one log. Any other file stands
    alone."""
    is_segment = BASE_NAME.fullmatch(file.path.name) is not None
    return file.partition, str(file.path.parent if is_segment else file.path), file.base_offset, str(file.path)


def next_offset(file: SegmentFile, mark: Marks) -> int:
    """The lowest offset that can follow what was read of a file."""
    return file.base_offset if mark.last_offset is None else mark.last_offset + 1


def units(changed: Iterable[Reading], known: Mapping[int, Sequence[Range]], most_bytes: int) -> Iterator[PartitionSpan]:
    """In the order of partitions and offsets."""
    for partition, group in groupby(changed, key=lambda reading: reading.file.partition):
        for stretch in stretches(sorted(group, key=lambda reading: (reading.first, reading.last))):
            first, last = stretch[0].first, max(reading.last for reading in stretch)
            may_be_known = any(low <= last and first <= high for low, high in known.get(partition, ()))
            by_copy = {copy: [one for one in stretch if one.copy == copy] for copy in sorted({r.copy for r in stretch})}
            copies = tuple(tuple(spans(each, most_bytes)) for each in by_copy.values())
            if len(copies) == 1:
                # No other copy overlaps this one: each part can be read independently.
                yield from (PartitionSpan(partition, ((part,),), first, last, may_be_known) for part in copies[0])
            else:
                yield PartitionSpan(partition, copies, first, last, may_be_known)


def stretches(changed: list[Reading]) -> Iterator[list[Reading]]:
    """Groups of overlapping readings, sorted by first offset."""
    stretch: list[Reading] = []
    end = -1
    for reading in changed:
        if stretch and reading.first > end:
            yield stretch
            stretch = []
        stretch.append(reading)
        end = max(end, reading.last)
    if stretch:
        yield stretch


def spans(changed: list[Reading], most_bytes: int) -> Iterator[CopySpan]:
    for reading in changed:
        file = reading.file
        # Finding the cuts means a look at the whole file, which is cheap only on local disks.
        if reading.size > most_bytes * 3 // 2 and not file.path.is_remote:
            parts: Iterable[Span] = spans_of(file.path, most_bytes, reading.start, file.size)
        else:
            parts = (Span(file.path, reading.start, file.size, file.identity, file.size),)
        for part in parts:
            is_begin = part.start == reading.start
            is_first_known = is_begin and (reading.start > 0 or first_offset_of(file.path) is not None)
            yield CopySpan(part, reading.first, last_of(part, reading), reading.is_newest, is_first_known)


def last_of(part: Span, reading: Reading) -> int | None:
    if part.end < reading.file.size:
        return None if part.next_offset is None else part.next_offset - 1
    return None if reading.last == NO_END else reading.last


def span_bytes(total: int, cores: int) -> int:
    return min(LARGEST_TASK, max(SMALLEST_TASK, total // (cores * TASKS_PER_CORE)))


def tasks(planned: Iterable[PartitionSpan], num_workers: int) -> list[tuple[PartitionSpan, ...]]:
    """Groups neighboring units, the largest tasks first. A task takes at most one worker's share of the remaining
    bytes: so the last tasks are small, and all workers finish at about the same time."""
    waiting = list(planned)
    left = size_of(waiting)
    groups: list[list[PartitionSpan]] = []
    room = 0
    for unit in waiting:
        if not groups or unit.size > room:
            groups.append([])
            room = min(LARGEST_TASK, max(SMALLEST_TASK, left // num_workers))
        groups[-1].append(unit)
        room -= unit.size
        left -= unit.size
    return sorted(map(tuple, groups), key=lambda task: -size_of(task))


def task_spec(units: tuple[PartitionSpan, ...]) -> TaskSpec[tuple[PartitionSpan, ...]]:
    reads = [
        PlanRow(
            offsets_partition=unit.partition,
            slice=0,
            path=part.span.name,
            first_offset=part.first,
            last_offset=part.last,
            num_records=None,
            num_bytes=part.span.size,
        )
        for unit in units
        for copy in unit.copies
        for part in copy
    ]
    return TaskSpec(units, tuple(reads))


def size_of(task: Iterable[PartitionSpan]) -> int:
    return sum(unit.size for unit in task)
