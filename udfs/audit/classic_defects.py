"""Known defects of Kafka's assignors, coordinators and clients that generations of classic groups show: what a
signature looks at, the signatures, named by what went wrong, and the table of defects (GENERATION_DEFECTS).

Defects without a trace in records of type 2 are not here: KAFKA-8767, 9752, 12890, 13406 (rebalances that were never
written), 10284 (the record is missing), 13419, 14009, 14024, 13636 (they need other records, or outside knowledge).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from schemas.words.assignments import AuditReason, ClientLibrary, Verdict
from udfs.assignors.answers import FIRST_CLIENTS
from udfs.assignors.groups import ABSENT, Partition, Rows
from udfs.assignors.questions import Release
from udfs.assignors.sticky_claims import Claims, cooperative_claims, last_generation, sticky_claims
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import ALL_CONFIRMED
from udfs.audit.classic_generations import Generation, owned_before
from udfs.audit.classic_results import GenerationResult
from udfs.audit.classic_variants import (
    COOPERATIVE,
    EQUAL_WAY_SINCE,
    STICKY,
    Line,
    Variant,
    asked,
    inferred_counts,
    lines_of,
    try_variant,
)

# Releases with which the sticky assignors changed: lists that are sorted and partitions that two members claim going to
# neither, even sizes for equal subscriptions, one partition more being level, and members that keep partitions of all
# topics instead of whole topics.
SORTED_SINCE: Final = (2, 8, 1)
EVEN_SINCE: Final = (3, 0, 0)
LEVEL_BY_ONE_SINCE: Final = (3, 5, 2)
BY_PARTITION_SINCE: Final = (3, 7, 1)
# From the end of the join phase to the record: mostly the work of the leader.
SLOW_MS: Final = 30_000
# Members times partitions.
LARGE: Final = 100_000
SOON_US: Final = 120_000_000


@dataclass(frozen=True)
class Evidence:
    """What signatures look at. Members and topics are positions in the generation."""

    result: GenerationResult

    @property
    def of(self) -> Generation:
        return self.result.generation

    @property
    def before(self) -> Generation | None:
        return None if self.result.before is None else self.result.before.generation

    @property
    def recorded(self) -> RecordedAssignment:
        return self.result.recorded

    @property
    def is_drift(self) -> bool:
        return self.result.verdict == Verdict.DRIFT

    @property
    def release(self) -> Release | None:
        """The release of Kafka's clients whose rules give the record. None: no release does."""
        closest = self.result.closest
        is_of_kafka = closest is not None and closest.is_same and not closest.variant.is_of_librdkafka
        return closest.variant.line.release if closest is not None and is_of_kafka else None

    @property
    def is_old_leader(self) -> bool:
        """A leader from before generations in subscriptions (3.4), or a library without them."""
        return self.of.leader_at is not None and 0 <= int(self.of.versions[self.of.leader_at]) <= 1

    @property
    def newest(self) -> Variant:
        assert self.result.counts is not None
        return Variant(Line("newest"), self.result.counts)

    @cached_property
    def expected(self) -> Rows | None:
        """What the newest release assigns."""
        return try_variant(self.of, self.newest).rows

    @cached_property
    def claims(self) -> Claims:
        """What members claim to have had, and the generation of each."""
        claims_of = cooperative_claims if self.of.protocol == COOPERATIVE else sticky_claims
        return claims_of(asked(self.of, self.newest))

    @cached_property
    def claimants(self) -> dict[Partition, list[int]]:
        return by_partition(self.claims.lists)

    @cached_property
    def contested(self) -> dict[Partition, list[int]]:
        """Partitions that several members claim."""
        return {partition: members for partition, members in self.claimants.items() if len(members) > 1}

    @cached_property
    def owners(self) -> dict[Partition, list[int]]:
        return owners(self.of)

    @cached_property
    def owned_before(self) -> dict[Partition, int]:
        """According to the previous value, for members that are still there."""
        had: dict[Partition, int] = {}
        for member, *partition in () if self.before is None else owned_before(self.before, self.of).triples():
            had.setdefault((partition[0], partition[1]), member)
        return {partition: member for partition, member in had.items() if member >= 0}

    @property
    def spread(self) -> int:
        return int(np.ptp(self.recorded.sizes))


def by_partition(lists: Sequence[Iterable[Partition]]) -> dict[Partition, list[int]]:
    members: dict[Partition, list[int]] = {}
    for member, partitions in enumerate(lists):
        for partition in partitions:
            members.setdefault(partition, []).append(member)
    return members


def owners(of: Generation) -> dict[Partition, list[int]]:
    return by_partition(of.assigned.lists(len(of.members)))


# Of any assignor: coordinators and leaders.


def static_id_was_unknown(evidence: Evidence) -> bool:
    """A static member came back between join and sync, and the leader did not know its new id. It assigned nothing to
    it, not even an empty list."""
    of = evidence.of
    if of.is_omitted.all() or evidence.result.is_same:
        return False
    return any(of.instances[member] is not None for member in np.flatnonzero(of.is_omitted).tolist())


def leader_missed_new_partitions(evidence: Evidence) -> bool:
    """A static leader that came back without a rebalance does not notice that a topic has grown."""
    leader = evidence.of.leader_at
    return evidence.result.is_old_view and leader is not None and evidence.of.instances[leader] is not None


def rebalanced_twice_for_racks(evidence: Evidence) -> bool:
    """A restarted replica caused two rebalances that changed nothing, in groups whose members name their racks."""
    of, was = evidence.of, evidence.before
    if was is None or evidence.result.before is None or not evidence.result.before.is_repeat:
        return False
    is_soon = was.time is not None and of.time is not None and of.time - was.time <= SOON_US
    return is_soon and was.members == of.members and was.topics == of.topics and owners(was) == evidence.owners


# Of `range` and `roundrobin`.


def ordered_by_member_id(evidence: Evidence) -> bool:
    """Static members are sorted by their changing member ids, not by their static ids."""
    nameless = replace(evidence.of, instances=[None] * len(evidence.of.members))
    return any(evidence.of.instances) and try_variant(nameless, evidence.newest).is_reproduced


def copartitioning_broken_by_racks(evidence: Evidence) -> bool:
    """With racks, range assigned partitions with equal numbers to different members."""
    # Of what is assigned, not of what there is: a garbage record can name a partition far beyond all others.
    counts = evidence.recorded.counts.tolist()
    owners_of: dict[int, dict[int, list[int]]] = {topic: {} for topic in evidence.of.as_asked.subscriptions[0]}
    for (topic, partition), members in evidence.owners.items():
        if 0 <= partition < counts[topic] and topic in owners_of:
            owners_of[topic][partition] = members
    of_count: dict[int, dict[int, list[int]]] = {}
    return any(of_count.setdefault(counts[topic], owned) != owned for topic, owned in owners_of.items())


def library_left_a_member_out(evidence: Evidence) -> bool:
    """kafka-python groups members by iterating over an unsorted list: static members between dynamic ones are lost."""
    is_other = evidence.is_drift or evidence.result.reason == AuditReason.OTHER_LIBRARY.value
    is_static = [instance is not None for instance in evidence.of.instances]
    return is_other and any(is_static) and not all(is_static) and evidence.recorded.num_idle_members > 0


# Of the sticky assignors: how they use what members claim.


def stale_claim_without_generation(evidence: Evidence) -> bool:
    """User data in the form before 2.3 has no generation. So a member that was away takes back what others have by now,
    or shares it with them."""
    claims, had = evidence.claims, evidence.owned_before
    unsaid = {at for at, claimed in enumerate(claims.lists) if claimed and claims.generations[at] == ABSENT}
    if unsaid and evidence.recorded.num_owned_twice() > 0:
        return True
    return any(
        member in unsaid and had.get(partition, member) != member and member in evidence.owners.get(partition, ())
        for partition, members in evidence.claimants.items()
        for member in members
    )


def trusted_the_leaders_own_memory(evidence: Evidence) -> bool:
    """The leader used its own memory of the previous generation, not what members claimed."""
    had, claimants = evidence.owned_before, evidence.claimants
    differing = [each for each in had if len(claimants.get(each, ())) == 1 and claimants[each] != [had[each]]]
    kept = [each for each in differing if evidence.owners.get(each) == [had[each]]]
    return len(differing) > 1 and len(kept) == len(differing)


def gave_what_another_owned(evidence: Evidence) -> bool:
    """A partition was assigned to its new owner while the old one still had it. With racks, because no replica of it is
    in its owner's rack."""
    return bool(evidence.result.unsafe.any())


def older_claim_won(evidence: Evidence) -> bool:
    """Without generations in the subscriptions, a stale claim can win over a newer one."""
    generations = evidence.claims.generations
    return any(
        generations[owner] < max(generations[member] for member in members)
        for partition, members in evidence.contested.items()
        for owner in evidence.owners.get(partition, ())
        if owner in members
    )


def two_claims_of_one_generation(evidence: Evidence) -> bool:
    """Two members claim a partition in one generation, and sizes become uneven."""
    if not evidence.is_old_leader or (evidence.release is not None and evidence.release >= SORTED_SINCE):
        return False
    generations = evidence.claims.generations
    return evidence.spread > 1 and any(
        len({generations[member] for member in members}) < len(members) for members in evidence.contested.values()
    )


def generations_were_reset(evidence: Evidence) -> bool:
    """Members whose sync failed forgot their generation, and with it what they had."""
    of, known = evidence.of, set() if evidence.before is None else set(evidence.before.members)
    silent = set(evidence.owned_before.values()) - set(of.owned.members.tolist())
    reset = [
        member
        for member in silent
        if of.members[member] in known
        and (data := of.user_data[member]) is not None
        and last_generation(data) == ABSENT
    ]
    return len(reset) > 1


def owned_lists_are_unsorted(evidence: Evidence) -> bool:
    """Which partitions stay depended on the order in which a member listed what it had."""
    return any(listed != sorted(listed) for listed in evidence.of.owned.lists(len(evidence.of.members)))


def returned_what_is_not_subscribed(evidence: Evidence) -> bool:
    """A partition returns to the member that had it before, which no longer subscribes to its topic."""
    return bool(evidence.recorded.is_unsubscribed.any())


def kept_what_does_not_exist(evidence: Evidence) -> bool:
    """A topic was recreated with fewer partitions, and members claim the old ones: these stay, or others are assigned
    to two members."""
    if not (evidence.recorded.num_nonexistent or evidence.recorded.num_owned_twice()):
        return False
    counts = evidence.recorded.counts
    return any(partition >= counts[topic] for topic, partition in evidence.claimants)


# Of the sticky assignors: balance and time.


def moved_more_than_needed(evidence: Evidence) -> bool:
    """The way of its own for equal subscriptions took partitions from full members, or left sizes uneven."""
    if evidence.expected is None:
        return False
    claimants, lists = evidence.claimants, evidence.expected.lists(len(evidence.of.members))
    kept = sum(members[0] in claimants.get(each, ()) for each, members in evidence.owners.items())
    could_keep = sum(member in claimants.get(each, ()) for member, has in enumerate(lists) for each in has)
    sizes = list(map(len, lists))
    return kept < could_keep or evidence.spread > max(sizes) - min(sizes)


def topics_are_uneven(evidence: Evidence) -> bool:
    """Members kept whole topics. Their sizes are even in total, but far from even topic by topic."""
    if evidence.expected is None:
        return False
    of = evidence.of
    uneven = spread_by_topic(of.assigned, len(of.members))
    return uneven > len(of.topics) and uneven > spread_by_topic(evidence.expected, len(of.members))


def spread_by_topic(rows: Rows, num_members: int) -> int:
    """By how much members' numbers of partitions differ, summed over the topics."""
    by_topic = (rows.members[rows.topics == topic] for topic in np.unique(rows.topics))
    return sum(int(np.ptp(np.bincount(members, minlength=num_members))) for members in by_topic)


def is_slow(evidence: Evidence) -> bool:
    """Smaller groups take no time in any release: something else was slow."""
    of = evidence.of
    if of.time is None or of.state_time is None or (of.time - of.state_time) // 1000 < SLOW_MS:
        return False
    return len(of.members) * int(np.maximum(evidence.recorded.counts, 0).sum()) >= LARGE


def took_long(evidence: Evidence, before: Release) -> bool:
    """Whether a line before that release gives the record too; or no line does, and the leader is an old one."""
    if not is_slow(evidence):
        return False
    if evidence.is_drift:
        return evidence.is_old_leader
    of, counts = evidence.of, evidence.result.counts
    lines = [line for line in lines_of(of) if FIRST_CLIENTS <= line.release < before]
    return counts is not None and any(try_variant(of, Variant(line, counts)).is_same for line in lines)


class Defect(NamedTuple):
    """What is not for the signature alone: `assignors`, of records that can be read; releases, one of whose rules give
    the record, from the first one to before the second; whether members must subscribe to the same topics, one must
    name its rack, or no release may give the record; the newest version that subscriptions may have: up to 1 they say
    no generation. `needs_counts` False: the records say enough, for any numbers of partitions of the topics. What
    members claim and get follows other rules in other libraries than Kafka's: they have few of these defects."""

    name: str
    fits: Callable[[Evidence], bool]
    assignors: Collection[str] | None = None
    releases: tuple[Release, Release] | None = None
    has_one_subscription: bool | None = None
    has_racks: bool = False
    is_drift: bool = False
    newest_version: int | None = None
    needs_counts: bool = True
    is_of_other_libraries: bool = False

    def is_of(self, evidence: Evidence) -> bool:
        of, result = evidence.of, evidence.result
        is_known = result.is_readable and result.counts is not None
        if self.assignors is not None and not (is_known and of.protocol in self.assignors):
            return False
        if self.releases is not None:
            since, before = self.releases
            if evidence.release is None or not since <= evidence.release < before:
                return False
        return (
            (self.has_one_subscription in (None, of.has_one_subscription))
            and (not self.has_racks or any(of.racks))
            and (not self.is_drift or evidence.is_drift)
            and (self.newest_version is None or int(of.versions.max()) <= self.newest_version)
            and self.fits(evidence)
        )


# The most specific first: a generation gets only one.
GENERATION_DEFECTS: Final = (
    Defect("KAFKA-9801", static_id_was_unknown, needs_counts=False, is_of_other_libraries=True),
    Defect("KAFKA-7026", stale_claim_without_generation, ("sticky",), needs_counts=False),
    Defect("KAFKA-5277", trusted_the_leaders_own_memory, ("sticky",), is_drift=True),
    Defect("KAFKA-15170", gave_what_another_owned, (COOPERATIVE,), has_racks=True, needs_counts=False),
    Defect("KAFKA-13715", older_claim_won, (COOPERATIVE,), newest_version=1, needs_counts=False),
    Defect("KAFKA-14639", gave_what_another_owned, (COOPERATIVE,), needs_counts=False),
    Defect("KAFKA-12984", two_claims_of_one_generation, STICKY, has_one_subscription=True),
    Defect("KAFKA-13891", generations_were_reset, (COOPERATIVE,), newest_version=1, needs_counts=False),
    Defect("KAFKA-8355", ordered_by_member_id, ("range",), is_drift=True),
    Defect("KAFKA-8356", ordered_by_member_id, ("roundrobin",), is_drift=True),
    Defect("KAFKA-13435", leader_missed_new_partitions),
    Defect(
        "KAFKA-14891", copartitioning_broken_by_racks, ("range",), has_one_subscription=True, has_racks=True,
        is_drift=True,
    ),
    Defect("KAFKA-16277", topics_are_uneven, STICKY, (EVEN_SINCE, BY_PARTITION_SINCE), has_one_subscription=True),
    Defect("KAFKA-12464", moved_more_than_needed, STICKY, (EQUAL_WAY_SINCE, EVEN_SINCE), has_one_subscription=True),
    # Many members and partitions took minutes.
    Defect("KAFKA-9987", lambda of: took_long(of, EQUAL_WAY_SINCE), STICKY, has_one_subscription=True),
    Defect("KAFKA-12675", lambda of: took_long(of, EVEN_SINCE), STICKY, has_one_subscription=False),
    # Balance was too strict: partitions moved back and forth without end.
    Defect("KAFKA-15106", is_slow, STICKY, (EVEN_SINCE, LEVEL_BY_ONE_SINCE), has_one_subscription=False),
    Defect("KAFKA-20778", rebalanced_twice_for_racks, has_racks=True, needs_counts=False, is_of_other_libraries=True),
    Defect("KAFKA-12898", owned_lists_are_unsorted, (COOPERATIVE,), (EQUAL_WAY_SINCE, SORTED_SINCE)),
    # These have no issue in Kafka's JIRA.
    Defect(
        "sticky: given back to a member that no longer subscribes", returned_what_is_not_subscribed, STICKY,
        has_one_subscription=False, needs_counts=False,
    ),
    Defect("sticky: claims beyond the topic's partitions", kept_what_does_not_exist, STICKY),
    Defect(
        "kafka-python: range leaves members out", library_left_a_member_out, ("range",), newest_version=0,
        is_of_other_libraries=True,
    ),
)  # fmt: skip


def defect_of_generation(result: GenerationResult, is_sound: bool) -> str | None:
    """`is_sound`: the counts of the assignment show nothing wrong."""
    if is_sound and is_healthy(result):
        return None
    library = result.generation.leader_library
    is_of_java = result.reason != AuditReason.OTHER_LIBRARY.value and library in (None, ClientLibrary.JAVA)
    defects = [defect for defect in GENERATION_DEFECTS if is_of_java or defect.is_of_other_libraries]
    if result.confirmation.why is not None and result.verdict != Verdict.STALE_INPUT:
        # With the numbers of partitions that the record itself shows.
        counts = inferred_counts(result.generation)
        result = replace(result, counts=counts if counts.are_possible else None, confirmation=ALL_CONFIRMED)
        defects = [defect for defect in defects if not defect.needs_counts]
    evidence = Evidence(result)
    return next((defect.name for defect in defects if defect.is_of(evidence)), None)


def is_healthy(result: GenerationResult) -> bool:
    """Whether the newest rules give the record, as for most generations."""
    of = result.generation
    return (
        result.verdict in (Verdict.SAME, Verdict.SAME_UNCONFIRMED, Verdict.CARRIED_OVER)
        and (result.closest is None or result.closest.variant.is_newest)
        and not any(of.racks)
        and not of.is_omitted.any()
    )
