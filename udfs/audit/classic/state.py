"""What the audit remembers of a classic group from one value to the next, and from one run to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from schemas.words.assignments import PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.groups import Numbers
from udfs.assignors.questions import Member, Owned, Topic
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.classic.generations import Generation


@dataclass(frozen=True)
class Before:
    """A group's newest value; without members: the group was emptied."""

    generation: Generation
    counts: Numbers
    source: PartitionCountsSource | None
    # The release whose rules gave the assignment. None: none did, or none was tried.
    line: str | None
    # Why nothing can be computed at all.
    reason: str | None
    # The same members with the same lists as in the previous value.
    is_repeat: bool = False

    @property
    def counts_by_topic(self) -> Mapping[str, int]:
        return dict(zip(self.generation.topics, self.counts.tolist(), strict=True))

    @property
    def least_by_topic(self) -> Mapping[str, int]:
        return dict(zip(self.generation.topics, self.least.tolist(), strict=True))

    @cached_property
    def least(self) -> Numbers:
        """By topic, one more than the highest partition that was assigned."""
        of = self.generation
        least = np.zeros(len(of.topics), np.int64)
        np.maximum.at(least, of.assigned.topics, of.assigned.partitions.astype(np.int64) + 1)
        return least

    def without_window(self) -> "Before":
        return replace(self, counts=self.counts.copy(), generation=self.generation.kept())


def latest(before: Before, facts: Facts) -> Latest | None:
    """None: the group has no members."""
    of = before.generation
    if not of.members:
        return None
    subscribed = np.flatnonzero(of.is_subscribed).tolist()
    owned = owned_by_member(of)
    return Latest(
        group_id=of.group_id,
        group_type=GroupType.CLASSIC,
        assignment_offset=of.offset,
        record_time=of.time,
        assignor=of.protocol,
        topics=tuple(topic_of(of.topics[at], int(before.counts[at]), facts) for at in subscribed),
        members=tuple(
            Member(
                member_id=member_id,
                group_instance_id=instance,
                rack_id=rack,
                subscribed_topics=tuple(of.topics[at] for at in of.topics_of_class[k].tolist()),
                owned=own,
                generation=of.number,
                user_data=None,
                target=own,
            )
            for member_id, instance, rack, k, own in zip(
                of.members, of.instances, of.racks, of.class_of_member.tolist(), owned, strict=True
            )
        ),
        counts_source=before.source,
        evidence_first_offset=of.offset,
        subscription_versions=tuple(None if version < 0 else version for version in of.versions.tolist()),
        reason=before.reason,
    )


def topic_of(name: str, count: int, facts: Facts) -> Topic:
    """With id and racks from the newest snapshot, if it has the same number of partitions."""
    known = facts.topics.get(name)
    if not known or known[-1].topic.partitions != count:
        return Topic(name, count)
    return known[-1].topic


def owned_by_member(of: Generation) -> Sequence[Owned]:
    owned: list[dict[str, list[int]]] = [{} for _ in of.members]
    rows = of.assigned
    for member, topic, partition in zip(
        rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist(), strict=True
    ):
        owned[member].setdefault(of.topics[topic], []).append(partition)
    return [tuple((topic, tuple(partitions)) for topic, partitions in each.items()) for each in owned]
