"""Known defects of leaders, coordinators and other libraries, apart from those in `claim_defects`."""

from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from schemas.words.assignments import Verdict
from udfs.assignors.questions.specs import Release
from udfs.assignors.registry import FIRST_CLIENTS
from udfs.audit.classic.variants import Variant, lines_of, try_variant
from udfs.audit.defects.evidence import NEWEST, SLOW_MS, Evidence, owners

REWRITTEN_SINCE: Final = (3, 0, 0)
EQUAL_WAY_SINCE: Final = (2, 5, 1)
LEVEL_BY_ONE_SINCE: Final = (3, 5, 2)
SOON_US: Final = 120_000_000
# Members times partitions.
LARGE: Final = 100_000
RDKAFKA: Final = "rdkafka"


def static_id_was_unknown(evidence: Evidence) -> bool:
    """KAFKA-9801: a static member came back between join and sync, and the leader did not know its new id. It assigned
    nothing to it, not even an empty list."""
    omitted = evidence.of.is_omitted
    if not omitted.any() or omitted.all() or evidence.judged.verdict == Verdict.SAME:
        return False
    return any(evidence.of.instances[member] is not None for member in np.flatnonzero(omitted).tolist())


def ordered_by_member_id(evidence: Evidence) -> bool:
    """KAFKA-8355, KAFKA-8356: static members are sorted by their changing member ids, not by their static ids."""
    if not evidence.is_drift or not any(evidence.of.instances) or evidence.judged.counts is None:
        return False
    nameless = replace(evidence.of, instances=[None] * len(evidence.of.members))
    compared = try_variant(nameless, Variant(NEWEST, evidence.judged.counts)).compared
    return compared is not None and compared.verdict != Verdict.DRIFT


def leader_missed_new_partitions(evidence: Evidence) -> bool:
    """KAFKA-13435: a static leader that came back without a rebalance does not notice that a topic has grown."""
    leader = evidence.leader
    return evidence.judged.is_old_view and leader is not None and evidence.of.instances[leader] is not None


def copartitioning_broken_by_racks(evidence: Evidence) -> bool:
    """KAFKA-14891: with racks, range assigned partitions with equal numbers to different members."""
    if evidence.assignor != "range" or not evidence.is_drift or not any(evidence.of.racks):
        return False
    if not evidence.has_one_subscription:
        return False
    assigned = owners(evidence.of.assigned)
    counts = evidence.judged.numbers.tolist()
    return any(
        counts[one] == counts[other]
        and any(assigned.get((one, each)) != assigned.get((other, each)) for each in range(counts[one]))
        for one, other in combinations(evidence.of.topics_of_class[0].tolist(), 2)
    )


def is_slow(evidence: Evidence) -> bool:
    """Smaller groups take no time in any release: something else was slow."""
    if not evidence.is_sticky or (evidence.sync_ms or 0) < SLOW_MS:
        return False
    return len(evidence.of.members) * int(np.maximum(evidence.judged.numbers, 0).sum()) >= LARGE


def fits(evidence: Evidence, since: Release, before: Release) -> bool:
    """Whether a line of that time gives the record too; or no line does, and the leader is an old one."""
    if evidence.is_drift:
        return evidence.is_old_leader
    counts = evidence.judged.counts
    lines = [line for line in lines_of(evidence.of) if since <= line.release < before]
    return counts is not None and any(try_variant(evidence.of, Variant(line, counts)).is_same for line in lines)


def equal_subscriptions_took_long(evidence: Evidence) -> bool:
    """KAFKA-9987: before 2.5.1, equal subscriptions of many members and partitions took minutes."""
    return is_slow(evidence) and evidence.has_one_subscription and fits(evidence, FIRST_CLIENTS, EQUAL_WAY_SINCE)


def unequal_subscriptions_took_long(evidence: Evidence) -> bool:
    """KAFKA-12675: the same for unequal subscriptions, before 3.0."""
    return is_slow(evidence) and not evidence.has_one_subscription and fits(evidence, FIRST_CLIENTS, REWRITTEN_SINCE)


def balance_was_too_strict(evidence: Evidence) -> bool:
    """KAFKA-15106: from 3.0 to 3.5.1, partitions of unequal subscriptions moved back and forth without end."""
    release = evidence.release
    is_met = release is not None and REWRITTEN_SINCE <= release < LEVEL_BY_ONE_SINCE
    return is_slow(evidence) and is_met and not evidence.has_one_subscription


def rebalanced_twice_for_racks(evidence: Evidence) -> bool:
    """KAFKA-20778: a restarted replica caused two rebalances that changed nothing, in groups whose members name their
    racks."""
    before = evidence.judged.before
    if before is None or not before.is_repeat or not any(evidence.of.racks):
        return False
    was = before.generation
    is_soon = was.time is not None and evidence.of.time is not None and evidence.of.time - was.time <= SOON_US
    same = was.members == evidence.of.members and was.topics == evidence.of.topics
    return is_soon and same and owners(was.assigned) == owners(evidence.of.assigned)


def gave_back_what_is_not_subscribed(evidence: Evidence) -> bool:
    """A partition returns to the member that had it before, which no longer subscribes to its topic."""
    if not evidence.is_sticky or evidence.has_one_subscription:
        return False
    of = evidence.of
    takes = [set(listed.tolist()) for listed in of.topics_of_class]
    classes = of.class_of_member.tolist()
    return any(
        topic not in takes[classes[member]]
        for member, topic in zip(of.assigned.members.tolist(), of.assigned.topics.tolist(), strict=True)
    )


def kept_what_does_not_exist(evidence: Evidence) -> bool:
    """A topic was recreated with fewer partitions, and members claim the old ones: these stay, or others are assigned
    to two members."""
    if not evidence.is_sticky or not (evidence.num_nonexistent > 0 or evidence.num_owned_twice):
        return False
    rows, _ = evidence.claims
    return bool((rows.partitions >= evidence.judged.numbers[rows.topics]).any())


def library_left_a_member_out(evidence: Evidence) -> bool:
    """kafka-python groups members by iterating over an unsorted list: static members between dynamic ones are lost."""
    if evidence.assignor != "range" or not evidence.is_drift or int(evidence.of.versions.max()) > 0:
        return False
    is_static = [instance is not None for instance in evidence.of.instances]
    return any(is_static) and not all(is_static) and bool((evidence.assignments.sizes == 0).any())


def library_was_off_by_one(evidence: Evidence) -> bool:
    """librdkafka's test for balance lets sizes differ by two."""
    if not (evidence.is_sticky and evidence.is_drift and evidence.has_one_subscription and evidence.spread > 1):
        return False
    client = None if evidence.leader is None else evidence.of.client_ids[evidence.leader]
    return client is not None and RDKAFKA in client.lower()
