"""Groups whose records follow from each other as a coordinator writes them: what a replay is measured with.

Three in a hundred records are of groups. Classic groups go from generation to generation, consumer groups from epoch to
epoch, their members coming one by one; commits are of partitions that the group subscribes to.
"""

import random
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from benchmarks.byte_columns import text, uvarint
from benchmarks.cast import Cast, Client, Group, make_cast, make_group
from benchmarks.group_records import NO_TAGS, Numbers, i4, id_partitions, member_value, occurrences
from benchmarks.traffic import Traffic

# A member's five records come once; then an epoch and what one member makes of it, again and again.
STEPS = 80
FEWEST_MEMBERS, MEMBER_CHOICES = 2, 4
MOST_TOPICS = 2
FEW_PARTITIONS = 6


@dataclass(frozen=True)
class SmallGroup(Group):
    def num_members(self, state: int) -> int:
        return FEWEST_MEMBERS + (len(self.name) + 5 * self.topics[0] + 3 * state) % MEMBER_CHOICES

    def assigned(self, state: int, member: int) -> dict[int, list[int]]:
        """Dealt in turn. Where members keep what they own, a partition never goes straight to another."""
        step = self.num_members(0 if self.client is Client.JAVA_COOPERATIVE else state)
        taken = list(range(member, FEW_PARTITIONS, step)) if member < step else []
        return dict.fromkeys(self.topics, taken) if taken and member < self.num_members(state) else {}


def small_cast(seed: int, num_groups: int) -> Cast:
    """Groups of two to five members that share 6 or 12 partitions."""
    rng = random.Random(seed)
    groups = [make_group(rng, number) for number in range(num_groups)]
    small = [SmallGroup(each.name, each.client, each.topics[:MOST_TOPICS], each.members) for each in groups]
    return replace(make_cast(seed, 0), groups=list(small))


class Lives(Traffic):
    shares = (0.965, 0.005, 0.03)
    # Nobody deletes a group.
    expired_share = 1.0

    def __init__(self, cast: Cast, at_home: Numbers, rng: np.random.Generator) -> None:
        """Of the cast only those at home are made ready, and known here by their number among these."""
        home = replace(cast, groups=[cast.groups[number] for number in at_home])
        super().__init__(home, np.arange(len(at_home)), rng)
        topics = [group.topics for group in home.groups]
        self.num_topics = np.array([len(each) for each in topics])
        self.topics_of = np.array([(*each, *each)[:MOST_TOPICS] for each in topics])
        self.stock = epochs_stock(home)
        self.step = np.zeros(len(at_home), np.int64)

    def places(self, group: Numbers) -> tuple[Numbers, Numbers]:
        pick = self.rng.integers(0, MOST_TOPICS, len(group)) % self.num_topics[group]
        return self.topics_of[group, pick], self.rng.integers(0, FEW_PARTITIONS, len(group))

    def stocked(self, group: Numbers, consumer: Numbers) -> Numbers:
        step_numbers = np.zeros(len(group), np.int64)
        before, counts = occurrences(group[consumer], len(self.step))
        step = np.minimum(self.step[group[consumer]] + before, STEPS - 1)
        step_numbers[consumer] = group[consumer] * STEPS + step
        self.step += counts
        return step_numbers


@dataclass(frozen=True)
class Steps:
    key: pa.BinaryArray
    value: pa.BinaryArray


def epochs_stock(cast: Cast) -> Steps:
    """By group and step; of groups that are none of the consumer protocol there is nothing to take."""
    nothing = [(b"", b"")] * STEPS
    records = [
        record
        for group in cast.groups
        for record in (steps(cast, group) if group.client is Client.CONSUMER else nothing)
    ]
    return Steps(*(pa.array(side, pa.binary()) for side in zip(*records, strict=True)))


def steps(cast: Cast, group: Group) -> list[tuple[bytes, bytes]]:
    name, records = text(group.name), []
    members = group.num_members(0)
    for turn in range(STEPS):
        place = turn % members
        epoch, key = i4(turn + 2), name + text(group.members[place])
        assigned = id_partitions(cast, group.assigned(0, place))
        current = epoch + i4(turn + 1) + b"\0" + assigned + uvarint(1)
        bumped = (b"\0\3" + name, b"\0\0" + epoch + NO_TAGS)
        reached = [
            (b"\0\6" + name, b"\0\0" + epoch + NO_TAGS),
            (b"\0\x08" + key, b"\0\0" + current + NO_TAGS),
        ]
        if turn < members:
            records.append((b"\0\5" + key, b"\0\0" + member_value(cast, group, place)))
            records += [bumped, (b"\0\7" + key, b"\0\0" + assigned + NO_TAGS), *reached]
        else:
            records += [bumped, *reached]
    return records[:STEPS]
