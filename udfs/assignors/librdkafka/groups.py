"""The question to an assignor of librdkafka, in the orders in which a leader of that library sees it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from udfs.assignors.java.hashes import string_hashes

Partition = tuple[str, int]
Lists = dict[str, list[Partition]]


class Undecidable(Exception):
    """What the library does here depends on more than its input, or it would not end; the text says why."""


@dataclass(frozen=True)
class Rules:
    """Releases of librdkafka that assign in the same way."""

    # From 2.2.0 on, members say in which generation they got what they claim.
    has_generations: bool = True
    # Before 2.6.1, the test for balance passed members over.
    skips_members: bool = False


@dataclass(frozen=True)
class GroupMember:
    member_id: str
    instance: str | None
    # As the member listed them.
    topics: Sequence[str]
    owned: Sequence[Partition]
    generation: int


@dataclass(frozen=True)
class Group:
    """Members in the order of the JoinGroup response; `counts`: how many partitions topics have, in the order of the
    broker's answer to the leader."""

    members: Sequence[GroupMember]
    counts: Mapping[str, int]
    rules: Rules = Rules()

    @cached_property
    def topics_of(self) -> dict[str, frozenset[str]]:
        """By member, topics with partitions that it subscribes to."""
        return {
            each.member_id: frozenset(name for name in each.topics if self.counts.get(name)) for each in self.members
        }

    @cached_property
    def audiences(self) -> dict[str, list[GroupMember]]:
        """By topic, who subscribes to it. A topic without subscribers is missing."""
        topics_of = {each.member_id: frozenset(each.topics) for each in self.members}
        found = {name: [each for each in self.members if name in topics_of[each.member_id]] for name in self.counts}
        return {name: members for name, members in found.items() if members}


def in_order(members: Sequence[GroupMember]) -> list[GroupMember]:
    """As `range` and `roundrobin` sort them: two static members by their static ids, any other two by their member ids.
    If a group has both kinds, this is no order at all: the result then depends on which members the sorting compares.
    That is as in the C library of most Linux systems: each half is sorted, and both are merged."""
    if len(members) < 2:
        return list(members)
    middle = len(members) // 2
    first, second = in_order(members[:middle]), in_order(members[middle:])
    merged = []
    while first and second:
        merged.append((second if is_before(second[0], first[0]) else first).pop(0))
    return [*merged, *first, *second]


def is_before(one: GroupMember, other: GroupMember) -> bool:
    if one.instance is not None and other.instance is not None:
        return one.instance < other.instance
    return one.member_id < other.member_id


# -- orders of topics in the broker's answer


def as_requested(members: Sequence[GroupMember]) -> list[str]:
    """The leader asks for the topics of the first member, then for further ones of the second, and so on."""
    return list(dict.fromkeys(name for each in members for name in each.topics))


def by_name(members: Sequence[GroupMember]) -> list[str]:
    return sorted(as_requested(members))


# Scala's sets keep up to four elements as they came.
FEW: Final = 4
BITS: Final = 5
MASK: Final = 0xFFFFFFFF


def as_broker_walks(members: Sequence[GroupMember]) -> list[str]:
    """The broker collects the requested topics in an immutable set of Scala, and answers as it walks that."""
    names = as_requested(members)
    if len(names) <= FEW:
        return names
    hashes = dict(zip(names, map(improved, string_hashes(names).tolist()), strict=True))
    return walked(names, hashes, 0)


def walked(names: Sequence[str], hashes: Mapping[str, int], shift: int) -> list[str]:
    """A node has names of its own, which share their bits with no other, and below them nodes for those that do."""
    if shift > MASK.bit_length():
        return list(names)
    places: dict[int, list[str]] = {}
    for name in names:
        places.setdefault(hashes[name] >> shift & (1 << BITS) - 1, []).append(name)
    below = [places[place] for place in sorted(places)]
    alone = [name for some in below if len(some) == 1 for name in some]
    return alone + [name for some in below if len(some) > 1 for name in walked(some, hashes, shift + BITS)]


def improved(hash_code: int) -> int:
    code = hash_code + ~(hash_code << 9) & MASK
    code ^= code >> 14
    code = code + (code << 4) & MASK
    return code ^ code >> 10


# In the order in which they are tried, each with how a verdict names it.
TOPIC_ORDERS: Final[Sequence[tuple[str | None, Callable[[Sequence[GroupMember]], list[str]]]]] = (
    (None, as_requested),
    ("topics in the order of the broker's set", as_broker_walks),
    ("topics by name", by_name),
)
