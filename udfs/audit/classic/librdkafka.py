"""Whether librdkafka's own assignor gives a recorded generation, if its leader may use that library."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from schemas.words.assignments import Algorithm
from udfs.assignors.groups import Rows
from udfs.assignors.librdkafka import (
    TOPIC_ORDERS,
    Group,
    GroupMember,
    Lists,
    Rules,
    Undecidable,
    cooperative_sticky,
    in_circles,
    ranges,
)
from udfs.audit.checks.assignments import tuples
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.partition_counts import Counts
from udfs.groups.readers.client_libraries import LIBRDKAFKA

COOPERATIVE: Final = "cooperative-sticky"
ASSIGNORS: Final = {"range": ranges, "roundrobin": in_circles, COOPERATIVE: cooperative_sticky}
# Subscriptions of librdkafka have version 3 since 2.2.0, and before that version 1 since 1.6.0.
FIRST_NEW_VERSION, FIRST_VERSION = 2, 1


# Kafka's brokers answer in one of these; the last one is for others.
LIKELY_ORDERS: Final = frozenset(text for text, _ in TOPIC_ORDERS[:-1])


@dataclass(frozen=True)
class LibraryLine:
    """Releases of librdkafka whose assignor gives the same answers."""

    name: str
    rules: Rules


NEWEST: Final = Rules()
# Newest first.
STICKY_LINES: Final = (
    LibraryLine("2.6.1 and later", NEWEST),
    LibraryLine("2.2.0-2.6.0", Rules(skips_members=True)),
)
PLAIN_LINES: Final = (LibraryLine("2.2.0 and later", NEWEST),)
# 1.6 has other defects, and its subscriptions are the same.
OLD_LINES: Final = (LibraryLine("1.7.0-2.1.1", Rules(has_generations=False, skips_members=True)),)


def lines_of(generation: Generation) -> Sequence[LibraryLine]:
    """By the leader's own subscription; none if it cannot be of a release that is known."""
    if generation.leader_at is None or generation.protocol not in ASSIGNORS:
        return ()
    version = generation.versions[generation.leader_at]
    if version < FIRST_VERSION or not generation.libraries & LIBRDKAFKA:
        return ()
    if version < FIRST_NEW_VERSION:
        return OLD_LINES
    return STICKY_LINES if generation.protocol == COOPERATIVE else PLAIN_LINES


@dataclass(frozen=True)
class LibraryVariant:
    line: LibraryLine
    counts: Counts
    topic_order: str | None
    # Nothing is wrong with an older release's answer, as far as it is known.
    is_newest: ClassVar[bool] = True

    @property
    def text(self) -> str:
        parts = (f"librdkafka {self.line.name}", self.topic_order, self.counts.label)
        return "; ".join(part for part in parts if part is not None)


@dataclass(frozen=True)
class Question:
    """What the leader may have seen."""

    variant: LibraryVariant
    topics: Sequence[str]


def questions(generation: Generation, candidates: Sequence[Counts], last_line: str | None) -> Iterator[Question]:
    """`last_line`: the line that gave the group's previous generation."""
    members = members_of(generation)
    orders: dict[tuple[str, ...], str | None] = {}
    for text, order in TOPIC_ORDERS:
        orders.setdefault(tuple(order(members)), text)
    for counts in candidates:
        for line in sorted(lines_of(generation), key=lambda line: line.name != last_line):
            for topics, text in orders.items():
                yield Question(LibraryVariant(line, counts, text), topics)


def answer(generation: Generation, question: Question) -> Rows:
    counts = dict(zip(generation.topics, question.variant.counts.numbers.tolist(), strict=True))
    if any(name.startswith("^") for name in question.topics):
        raise Undecidable("the leader takes a name that begins with ^ for a pattern")
    if generation.protocol == COOPERATIVE and (generation.versions < FIRST_VERSION).any():
        raise Undecidable("the library fails if a subscription has no list of owned partitions")
    group = Group(members_of(generation), {name: counts[name] for name in question.topics}, question.variant.line.rules)
    return rows_of(generation, ASSIGNORS[str(generation.protocol)](group))


def members_of(generation: Generation) -> list[GroupMember]:
    """The library passes over members without topics."""
    owned: list[list[tuple[str, int]]] = [[] for _ in generation.members]
    for member, topic, partition in tuples(generation.owned):
        owned[member].append((generation.topics[topic], partition))
    listed = [[generation.topics[at] for at in topics.tolist()] for topics in generation.topics_of_class]
    fields = zip(
        generation.members, generation.instances, generation.class_of_member.tolist(), owned,
        generation.generation_ids.tolist(), strict=True,
    )  # fmt: skip
    return [GroupMember(who, instance, listed[k], own, number) for who, instance, k, own, number in fields if listed[k]]


def rows_of(generation: Generation, lists: Lists) -> Rows:
    topics = {name: at for at, name in enumerate(generation.topics)}
    rows = [
        (member, topics[topic], partition)
        for member, member_id in enumerate(generation.members)
        for topic, partition in lists.get(member_id, ())
    ]
    members, codes, partitions = np.array(rows, np.int32).reshape(-1, 3).T
    return Rows(members, codes, partitions)


def is_input_known(generation: Generation) -> bool:
    """Whether what the library assigns follows from the record and numbers of partitions."""
    if generation.leader_at is None or generation.versions[generation.leader_at] < FIRST_NEW_VERSION:
        return False
    # All generations below 0 are one for the audit, but not for the library.
    claimants = np.unique(generation.owned.members)
    if (generation.generation_ids[claimants] < 0)[generation.versions[claimants] >= FIRST_NEW_VERSION].any():
        return False
    if generation.protocol == "roundrobin" or not any(generation.racks):
        is_static = [instance is not None for instance in generation.instances]
        return generation.protocol == COOPERATIVE or all(is_static) or not any(is_static)
    return False


def algorithm_of(generation: Generation) -> Algorithm:
    return Algorithm.GENERAL if generation.protocol == COOPERATIVE else Algorithm.PLAIN
