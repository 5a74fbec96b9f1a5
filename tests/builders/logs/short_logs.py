"""Short random logs of one offsets partition, cut into parts that come in several runs.

log = short_log(seed)
log.parts        # stretches of the log, each with the run that brings it; what no run brings is a hole
log.num_runs
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from tests.builders.generated.log import Log, compacted, generated
from tests.builders.generated.offsets import Topics
from tests.builders.generated.topics import topic_id
from tests.make.log import PARTITION, LoggedBatch

PARTITIONS: Final = 8
MOST_PARTS: Final = 8
MOST_RUNS: Final = 5
HOUR_MS: Final = 3_600_000


@dataclass(frozen=True)
class LogPart:
    """Batches that one run brings, and the offsets from `first` to `last` that it has seen with them: of some of them
    the cleaner may have taken the records."""

    run: int
    first: int
    last: int
    batches: tuple[LoggedBatch, ...]

    def bytes(self) -> bytes:
        return b"".join(batch.bytes() for batch in self.batches)


@dataclass(frozen=True)
class ShortLog:
    seed: int
    topics: Topics
    parts: tuple[LogPart, ...]
    # What is known beside the log: expiry of offsets, and from which run on topics are named by snapshots.
    retention_ms: int | None
    num_offsets_partitions: int | None
    # None: no run has any.
    snapshots_from: int | None
    # An archive has no batches, producers or markers.
    is_archive: bool
    num_slices: int

    @property
    def num_runs(self) -> int:
        return max(part.run for part in self.parts) + 1

    def of_run(self, run: int) -> list[LogPart]:
        return [part for part in self.parts if part.run == run]


def short_log(seed: int, most_groups: int = 4, most_operations: int = 60) -> ShortLog:
    chance = random.Random(seed)
    topics = {f"t{number}": (topic_id(chance), chance.randint(1, 2)) for number in range(2)}
    groups, operations = chance.randint(1, most_groups), chance.randint(6, most_operations)
    log = generated(seed, PARTITION, PARTITIONS, topics, operations, groups)
    batches = compacted(log) if chance.random() < 0.4 and log.batches else log.batches
    is_archive = chance.random() < 0.1
    if is_archive:
        batches = [batch for batch in batches if not batch.is_control] or log.batches
    batches = with_damaged_records(with_leader_epochs(with_other_clocks(batches, chance), chance), chance)
    return ShortLog(
        seed=seed,
        topics=topics,
        parts=tuple(parts_of(batches, log, chance)),
        retention_ms=chance.choice((None, None, 1, 2_000, HOUR_MS)),
        snapshots_from=chance.choice((None, None, 0, 0, 1, 2)),
        is_archive=is_archive,
        num_slices=2 if chance.random() < 0.1 else 1,
        num_offsets_partitions=chance.choice((None, None, None, PARTITIONS, 5)),
    )


def with_other_clocks(batches: Sequence[LoggedBatch], chance: random.Random) -> list[LoggedBatch]:
    """Now and then the coordinator moves to a broker whose clock is behind or ahead."""
    shift, result = 0, []
    for batch in batches:
        if chance.random() < 0.05:
            shift += chance.choice((-5_000, -1_500, -1, 1, 700, 5_000))
        moved = tuple(replace(each, time=each.time + shift) for each in batch.records)
        result.append(replace(batch, records=moved))
    return result


def with_leader_epochs(batches: Sequence[LoggedBatch], chance: random.Random) -> list[LoggedBatch]:
    epoch, result = chance.randint(0, 2), []
    for batch in batches:
        epoch += chance.random() < 0.07
        result.append(replace(batch, leader_epoch=epoch))
    return result


def with_damaged_records(batches: Sequence[LoggedBatch], chance: random.Random) -> list[LoggedBatch]:
    """Values that end too early: such a record has a place in the log and no meaning."""

    def damaged(batch: LoggedBatch) -> LoggedBatch:
        place = chance.randrange(len(batch.records))
        each = batch.records[place]
        if each.value is None or batch.is_control:
            return batch
        cut = replace(each, value=each.value[:-1])
        return replace(batch, records=(*batch.records[:place], cut, *batch.records[place + 1 :]))

    return [damaged(batch) if chance.random() < 0.01 else batch for batch in batches]


def parts_of(batches: Sequence[LoggedBatch], log: Log, chance: random.Random) -> Iterator[LogPart]:
    """Most logs come in their order; in some a hole closes later, or the beginning comes last."""
    cuts = sorted(
        {0, len(batches), *(chance.randint(0, len(batches)) for _ in range(chance.randint(1, MOST_PARTS - 1)))}
    )
    spans = list(pairwise(cuts))
    share_of_holes = chance.choice((0.0, 0.3, 0.5))
    kept = [span for span in spans if chance.random() >= share_of_holes] or spans[-1:]
    num_runs = min(len(kept), chance.randint(2, MOST_RUNS))
    runs = sorted([*range(num_runs), *(chance.randrange(num_runs) for _ in kept[num_runs:])])
    if chance.random() < 0.2:
        chance.shuffle(runs)
    for (start, stop), run in zip(kept, runs, strict=True):
        low = batches[start - 1].last_offset + 1 if start else 0
        high = batches[stop].base_offset - 1 if stop < len(batches) else log.offset - 1
        # What the cleaner emptied at its ends belongs to the part, or to nobody.
        first = chance.choice((low, batches[start].base_offset))
        last = chance.choice((high, batches[stop - 1].last_offset))
        yield LogPart(run, first, last, tuple(batches[start:stop]))
