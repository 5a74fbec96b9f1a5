"""Known defects of the sticky assignors: in how they use members' claims, in balance, and in time."""

from typing import Final

import numpy as np

from udfs.assignors.answers import FIRST_CLIENTS
from udfs.assignors.groups import ABSENT, Rows
from udfs.assignors.questions import Release
from udfs.assignors.sticky_claims import last_generation
from udfs.audit.classic.variants import Variant, lines_of, try_variant
from udfs.audit.defects.evidence import Evidence, spread_by_topic

CONSTRAINED_SINCE: Final = (2, 5, 1)
EVEN_SINCE: Final = (3, 0, 0)
# Owned partitions are sorted. A partition that two members claim belongs to neither.
SORTED_SINCE: Final = (2, 8, 1)
BY_PARTITION_SINCE: Final = (3, 7, 1)
LEVEL_BY_ONE_SINCE: Final = (3, 5, 2)
# From the end of the join phase to the record: mostly the work of the leader.
SLOW_MS: Final = 30_000
# Members times partitions.
LARGE: Final = 100_000


def stale_claim_without_generation(evidence: Evidence) -> bool:
    """KAFKA-7026: user data in the form before 2.3 has no generation. So a member that was away takes back what others
    have by now, or shares it with them."""
    if evidence.assignor != "sticky" or not evidence.is_sticky:
        return False
    rows, generations = evidence.claims
    unsaid = set(np.unique(rows.members[generations[rows.members] == ABSENT]).tolist())
    if not unsaid:
        return False
    if evidence.recorded.num_owned_twice():
        return True
    return any(
        member in unsaid and member in evidence.owners.get(partition, ()) and other not in (None, member)
        for partition, members in evidence.claimants.items()
        for member in members
        for other in [evidence.assigned_before.get(partition)]
    )


def trusted_the_leaders_own_memory(evidence: Evidence) -> bool:
    """KAFKA-5277: the leader used its own memory of the previous generation, not what members claimed."""
    if evidence.assignor != "sticky" or not (evidence.is_sticky and evidence.is_drift and evidence.before):
        return False
    said = {partition: members for partition, members in evidence.claimants.items() if len(members) == 1}
    differing = [each for each, owner in evidence.assigned_before.items() if each in said and said[each] != [owner]]
    kept = [each for each in differing if evidence.owners.get(each) == [evidence.assigned_before[each]]]
    return len(differing) > 1 and len(kept) == len(differing)


def gave_what_another_owned(evidence: Evidence) -> bool:
    """KAFKA-14639: a partition was assigned to its new owner while the old one still had it."""
    return evidence.is_cooperative and bool(evidence.unsafe.any())


def unsafe_by_racks(evidence: Evidence) -> bool:
    """KAFKA-15170: the same, because its owner's rack has no replica of it."""
    return gave_what_another_owned(evidence) and any(evidence.of.racks)


def older_claim_won(evidence: Evidence) -> bool:
    """KAFKA-13715: without generations in the subscriptions, a stale claim can win over a newer one."""
    if not evidence.is_cooperative or int(evidence.of.versions.max()) > 1:
        return False
    _, generations = evidence.claims
    return any(
        generations[given] < max(generations[member] for member in members)
        for partition, members in evidence.contested_partitions.items()
        for given in evidence.owners.get(partition, ())
        if given in members
    )


def two_claims_of_one_generation(evidence: Evidence) -> bool:
    """KAFKA-12984: two members claim a partition in one generation, and sizes become uneven."""
    if not evidence.is_sticky or not evidence.is_old_leader or not evidence.has_one_subscription:
        return False
    if evidence.release is not None and evidence.release >= SORTED_SINCE:
        return False
    _, generations = evidence.claims
    is_met = any(
        len({int(generations[member]) for member in members}) < len(members)
        for members in evidence.contested_partitions.values()
    )
    return is_met and not evidence.recorded.is_level() and evidence.spread > 1


def generations_were_reset(evidence: Evidence) -> bool:
    """KAFKA-13891: members whose sync failed forgot their generation, and with it what they had."""
    if not evidence.is_cooperative or evidence.before is None or int(evidence.of.versions.max()) > 1:
        return False
    had = set(evidence.assigned_before.values())
    claim = set(evidence.of.owned.members.tolist())
    known = set(evidence.before.members)
    reset = [
        member
        for member, data in enumerate(evidence.of.user_data)
        if member in had and member not in claim and evidence.of.members[member] in known
        and data is not None and last_generation(data) == ABSENT
    ]  # fmt: skip
    return len(reset) > 1


def is_of_release(evidence: Evidence, since: Release, before: Release) -> bool:
    """Whether the rules of a release of that time give the record."""
    return evidence.release is not None and since <= evidence.release < before


def newest_of_equal(evidence: Evidence, since: Release, before: Release) -> Rows | None:
    """What the newest release assigns, if the subscriptions are equal and a release of that time gives the record."""
    if not evidence.is_sticky or not is_of_release(evidence, since, before) or not evidence.has_one_subscription:
        return None
    return evidence.newest.rows


def moved_more_than_needed(evidence: Evidence) -> bool:
    """KAFKA-12464: the constrained algorithm before 3.0 took partitions from full members, or left sizes uneven."""
    newest = newest_of_equal(evidence, CONSTRAINED_SINCE, EVEN_SINCE)
    if newest is None:
        return False
    kept = sum(members[0] in evidence.claimants.get(each, ()) for each, members in evidence.owners.items())
    rows = zip(newest.members.tolist(), newest.topics.tolist(), newest.partitions.tolist(), strict=True)
    could_keep = sum(member in evidence.claimants.get((topic, partition), ()) for member, topic, partition in rows)
    spread = np.ptp(np.bincount(newest.members, minlength=len(evidence.of.members)))
    return kept < could_keep or evidence.spread > int(spread)


def owned_lists_are_unsorted(evidence: Evidence) -> bool:
    """KAFKA-12898: which partitions stay depended on the order in which a member listed what it had."""
    if not evidence.is_cooperative or not is_of_release(evidence, CONSTRAINED_SINCE, SORTED_SINCE):
        return False
    rows = evidence.of.owned
    names = evidence.of.topics
    listed = [(member, names[topic], partition) for member, topic, partition in
              zip(rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist(), strict=True)]  # fmt: skip
    return listed != sorted(listed)


def topics_are_uneven(evidence: Evidence) -> bool:
    """KAFKA-16277: members kept whole topics. Their sizes are even in total, but far from even topic by topic."""
    newest = newest_of_equal(evidence, EVEN_SINCE, BY_PARTITION_SINCE)
    if newest is None:
        return False
    members = len(evidence.of.members)
    ours = spread_by_topic(evidence.of.assigned, members)
    return ours > len(evidence.of.topics) and ours > spread_by_topic(newest, members)


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
    if not evidence.is_sticky or not (evidence.recorded.num_nonexistent or evidence.recorded.num_owned_twice()):
        return False
    rows, _ = evidence.claims
    return bool((rows.partitions >= evidence.recorded.counts[rows.topics]).any())


def is_slow(evidence: Evidence) -> bool:
    """Smaller groups take no time in any release: something else was slow."""
    if not evidence.is_sticky or (evidence.sync_ms or 0) < SLOW_MS:
        return False
    return len(evidence.of.members) * int(np.maximum(evidence.recorded.counts, 0).sum()) >= LARGE


def fits(evidence: Evidence, since: Release, before: Release) -> bool:
    """Whether a line of that time gives the record too; or no line does, and the leader is an old one."""
    if evidence.is_drift:
        return evidence.is_old_leader
    counts = evidence.result.counts
    lines = [line for line in lines_of(evidence.of) if since <= line.release < before]
    return counts is not None and any(try_variant(evidence.of, Variant(line, counts)).is_same for line in lines)


def equal_subscriptions_took_long(evidence: Evidence) -> bool:
    """KAFKA-9987: before 2.5.1, equal subscriptions of many members and partitions took minutes."""
    return is_slow(evidence) and evidence.has_one_subscription and fits(evidence, FIRST_CLIENTS, CONSTRAINED_SINCE)


def unequal_subscriptions_took_long(evidence: Evidence) -> bool:
    """KAFKA-12675: the same for unequal subscriptions, before 3.0."""
    return is_slow(evidence) and not evidence.has_one_subscription and fits(evidence, FIRST_CLIENTS, EVEN_SINCE)


def balance_was_too_strict(evidence: Evidence) -> bool:
    """KAFKA-15106: from 3.0 to 3.5.1, partitions of unequal subscriptions moved back and forth without end."""
    is_met = is_of_release(evidence, EVEN_SINCE, LEVEL_BY_ONE_SINCE)
    return is_slow(evidence) and is_met and not evidence.has_one_subscription
