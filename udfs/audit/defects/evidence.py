"""What the signatures of known defects look at: a generation, the previous one, and what members claimed."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from schemas.words.assignments import Verdict
from udfs.assignors.groups import Group, Numbers, Rows
from udfs.assignors.questions import NEWEST_RELEASE, Release
from udfs.assignors.sticky_claims import cooperative_claims, sticky_claims
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import Flags
from udfs.audit.classic.generations import Generation
from udfs.audit.classic.results import GenerationResult
from udfs.audit.classic.steps import successors
from udfs.audit.classic.variants import COOPERATIVE, STICKY, Line, TriedVariant, Variant, group_of, try_variant

NEWEST: Final = Line("newest", NEWEST_RELEASE)
Partition = tuple[int, int]


@dataclass(frozen=True)
class Evidence:
    result: GenerationResult

    @property
    def of(self) -> Generation:
        return self.result.generation

    @property
    def before(self) -> Generation | None:
        return None if self.result.before is None else self.result.before.generation

    @property
    def assignor(self) -> str | None:
        return self.of.protocol

    @property
    def is_sticky(self) -> bool:
        """Whether it is one of the two sticky assignors, and its record can be read."""
        return self.of.protocol in STICKY and self.result.is_readable and self.result.counts is not None

    @property
    def is_cooperative(self) -> bool:
        return self.is_sticky and self.of.protocol == COOPERATIVE

    @property
    def is_drift(self) -> bool:
        return self.result.verdict == Verdict.DRIFT

    @property
    def has_one_subscription(self) -> bool:
        return self.of.has_one_subscription

    @property
    def release(self) -> Release | None:
        """The release whose rules give the record. None: no release does."""
        closest = self.result.closest
        if closest is None or not closest.is_same or not isinstance(closest.variant, Variant):
            return None
        return closest.variant.line.release

    @property
    def leader(self) -> int | None:
        """Its position among the members."""
        return self.of.leader_at

    @property
    def is_old_leader(self) -> bool:
        """A leader from before generations in subscriptions (3.4), or a library without them."""
        return self.leader is not None and 0 <= int(self.of.versions[self.leader]) <= 1

    @property
    def sync_ms(self) -> int | None:
        if self.of.time is None or self.of.state_time is None:
            return None
        return (self.of.time - self.of.state_time) // 1000

    @property
    def recorded(self) -> RecordedAssignment:
        return self.result.recorded

    @cached_property
    def group(self) -> Group:
        """The question for the newest release."""
        assert self.result.counts is not None
        return group_of(self.of, Variant(NEWEST, self.result.counts))

    @cached_property
    def newest(self) -> TriedVariant:
        assert self.result.counts is not None
        return try_variant(self.of, Variant(NEWEST, self.result.counts))

    @cached_property
    def claims(self) -> tuple[Rows, Numbers]:
        """What members claim to have had, and the generation of each; -1: none."""
        claims_of = cooperative_claims if self.of.protocol == COOPERATIVE else sticky_claims
        said = claims_of(self.group)
        return Rows.of_lists(said.lists), np.array(said.generations, np.int64)

    @cached_property
    def claimants(self) -> dict[Partition, list[int]]:
        return owners(self.claims[0])

    @cached_property
    def owners(self) -> dict[Partition, list[int]]:
        return owners(self.of.assigned)

    @property
    def contested_partitions(self) -> dict[Partition, list[int]]:
        """Partitions that several members claim."""
        return {partition: members for partition, members in self.claimants.items() if len(members) > 1}

    @cached_property
    def assigned_before(self) -> dict[Partition, int]:
        """According to the previous value, for members that are still there."""
        if self.before is None or not self.before.members:
            return {}
        who = successors(self.before, self.of)
        topics = {name: at for at, name in enumerate(self.of.topics)}
        return {
            (topics[self.before.topics[topic]], partition): who[members[0]]
            for (topic, partition), members in owners(self.before.assigned).items()
            if self.before.topics[topic] in topics and who[members[0]] >= 0
        }

    @property
    def spread(self) -> int:
        return int(np.ptp(self.recorded.sizes))

    @property
    def unsafe(self) -> Flags:
        return self.result.unsafe


def owners(rows: Rows) -> dict[Partition, list[int]]:
    by_partition: dict[Partition, list[int]] = {}
    for member, topic, partition in zip(
        rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist(), strict=True
    ):
        by_partition.setdefault((topic, partition), []).append(member)
    return by_partition


def spread_by_topic(rows: Rows, num_members: int) -> int:
    """How unevenly each topic is spread, one after the other."""
    total = 0
    for topic in np.unique(rows.topics).tolist():
        sizes = np.bincount(rows.members[rows.topics == topic], minlength=num_members)
        total += int(sizes.max() - sizes.min())
    return total
