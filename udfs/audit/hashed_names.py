"""Which name each topic id of a target has, by the hash in the group's record: names and ids are paired in one way
after another until the pairing has that hash."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from math import prod

from udfs.assignors.java.maps import java_sorted
from udfs.assignors.questions import Topic
from udfs.topics.metadata_hash import hash_of, packed_hash

# Pairings that are tried for one target, each with the numbers of partitions that the target shows.
MOST_PAIRINGS = 40_320
# For all targets of a log: where brokers have racks, these are hashed too, and no pairing has the hash.
MOST_PAIRINGS_OF_ALL = 25 * MOST_PAIRINGS
# Limits: more partitions than any member was assigned are tried up to this number, with this many hashes in total.
MOST_BEYOND = 8


@dataclass(frozen=True)
class Choice:
    topic_id: str
    num_partitions: int
    # Names that it may have.
    names: tuple[str, ...]


Choices = tuple[Choice, ...]


def most_pairings(choices: Choices) -> int:
    return prod(len(each.names) for each in choices)


@dataclass
class HashSearch:
    """Finds the topics of hashes, and searches for the same ones only once."""

    pairings_left: int = MOST_PAIRINGS_OF_ALL
    # By choices and wanted hashes: what an earlier search gave.
    known: dict[tuple[Choices, frozenset[int]], Mapping[int, list[Topic]]] = field(default_factory=dict)

    def topics_of(self, wanted: Mapping[Choices, AbstractSet[int]]) -> dict[Choices, Mapping[int, list[Topic]]]:
        """By hash, the topics that have it. Those with few pairings first, since the number of all is limited."""
        by_choices = {}
        for choices in sorted(wanted, key=lambda each: (most_pairings(each), repr(each))):
            key = choices, frozenset(wanted[choices])
            if key not in self.known:
                self.known[key] = dict(self.search(choices, wanted[choices]))
            by_choices[choices] = self.known[key]
        return by_choices

    def search(self, choices: Choices, wanted: AbstractSet[int]) -> Iterator[tuple[int, list[Topic]]]:
        left, tried = set(wanted), 0
        at_most = min(MOST_PAIRINGS, self.pairings_left)
        for pairing in islice(pairings(choices), at_most):
            tried += 1
            if (its_hash := pairing_hash(pairing)) in left:
                left.remove(its_hash)
                yield its_hash, [topic for topic, _ in pairing if topic is not None]
                if not left:
                    break
        self.pairings_left -= tried
        beyond = tried * MOST_BEYOND * len(choices)
        if left and tried < at_most and beyond <= min(MOST_PAIRINGS, self.pairings_left):
            self.pairings_left -= beyond
            yield from with_more_partitions(choices, left)


# The topic with the eight bytes that it adds to the hash; without one the name at this place is not taken.
Slot = tuple[Topic | None, bytes]
FREE: Slot = (None, b"")


def pairing_hash(pairing: list[Slot]) -> int:
    return hash_of([hashed for _, hashed in pairing])


def pairings(choices: Choices) -> Iterator[list[Slot]]:
    """Each id with another name; always the same list, which has a slot for each name in Java's order."""
    names = sorted({name for each in choices for name in each.names})
    places = {names[position]: place for place, position in enumerate(java_sorted(names))}
    slots = [FREE] * len(names)

    @cache
    def slot(depth: int, name: str) -> Slot:
        return hashed(Topic(name, choices[depth].num_partitions, choices[depth].topic_id))

    def extended(depth: int) -> Iterator[list[Slot]]:
        if depth == len(choices):
            yield slots
            return
        for name in choices[depth].names:
            place = places[name]
            if slots[place] is FREE:
                slots[place] = slot(depth, name)
                yield from extended(depth + 1)
                slots[place] = FREE

    return extended(0)


def hashed(topic: Topic) -> Slot:
    return topic, packed_hash(topic)


def with_more_partitions(choices: Choices, wanted: AbstractSet[int]) -> Iterator[tuple[int, list[Topic]]]:
    """One of the topics has partitions that no member was assigned."""
    for pairing in pairings(choices):
        for at, (topic, _) in enumerate(pairing):
            if topic is None:
                continue
            for more in range(1, MOST_BEYOND + 1):
                wider = list(pairing)
                wider[at] = hashed(Topic(topic.name, topic.partitions + more, topic.topic_id))
                if (its_hash := pairing_hash(wider)) in wanted:
                    yield its_hash, [each for each, _ in wider if each is not None]
