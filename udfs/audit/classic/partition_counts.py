"""How many partitions topics had for a group's leader. The log of classic groups does not record it, so several numbers
are tried."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from schemas.words.assignments import PartitionCountsSource
from udfs.assignors.groups import Numbers, PartitionRacks
from udfs.audit.checks.facts import Facts, KnownTopic, most_believed
from udfs.audit.classic.generations import Generation

# The largest number in real clusters; a larger partition number is garbage.
MOST_PARTITIONS = 4_000_000


@dataclass(frozen=True)
class Counts:
    """Numbers of partitions of a generation's topics; 0 for an unknown topic."""

    numbers: Numbers
    source: PartitionCountsSource | None
    racks: Sequence[PartitionRacks | None] | None
    # How these numbers differ from the first choice; None: they are the first choice.
    label: str | None = None
    # Whether the record names enough partitions for the highest ones to be more than garbage.
    are_believed: bool = True

    @property
    def are_possible(self) -> bool:
        return self.are_believed and int(self.numbers.sum()) <= MOST_PARTITIONS


class TopicCounts:
    """Numbers by topic and time, from snapshots."""

    def __init__(self, facts: Facts) -> None:
        self.known: Mapping[str, Sequence[KnownTopic]] = facts.topics
        self.times = {name: [each.first_time for each in known] for name, known in facts.topics.items()}

    def at(self, name: str, time: int | None, *, is_next_first: bool = False) -> KnownTopic | None:
        """The topic in the newest snapshot up to the time, else in the next one; or the other way round."""
        known = self.known.get(name)
        if not known:
            return None
        after = len(known) if time is None else bisect_right(self.times[name], time)
        chosen = min(after, len(known) - 1) if is_next_first else max(after - 1, 0)
        return known[chosen]

    def first(self, generation: Generation) -> Counts:
        return self.from_snapshots(generation)

    def candidates(self, first: Counts, generation: Generation, before: Mapping[str, int]) -> Iterator[Counts]:
        """Each different candidate once, in the order in which they are tried. `before`: numbers of the previous
        generation."""
        tried: set[bytes] = set()
        for counts in (
            first,
            self.from_snapshots(generation, is_next_first=True),
            inferred_counts(generation),
            remembered_counts(generation, before),
            *left_out_counts(generation, first),
        ):
            if counts.are_possible and counts.numbers.tobytes() not in tried:
                tried.add(counts.numbers.tobytes())
                yield counts

    def floor(self, generation: Generation, before: Mapping[str, int]) -> Numbers:
        """Lower bounds, since topics only grow: from snapshots up to then, else from the previous generation."""
        lower_bounds = []
        for name in generation.topics:
            known = self.at(name, generation.time)
            is_earlier = known is not None and generation.time is not None and known.first_time <= generation.time
            lower_bounds.append(known.topic.partitions if known is not None and is_earlier else before.get(name, 0))
        return np.array(lower_bounds, np.int64)

    def from_snapshots(self, generation: Generation, *, is_next_first: bool = False) -> Counts:
        known_topics = [self.at(name, generation.time, is_next_first=is_next_first) for name in generation.topics]
        numbers = generation.lower_bounds.copy()
        num_inferred = 0
        for at, known in enumerate(known_topics):
            if known is None:
                num_inferred += int(numbers[at])
            else:
                numbers[at] = known.topic.partitions
        is_from_snapshot = not num_inferred and any(known is not None for known in known_topics)
        source = PartitionCountsSource.SNAPSHOT if is_from_snapshot else PartitionCountsSource.INFERRED
        racks = None
        if any(known is not None and known.topic.racks is not None for known in known_topics):
            racks = [None if known is None else known.topic.racks for known in known_topics]
        label = "with partition counts of the next snapshot" if is_next_first else None
        return Counts(numbers, source, racks, label, are_believed(generation, num_inferred))


def inferred_counts(generation: Generation) -> Counts:
    """One more than the highest partition that is assigned or claimed. Partitions without an owner are not counted."""
    bounds = generation.lower_bounds
    is_believed = are_believed(generation, int(bounds.sum()))
    return Counts(bounds, PartitionCountsSource.INFERRED, None, "topics as assigned", is_believed)


def remembered_counts(generation: Generation, before: Mapping[str, int]) -> Counts:
    numbers = np.array([before.get(name, 0) for name in generation.topics], np.int64)
    bounds = generation.lower_bounds
    is_believed = are_believed(generation, int(bounds[bounds > numbers].sum()))
    return Counts(np.maximum(numbers, bounds), PartitionCountsSource.INFERRED, None, "topics as before", is_believed)


def left_out_counts(generation: Generation, first: Counts) -> Iterator[Counts]:
    """Members of cooperative groups claim partitions of topics that the leader may not know: of these it assigns
    nothing. Mostly it does not know topics that only other members subscribe to. Of its own ones it may assign nothing
    because all of their partitions wait for their owners."""
    is_left_out = generation.is_subscribed.copy()
    is_left_out[generation.assigned.topics] = False
    is_own = np.zeros(len(generation.topics), np.bool_)
    if generation.leader_at is not None:
        is_own[generation.topics_of_class[int(generation.class_of_member[generation.leader_at])]] = True
    for unknown in (is_left_out & ~is_own, is_left_out):
        numbers = np.where(unknown, 0, first.numbers)
        yield replace(first, numbers=numbers, label="without topics of which nothing is assigned")


def are_believed(generation: Generation, num_inferred: int) -> bool:
    return num_inferred <= most_believed(len(generation.assigned) + len(generation.owned))
