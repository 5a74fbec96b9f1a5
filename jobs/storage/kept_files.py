"""Files that never change once they are there, such as those of a warehouse, for those who open them again and again.
Who reads Parquet looks at the end of a file first, then at some columns of a row group, then at those of the next.

Elsewhere than on a local disk each of these looks is a request. So the end of a file comes with its size by one
request, neighbouring columns by one, and what was read last stays in memory.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, cast

from jobs.storage.stored_files import Data, RangeReader, Ranges, Storage

# All of a small file, and of a large one its footer.
LAST_BYTES = 256 << 10
BLOCK_BYTES = 1 << 20
# Columns that are wanted mostly follow each other.
BLOCKS_AT_ONCE = 4
# By a process.
MOST_BYTES = 32 << 20
# Of a larger file only what is needed is read, where that is known. It is needed once, so it is not kept.
SMALL_BYTES = 4 << 20
# Reading so much more costs as much as one more request.
GAP_BYTES = 1 << 20


@dataclass(frozen=True)
class KeptFile:
    ranges: Ranges
    last: memoryview


Key = tuple[Storage, str]


@dataclass
class KeptFiles:
    """The files and blocks that were needed last. Threads may ask at once; two may then fetch the same."""

    most_bytes: int = MOST_BYTES
    files: OrderedDict[Key, KeptFile] = field(default_factory=OrderedDict)
    blocks: OrderedDict[tuple[Key, int], memoryview] = field(default_factory=OrderedDict)
    held: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, storage: Storage, name: str) -> "KeptReader":
        return KeptReader(self.ranges(storage, name))

    def ranges(self, storage: Storage, name: str) -> "KeptRanges":
        key = (storage, name)
        with self.lock:
            file = self.files.pop(key, None)
        if file is None:
            ranges, last = storage.ranges(name, LAST_BYTES)
            file = KeptFile(ranges, memoryview(last))
            with self.lock:
                self.held += 0 if key in self.files else len(file.last)
        with self.lock:
            self.files[key] = file
            self.make_room()
        return KeptRanges(self, key, file)

    def block(self, key: Key, file: KeptFile, number: int, wanted: int) -> memoryview:
        """`wanted`: how many blocks from this one on are asked for."""
        with self.lock:
            block = self.blocks.get((key, number))
            if block is not None:
                self.blocks.move_to_end((key, number))
                return block
            missing = list(self.missing_blocks(key, file, number, max(wanted, BLOCKS_AT_ONCE)))
        start = number * BLOCK_BYTES
        end = min(start + len(missing) * BLOCK_BYTES, file.ranges.size)
        data = memoryview(file.ranges.read(start, end - start)).cast("B")
        parts = {each: data[(each - number) * BLOCK_BYTES :][:BLOCK_BYTES] for each in missing}
        with self.lock:
            for each, part in parts.items():
                if (key, each) not in self.blocks:
                    # A copy: a part would keep all of its neighbours in memory.
                    self.blocks[key, each] = memoryview(bytes(part))
                    self.held += len(part)
            self.make_room()
        return parts[number]

    def missing_blocks(self, key: Key, file: KeptFile, first: int, most: int) -> Iterator[int]:
        """This block, and those right after it that are not here."""
        for number in range(first, first + most):
            is_in_last = number * BLOCK_BYTES >= file.ranges.size - len(file.last)
            if number > first and (is_in_last or (key, number) in self.blocks):
                return
            yield number

    def make_room(self) -> None:
        while self.held > self.most_bytes and self.blocks:
            self.held -= len(self.blocks.popitem(last=False)[1])
        while self.held > self.most_bytes and len(self.files) > 1:
            self.held -= len(self.files.popitem(last=False)[1].last)

    def forget(self) -> None:
        with self.lock:
            self.files.clear()
            self.blocks.clear()
            self.held = 0


# Of this process.
KEPT = KeptFiles()


@dataclass(frozen=True)
class KeptRanges:
    kept: KeptFiles
    key: Key
    file: KeptFile

    @property
    def size(self) -> int:
        return self.file.ranges.size

    def read(self, start: int, length: int) -> Data:
        kept_from, end = self.size - len(self.file.last), start + length
        if start >= kept_from:
            return self.file.last[start - kept_from : end - kept_from]
        parts = [*self.parts(start, min(end, kept_from)), self.file.last[: max(0, end - kept_from)]]
        return b"".join(parts)

    def parts(self, start: int, end: int) -> Iterator[memoryview]:
        first, end_block = start // BLOCK_BYTES, -(-end // BLOCK_BYTES)
        for number in range(first, end_block):
            block = self.kept.block(self.key, self.file, number, end_block - number)
            begins = number * BLOCK_BYTES
            yield block[max(0, start - begins) : end - begins]


class KeptReader(RangeReader):
    def read(self, size: int | None = -1) -> bytes:
        """Whatever is asked for at once: nothing is read ahead of what is kept."""
        rest = max(0, self.ranges.size - self.position)
        length = rest if size is None or size < 0 else min(size, rest)
        data = bytes(self.ranges.read(self.position, length)) if length else b""
        self.position += length
        return data


@dataclass(frozen=True)
class FetchedRanges:
    """Of a file of which these parts are here: where each begins, and its bytes."""

    kept: Ranges
    parts: Sequence[tuple[int, memoryview]]

    @property
    def size(self) -> int:
        return self.kept.size

    def read(self, start: int, length: int) -> Data:
        for begin, data in self.parts:
            if begin <= start and start + length <= begin + len(data):
                return data[start - begin : start - begin + length]
        return self.kept.read(start, length)


def open_parts(storage: Storage, name: str, parts: Iterable[tuple[int, int]]) -> IO[bytes]:
    """A file of which these parts will be read, each from a place to another one: those near each other come by one
    request."""
    ranges = KEPT.ranges(storage, name)
    if ranges.size <= SMALL_BYTES:
        return cast(IO[bytes], KeptReader(ranges))
    read = ranges.file.ranges.read
    fetched = [(start, memoryview(read(start, end - start)).cast("B")) for start, end in joined(parts)]
    return cast(IO[bytes], KeptReader(FetchedRanges(ranges, fetched)))


def joined(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    wide: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if wide and start - wide[-1][1] <= GAP_BYTES:
            wide[-1] = (wide[-1][0], max(end, wide[-1][1]))
        else:
            wide.append((start, end))
    return wide


def open_kept(storage: Storage, name: str) -> IO[bytes]:
    """A file of a name that no other file ever has."""
    return cast(IO[bytes], KEPT.open(storage, name))
