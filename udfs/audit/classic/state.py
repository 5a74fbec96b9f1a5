"""What the audit remembers of a classic group from one value to the next, and from one run to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from schemas.words.assignments import PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.groups import ABSENT, Numbers, Rows
from udfs.assignors.questions import Member, Owned, Topic
from udfs.audit.checks.audit_results import Latest
from udfs.audit.checks.facts import Facts
from udfs.audit.classic.generations import Generation
from udfs.groups.readers.client_libraries import ANY_LIBRARY, Libraries

SOURCES = {source.value: source for source in PartitionCountsSource}
NO_ROWS = Rows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32))


def any_library() -> Libraries:
    return ANY_LIBRARY


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
        """A copy without what only its own window needs, so that the arrays of the window can be freed."""
        of = self.generation
        return replace(
            self,
            counts=self.counts.copy(),
            generation=replace(
                of, owned=NO_ROWS, user_data=(), client_ids=(), generation_ids=np.empty(0, np.int64),
                versions=of.versions.copy(), topics_of_class=[listed.copy() for listed in of.topics_of_class],
                assigned=Rows(of.assigned.members.copy(), of.assigned.topics.copy(), of.assigned.partitions.copy()),
                is_assignment_read=of.is_assignment_read.copy(), is_omitted=of.is_omitted.copy(),
                has_assignment_data=of.has_assignment_data.copy(), lower_bounds=of.lower_bounds.copy(),
                find_libraries=any_library,
            ),
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        of = self.generation
        rows = of.assigned
        return {
            "offset": of.offset,
            "time": of.time,
            "protocol_type": of.protocol_type,
            "generation": of.number,
            "protocol": of.protocol,
            "members": [
                list(each)
                for each in zip(
                    of.members, of.instances, of.racks, of.versions.tolist(), of.class_of_member.tolist(), strict=True
                )
            ],
            "topics": list(of.topics),
            "counts": self.counts.tolist(),
            "subscriptions": [listed.tolist() for listed in of.topics_of_class],
            "assigned": [rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist()],
            "source": self.source,
            "line": self.line,
            "reason": self.reason,
            "is_repeat": self.is_repeat,
        }


def from_plain(group_id: str, plain: Mapping[str, Any]) -> Before:
    members = plain["members"]
    every = np.ones(len(members), np.bool_)
    columns = [np.array(column, np.int32) for column in plain["assigned"]]
    generation = Generation(
        group_id=group_id,
        offset=plain["offset"],
        time=plain["time"],
        batch=ABSENT,
        protocol_type=plain["protocol_type"],
        number=plain["generation"],
        protocol=plain["protocol"],
        leader=None,
        state_time=None,
        members=[each[0] for each in members],
        instances=[each[1] for each in members],
        client_ids=(),
        racks=[each[2] for each in members],
        versions=np.array([each[3] for each in members], np.int64),
        generation_ids=np.empty(0, np.int64),
        user_data=(),
        is_assignment_read=every,
        is_omitted=~every,
        has_assignment_data=~every,
        topics=plain["topics"],
        class_of_member=np.array([each[4] for each in members], np.int32),
        topics_of_class=[np.array(listed, np.int32) for listed in plain["subscriptions"]],
        owned=NO_ROWS,
        assigned=Rows(*columns),
        lower_bounds=np.zeros(len(plain["topics"]), np.int64),
        find_libraries=any_library,
    )
    source = SOURCES.get(plain["source"])
    counts = np.array(plain["counts"], np.int64)
    return Before(
        generation=generation,
        counts=counts,
        source=source,
        line=plain["line"],
        reason=plain["reason"],
        is_repeat=plain["is_repeat"],
    )


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
