"""Known defects of classic groups that are not of the sticky assignors: of `range` and `roundrobin`, of leaders,
coordinators and other libraries."""

from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from schemas.words.assignments import AuditReason, Verdict
from udfs.audit.classic.variants import Variant, try_variant
from udfs.audit.defects.evidence import NEWEST, Evidence, owners

SOON_US: Final = 120_000_000


def static_id_was_unknown(evidence: Evidence) -> bool:
    """KAFKA-9801: a static member came back between join and sync, and the leader did not know its new id. It assigned
    nothing to it, not even an empty list."""
    omitted = evidence.of.is_omitted
    if not omitted.any() or omitted.all() or evidence.result.is_same:
        return False
    return any(evidence.of.instances[member] is not None for member in np.flatnonzero(omitted).tolist())


def ordered_by_member_id(evidence: Evidence) -> bool:
    """KAFKA-8355, KAFKA-8356: static members are sorted by their changing member ids, not by their static ids."""
    if not evidence.is_drift or not any(evidence.of.instances) or evidence.result.counts is None:
        return False
    nameless = replace(evidence.of, instances=[None] * len(evidence.of.members))
    compared = try_variant(nameless, Variant(NEWEST, evidence.result.counts)).compared
    return compared is not None and compared.verdict != Verdict.DRIFT


def leader_missed_new_partitions(evidence: Evidence) -> bool:
    """KAFKA-13435: a static leader that came back without a rebalance does not notice that a topic has grown."""
    leader = evidence.leader
    return evidence.result.is_old_view and leader is not None and evidence.of.instances[leader] is not None


def copartitioning_broken_by_racks(evidence: Evidence) -> bool:
    """KAFKA-14891: with racks, range assigned partitions with equal numbers to different members."""
    if evidence.assignor != "range" or not evidence.is_drift or not any(evidence.of.racks):
        return False
    if not evidence.has_one_subscription:
        return False
    counts = evidence.recorded.counts.tolist()
    # Of what is assigned, not of what there is: a garbage record can name a partition far beyond all others.
    by_topic: dict[int, dict[int, list[int]]] = {}
    for (topic, partition), members in owners(evidence.of.assigned).items():
        if 0 <= partition < counts[topic]:
            by_topic.setdefault(topic, {})[partition] = members
    return any(
        counts[one] == counts[other] and by_topic.get(one) != by_topic.get(other)
        for one, other in combinations(evidence.of.topics_of_class[0].tolist(), 2)
    )


def rebalanced_twice_for_racks(evidence: Evidence) -> bool:
    """KAFKA-20778: a restarted replica caused two rebalances that changed nothing, in groups whose members name their
    racks."""
    before = evidence.result.before
    if before is None or not before.is_repeat or not any(evidence.of.racks):
        return False
    was = before.generation
    is_soon = was.time is not None and evidence.of.time is not None and evidence.of.time - was.time <= SOON_US
    same = was.members == evidence.of.members and was.topics == evidence.of.topics
    return is_soon and same and owners(was.assigned) == owners(evidence.of.assigned)


def library_left_a_member_out(evidence: Evidence) -> bool:
    """kafka-python groups members by iterating over an unsorted list: static members between dynamic ones are lost."""
    is_other = evidence.is_drift or evidence.result.reason == AuditReason.OTHER_LIBRARY.value
    if evidence.assignor != "range" or not is_other or int(evidence.of.versions.max()) > 0:
        return False
    is_static = [instance is not None for instance in evidence.of.instances]
    return any(is_static) and not all(is_static) and bool((evidence.recorded.sizes == 0).any())
