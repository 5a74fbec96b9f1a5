"""Known defects of Kafka's assignors, coordinators and clients that generations of classic groups show: what a
signature sees, the signatures, named by what went wrong, and the table of defects (GENERATION_DEFECTS).

Defects without a trace in records of type 2 are nowhere: KAFKA-8767, 9752, 12890, 13406 (rebalances that were never
written), 10284 (the record is missing), 13419, 14009, 14024, 13636 (they need other records, or outside knowledge).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from schemas.words.assignments import AuditReason, ClientLibrary, Verdict
from udfs.assignors.answers import FIRST_CLIENTS
from udfs.assignors.groups import ABSENT, Rows
from udfs.assignors.questions import NEWEST_RELEASE, Release
from udfs.assignors.sticky_claims import Claims, cooperative_claims, last_generation, sticky_claims
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import ALL_CONFIRMED
from udfs.audit.classic.generations import Generation, successors
from udfs.audit.classic.results import GenerationResult
from udfs.audit.classic.variants import (
    COOPERATIVE,
    STICKY,
    Line,
    TriedVariant,
    Variant,
    group_of,
    inferred_counts,
    lines_of,
    try_variant,
)

Partition = tuple[int, int]
NEWEST: Final = Line("newest", NEWEST_RELEASE)
# Releases with which the sticky assignors changed: a way of their own for equal subscriptions, even sizes in it, lists
# that are sorted and partitions that two members claim going to neither, one partition more being level, and members
# that keep partitions of all topics instead of whole topics.
EQUAL_WAY_SINCE: Final = (2, 5, 1)
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
    result: GenerationResult

    @property
    def of(self) -> Generation:
        return self.result.generation

    @property
    def is_readable(self) -> bool:
        return self.result.is_readable and self.result.counts is not None

    @property
    def is_drift(self) -> bool:
        return self.result.verdict == Verdict.DRIFT

    @property
    def release(self) -> Release | None:
        """The release whose rules give the record. None: no release does."""
        closest = self.result.closest
        if closest is None or not closest.is_same or not isinstance(closest.variant, Variant):
            return None
        return closest.variant.line.release

    @property
    def is_old_leader(self) -> bool:
        """A leader from before generations in subscriptions (3.4), or a library without them."""
        return self.of.leader_at is not None and 0 <= int(self.of.versions[self.of.leader_at]) <= 1

    @property
    def newest_version(self) -> int:
        """Of the members' subscriptions: up to 1 they say no generation."""
        return int(self.of.versions.max())

    def by_newest(self, of: Generation | None = None) -> TriedVariant:
        assert self.result.counts is not None
        return try_variant(of or self.of, Variant(NEWEST, self.result.counts))

    @cached_property
    def newest(self) -> Rows | None:
        """What the newest release assigns."""
        return self.by_newest().rows

    @cached_property
    def claims(self) -> Claims:
        """What members claim to have had, and the generation of each."""
        assert self.result.counts is not None
        claims_of = cooperative_claims if self.of.protocol == COOPERATIVE else sticky_claims
        return claims_of(group_of(self.of, Variant(NEWEST, self.result.counts)))

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

    @property
    def recorded(self) -> RecordedAssignment:
        return self.result.recorded

    @property
    def spread(self) -> int:
        return int(np.ptp(self.recorded.sizes))

    @cached_property
    def owned_before(self) -> dict[Partition, int]:
        """According to the previous value, for members that are still there."""
        before = None if self.result.before is None else self.result.before.generation
        if before is None or not before.members:
            return {}
        who = successors(before, self.of)
        topics = {name: at for at, name in enumerate(self.of.topics)}
        return {
            (topics[before.topics[topic]], partition): who[members[0]]
            for (topic, partition), members in owners(before).items()
            if before.topics[topic] in topics and who[members[0]] >= 0
        }


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
    omitted = evidence.of.is_omitted
    if omitted.all() or evidence.result.is_same:
        return False
    return any(evidence.of.instances[member] is not None for member in np.flatnonzero(omitted).tolist())


def leader_missed_new_partitions(evidence: Evidence) -> bool:
    """A static leader that came back without a rebalance does not notice that a topic has grown."""
    leader = evidence.of.leader_at
    return evidence.result.is_old_view and leader is not None and evidence.of.instances[leader] is not None


def rebalanced_twice_for_racks(evidence: Evidence) -> bool:
    """A restarted replica caused two rebalances that changed nothing, in groups whose members name their racks."""
    before, of = evidence.result.before, evidence.of
    if before is None or not before.is_repeat or not any(of.racks):
        return False
    was = before.generation
    is_soon = was.time is not None and of.time is not None and of.time - was.time <= SOON_US
    return is_soon and was.members == of.members and was.topics == of.topics and owners(was) == evidence.owners


# Of `range` and `roundrobin`.


def ordered_by_member_id(evidence: Evidence) -> bool:
    """Static members are sorted by their changing member ids, not by their static ids."""
    if not evidence.is_drift or not any(evidence.of.instances):
        return False
    return evidence.by_newest(replace(evidence.of, instances=[None] * len(evidence.of.members))).is_reproduced


def copartitioning_broken_by_racks(evidence: Evidence) -> bool:
    """With racks, range assigned partitions with equal numbers to different members."""
    if not evidence.is_drift or not any(evidence.of.racks):
        return False
    # Of what is assigned, not of what there is: a garbage record can name a partition far beyond all others.
    counts = evidence.recorded.counts.tolist()
    of_topic: dict[int, dict[int, list[int]]] = {}
    for (topic, partition), members in evidence.owners.items():
        if 0 <= partition < counts[topic]:
            of_topic.setdefault(topic, {})[partition] = members
    return any(
        counts[one] == counts[other] and of_topic.get(one) != of_topic.get(other)
        for one, other in combinations(evidence.of.topics_of_class[0].tolist(), 2)
    )


def library_left_a_member_out(evidence: Evidence) -> bool:
    """kafka-python groups members by iterating over an unsorted list: static members between dynamic ones are lost."""
    is_other = evidence.is_drift or evidence.result.reason == AuditReason.OTHER_LIBRARY.value
    if not is_other or evidence.newest_version > 0:
        return False
    is_static = [instance is not None for instance in evidence.of.instances]
    return any(is_static) and not all(is_static) and evidence.recorded.num_idle_members > 0


# Of the sticky assignors: how they use what members claim.


def stale_claim_without_generation(evidence: Evidence) -> bool:
    """User data in the form before 2.3 has no generation. So a member that was away takes back what others have by now,
    or shares it with them."""
    claims = evidence.claims
    unsaid = {at for at, claimed in enumerate(claims.lists) if claimed and claims.generations[at] == ABSENT}
    if not unsaid:
        return False
    return evidence.recorded.num_owned_twice() > 0 or any(
        member in unsaid and member in evidence.owners.get(partition, ())
        and evidence.owned_before.get(partition, member) != member
        for partition, members in evidence.claimants.items()
        for member in members
    )  # fmt: skip


def trusted_the_leaders_own_memory(evidence: Evidence) -> bool:
    """The leader used its own memory of the previous generation, not what members claimed."""
    if not evidence.is_drift:
        return False
    said = {partition: members for partition, members in evidence.claimants.items() if len(members) == 1}
    differing = [each for each, owner in evidence.owned_before.items() if each in said and said[each] != [owner]]
    kept = [each for each in differing if evidence.owners.get(each) == [evidence.owned_before[each]]]
    return len(differing) > 1 and len(kept) == len(differing)


def gave_what_another_owned(evidence: Evidence) -> bool:
    """A partition was assigned to its new owner while the old one still had it."""
    return bool(evidence.result.unsafe.any())


def unsafe_by_racks(evidence: Evidence) -> bool:
    """The same, because its owner's rack has no replica of it."""
    return any(evidence.of.racks) and gave_what_another_owned(evidence)


def older_claim_won(evidence: Evidence) -> bool:
    """Without generations in the subscriptions, a stale claim can win over a newer one."""
    if evidence.newest_version > 1:
        return False
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
    is_met = any(
        len({generations[member] for member in members}) < len(members) for members in evidence.contested.values()
    )
    return is_met and evidence.spread > 1


def generations_were_reset(evidence: Evidence) -> bool:
    """Members whose sync failed forgot their generation, and with it what they had."""
    of, before = evidence.of, evidence.result.before
    if before is None or evidence.newest_version > 1:
        return False
    had, claim = set(evidence.owned_before.values()), set(of.owned.members.tolist())
    known = set(before.generation.members)
    reset = [
        member
        for member, data in enumerate(of.user_data)
        if member in had and member not in claim and of.members[member] in known
        and data is not None and last_generation(data) == ABSENT
    ]  # fmt: skip
    return len(reset) > 1


def owned_lists_are_unsorted(evidence: Evidence) -> bool:
    """Which partitions stay depended on the order in which a member listed what it had."""
    of = evidence.of
    lists = ([(of.topics[topic], each) for topic, each in owned] for owned in of.owned.lists(len(of.members)))
    return any(listed != sorted(listed) for listed in lists)


def returned_what_is_not_subscribed(evidence: Evidence) -> bool:
    """A partition returns to the member that had it before, which no longer subscribes to its topic."""
    takes = [set(listed.tolist()) for listed in evidence.of.topics_of_class]
    classes = evidence.of.class_of_member.tolist()
    return any(
        topic not in takes[classes[member]] for (topic, _), members in evidence.owners.items() for member in members
    )


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
    newest = evidence.newest
    if newest is None:
        return False
    claimants, num_members = evidence.claimants, len(evidence.of.members)
    kept = sum(members[0] in claimants.get(each, ()) for each, members in evidence.owners.items())
    lists = newest.lists(num_members)
    could_keep = sum(member in claimants.get(each, ()) for member, has in enumerate(lists) for each in has)
    sizes = list(map(len, lists))
    return kept < could_keep or evidence.spread > max(sizes) - min(sizes)


def topics_are_uneven(evidence: Evidence) -> bool:
    """Members kept whole topics. Their sizes are even in total, but far from even topic by topic."""
    if evidence.newest is None:
        return False
    of = evidence.of
    uneven = spread_by_topic(of.assigned, len(of.members))
    return uneven > len(of.topics) and uneven > spread_by_topic(evidence.newest, len(of.members))


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
    the record, from the first one to before the second; whether members must subscribe to the same topics.
    `needs_counts` False: the records say enough, whatever numbers of partitions topics had. What members claim and get
    follows other rules in other libraries than Kafka's: they have few of these defects."""

    name: str
    fits: Callable[[Evidence], bool]
    assignors: Collection[str] | None = None
    releases: tuple[Release, Release] | None = None
    has_one_subscription: bool | None = None
    needs_counts: bool = True
    is_of_other_libraries: bool = False

    def is_of(self, evidence: Evidence) -> bool:
        of = evidence.of
        if self.assignors is not None and not (of.protocol in self.assignors and evidence.is_readable):
            return False
        if self.releases is not None:
            since, before = self.releases
            if evidence.release is None or not since <= evidence.release < before:
                return False
        return self.has_one_subscription in (None, of.has_one_subscription) and self.fits(evidence)


# The most specific first: a generation gets only one.
GENERATION_DEFECTS: Final = (
    Defect("KAFKA-9801", static_id_was_unknown, needs_counts=False, is_of_other_libraries=True),
    Defect("KAFKA-7026", stale_claim_without_generation, ("sticky",), needs_counts=False),
    Defect("KAFKA-5277", trusted_the_leaders_own_memory, ("sticky",)),
    Defect("KAFKA-15170", unsafe_by_racks, (COOPERATIVE,), needs_counts=False),
    Defect("KAFKA-13715", older_claim_won, (COOPERATIVE,), needs_counts=False),
    Defect("KAFKA-14639", gave_what_another_owned, (COOPERATIVE,), needs_counts=False),
    Defect("KAFKA-12984", two_claims_of_one_generation, STICKY, has_one_subscription=True),
    Defect("KAFKA-13891", generations_were_reset, (COOPERATIVE,), needs_counts=False),
    Defect("KAFKA-8355", ordered_by_member_id, ("range",)),
    Defect("KAFKA-8356", ordered_by_member_id, ("roundrobin",)),
    Defect("KAFKA-13435", leader_missed_new_partitions),
    Defect("KAFKA-14891", copartitioning_broken_by_racks, ("range",), has_one_subscription=True),
    Defect("KAFKA-16277", topics_are_uneven, STICKY, (EVEN_SINCE, BY_PARTITION_SINCE), has_one_subscription=True),
    Defect("KAFKA-12464", moved_more_than_needed, STICKY, (EQUAL_WAY_SINCE, EVEN_SINCE), has_one_subscription=True),
    # Many members and partitions took minutes.
    Defect("KAFKA-9987", lambda of: took_long(of, EQUAL_WAY_SINCE), STICKY, has_one_subscription=True),
    Defect("KAFKA-12675", lambda of: took_long(of, EVEN_SINCE), STICKY, has_one_subscription=False),
    # Balance was too strict: partitions moved back and forth without end.
    Defect("KAFKA-15106", is_slow, STICKY, (EVEN_SINCE, LEVEL_BY_ONE_SINCE), has_one_subscription=False),
    Defect("KAFKA-20778", rebalanced_twice_for_racks, needs_counts=False, is_of_other_libraries=True),
    Defect("KAFKA-12898", owned_lists_are_unsorted, (COOPERATIVE,), (EQUAL_WAY_SINCE, SORTED_SINCE)),
    # These have no issue in Kafka's JIRA.
    Defect(
        "sticky: given back to a member that no longer subscribes", returned_what_is_not_subscribed, STICKY,
        has_one_subscription=False, needs_counts=False,
    ),
    Defect("sticky: claims beyond the topic's partitions", kept_what_does_not_exist, STICKY),
    Defect("kafka-python: range leaves members out", library_left_a_member_out, ("range",), is_of_other_libraries=True),
)  # fmt: skip


def defect_of_generation(result: GenerationResult, is_sound: bool) -> str | None:
    """`is_sound`: the counts of the assignment show nothing wrong."""
    if is_sound and is_healthy(result):
        return None
    is_of_java = result.reason != AuditReason.OTHER_LIBRARY.value and result.generation.leader_library in (
        None,
        ClientLibrary.JAVA,
    )
    defects = [defect for defect in GENERATION_DEFECTS if is_of_java or defect.is_of_other_libraries]
    if result.why_unconfirmed is not None and result.verdict != Verdict.STALE_INPUT:
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
