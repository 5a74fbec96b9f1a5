"""Describes in words what was checked of one assignment."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from schemas.words.assignments import CheckName
from udfs.assignors.groups import Rows
from udfs.audit.checks.audit_results import Check
from udfs.audit.checks.comparison import tuples
from udfs.audit.checks.facts import GroupRule
from udfs.audit.checks.invariants import are_level, are_level_by_topic, are_subscribed, are_unsafe
from udfs.audit.checks.recorded_assignments import UNKNOWN, Assignments, Flags, RecordedAssignment, assignments_of

MOST_NAMED = 3
Partition = tuple[str, int]
# By topic, the racks of each partition's replicas.
Racks = Mapping[str, Sequence[Sequence[str | None]]]


def check(name: CheckName, faults: Sequence[str]) -> Check:
    return Check(name, not faults, "; ".join(faults) or None)


def valid(recorded: RecordedAssignment, most_owners: int = 1) -> Check:
    """Topics are subscribed, partitions exist, and none has too many owners."""
    unsubscribed = ~are_subscribed(assignments_of([recorded]))
    faults = (
        *partition_texts("not subscribed by its member", recorded, unsubscribed),
        *partition_texts("does not exist", recorded, is_nonexistent(recorded)),
        *partition_texts("owned twice", recorded, is_repeated(recorded.rows, most_owners)),
    )
    return check(CheckName.VALID, faults)


def is_nonexistent(recorded: RecordedAssignment) -> Flags:
    counts = recorded.counts[recorded.rows.topics]
    outside = (recorded.rows.partitions < 0) | (recorded.rows.partitions >= counts)
    return np.asarray(outside & (counts != UNKNOWN), dtype=np.bool_)


def is_repeated(rows: Rows, most_owners: int) -> Flags:
    keys = rows.topics.astype(np.int64) << 32 | (rows.partitions.astype(np.int64) & 0xFFFFFFFF)
    _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(times[which] > most_owners, dtype=np.bool_)


def complete(unowned: Collection[Partition], is_known: bool) -> Check:
    """`unowned`: partitions without an owner although nothing withholds them. If numbers of partitions are unknown, so
    is this."""
    if not is_known:
        return Check(CheckName.COMPLETE, None, "partition counts of topics are unknown")
    return check(CheckName.COMPLETE, [f"no member has {partition_list(unowned)}"] if unowned else [])


def balance_check(recorded: RecordedAssignment, withheld: int = 0) -> Check:
    """Sizes of members with equal subscriptions. With unequal ones, the best possible balance is not computed."""
    all_ = assignments_of([recorded])
    if all_.classes_of[0] > 1:
        return Check(CheckName.BALANCED, None, "subscriptions differ")
    is_level = bool(are_level(all_, np.array([withheld]))[0])
    if is_level:
        return check(CheckName.BALANCED, [])
    return check(CheckName.BALANCED, [f"members have from {all_.sizes.min()} to {all_.sizes.max()} partitions"])


def balanced_by_topic(recorded: RecordedAssignment) -> Check:
    """For range: each topic by itself."""
    is_level = bool(are_level_by_topic(assignments_of([recorded]))[0])
    return check(CheckName.BALANCED, [] if is_level else ["a topic is spread unevenly over its subscribers"])


def cooperative_safe(recorded: RecordedAssignment, claims: Rows) -> Check:
    unsafe = are_unsafe(assignments_of([recorded]), claims)
    return check(
        CheckName.COOPERATIVE_SAFE, list(partition_texts("assigned before its owner gave it up", recorded, unsafe))
    )


def static_once(instances: Sequence[str | None]) -> Check:
    """No static instance has two members."""
    seen: set[str] = set()
    twice = [each for each in instances if each is not None and (each in seen or seen.add(each))]  # type: ignore[func-returns-value]
    return check(
        CheckName.STATIC_ONCE, [f"group.instance.id {each} is that of two members" for each in dict.fromkeys(twice)]
    )


# -- requirements from the settings


def required_checks(
    rule: GroupRule, recorded: RecordedAssignment, member_racks: Sequence[str | None], racks: Racks
) -> Iterator[Check]:
    for topics in rule.copartitioned:
        yield co_partitioned(recorded, topics)
    if rule.redundancy > 1:
        yield redundant(recorded, rule.redundancy)
    if rule.is_rack_local:
        yield rack_local(recorded, member_racks, racks)


def co_partitioned(recorded: RecordedAssignment, topics: Sequence[str]) -> Check:
    """Each member has the same partitions of all these topics."""
    places = {name: at for at, name in enumerate(recorded.topics)}
    missing = [name for name in topics if name not in places]
    if missing:
        return Check(CheckName.CO_PARTITIONED, None, f"no member subscribes to {', '.join(missing)}")
    counts = {name: int(recorded.counts[places[name]]) for name in topics}
    unknown = [name for name in topics if counts[name] == UNKNOWN]
    if len(set(counts.values()) - {UNKNOWN}) > 1:
        return Check(CheckName.CO_PARTITIONED, False, f"the topics {', '.join(topics)} have different partition counts")
    owners = {name: owners_of(recorded, places[name]) for name in topics}
    differing = [each for name in topics[1:] for each in differing_owners(topics[0], name, owners)]
    # Where a number is unknown, an owner of only one of the two proves nothing: the other may not exist.
    proved = [text for text, are_both_owned in differing if are_both_owned or not unknown]
    if differing and not proved:
        return Check(CheckName.CO_PARTITIONED, None, f"partition counts of {', '.join(unknown)} are unknown")
    return check(CheckName.CO_PARTITIONED, proved[:MOST_NAMED])


def differing_owners(
    first: str, other: str, owners: Mapping[str, Mapping[int, set[int]]]
) -> Iterator[tuple[str, bool]]:
    """Partitions of two topics that have not the same owners, each with whether both have any."""
    for partition in sorted(owners[first].keys() | owners[other].keys()):
        one, two = owners[first].get(partition), owners[other].get(partition)
        if one != two:
            yield f"{first}-{partition} and {other}-{partition} have different owners", bool(one and two)


def owners_of(recorded: RecordedAssignment, topic: int) -> dict[int, set[int]]:
    rows = recorded.rows.take(recorded.rows.topics == topic)
    owners: dict[int, set[int]] = {}
    for member, partition in zip(rows.members.tolist(), rows.partitions.tolist(), strict=True):
        owners.setdefault(partition, set()).add(member)
    return owners


def redundant(recorded: RecordedAssignment, wanted: int) -> Check:
    """This many members have each partition."""
    all_ = assignments_of([recorded])
    if (recorded.counts[np.flatnonzero(all_.is_subscribed)] == UNKNOWN).any():
        return Check(CheckName.REDUNDANT, None, "partition counts of topics are unknown")
    wrong = np.flatnonzero((all_.times_owned != wanted) & all_.is_subscribed[all_.topic_of_place])
    if not len(wrong):
        return check(CheckName.REDUNDANT, [])
    least, most = int(all_.times_owned[wrong].min()), int(all_.times_owned[wrong].max())
    seen = f"{least} to {most} do" if least < most else f"{least} does" if least == 1 else f"{least} do"
    places = partition_list(places_of(recorded, all_, wrong))
    return check(CheckName.REDUNDANT, [f"{places}: {wanted} members must own each, {seen}"])


def rack_local(recorded: RecordedAssignment, member_racks: Sequence[str | None], racks: Racks) -> Check:
    """Members that name their rack have only partitions with a replica there."""
    if not any(member_racks):
        return Check(CheckName.RACK_LOCAL, None, "no member names its rack")
    owned = [
        (recorded.topics[topic], partition, member_racks[member]) for member, topic, partition in tuples(recorded.rows)
    ]
    remote = {
        (topic, partition)
        for topic, partition, rack in owned
        if rack and has_racks(racks, topic, partition) and rack not in racks[topic][partition]
    }
    if remote:
        return check(CheckName.RACK_LOCAL, [f"no replica in the member's rack: {partition_list(remote)}"])
    unknown = sorted({topic for topic, partition, rack in owned if rack and not has_racks(racks, topic, partition)})
    if unknown:
        return Check(CheckName.RACK_LOCAL, None, f"racks of the replicas of {', '.join(unknown)} are not known")
    return check(CheckName.RACK_LOCAL, [])


def has_racks(racks: Racks, topic: str, partition: int) -> bool:
    """A snapshot may be older than a partition."""
    return topic in racks and 0 <= partition < len(racks[topic]) and bool(racks[topic][partition])


# -- names


def partition_texts(what: str, recorded: RecordedAssignment, chosen: Flags) -> Iterator[str]:
    if chosen.any():
        rows = recorded.rows.take(chosen)
        pairs = zip(rows.topics.tolist(), rows.partitions.tolist(), strict=True)
        yield f"{what}: {partition_list(sorted({(recorded.topics[topic], partition) for topic, partition in pairs}))}"


def places_of(recorded: RecordedAssignment, all_: Assignments, places: NDArray[np.integer]) -> list[Partition]:
    """Names of partitions, given by their places in a single assignment."""
    topics = all_.topic_of_place[places]
    partitions = places - all_.starts[topics]
    return [(recorded.topics[t], p) for t, p in zip(topics.tolist(), partitions.tolist(), strict=True)]


def partition_list(partitions: Collection[Partition]) -> str:
    """The first few by name, and the number of the others."""
    shown = ", ".join(f"{topic}-{partition}" for topic, partition in islice(sorted(partitions), MOST_NAMED))
    more = len(partitions) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
