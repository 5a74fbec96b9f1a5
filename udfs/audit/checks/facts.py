"""Facts for recomputing assignments that are not in the records: topics from snapshots, the broker's default assignor,
rules. And which inputs of an assignment are confirmed by them: only confirmed inputs can prove that a recorded
assignment is wrong, or that it is right.

The log itself confirms numbers of partitions: by the group's record of its topics (type 4, before 4.1) or by the hash
over them (from 4.1). Otherwise snapshots do: one before the record and one after it that agree. Since topics only grow,
one after the record is enough if earlier records already name its last partition. One snapshot alone is a candidate,
not a proof. Records of all groups count: a snapshot is stale, and left out, if a record of its time or before names
more partitions. So snapshots that agree with each other agree with every record between them too.

What leaders of classic groups assign is no such record where snapshots before and after show the same topic with fewer
partitions: a leader's own metadata may be old, and then nothing but assignments names these partitions.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.words.assignments import Verdict
from udfs.assignors.groups import Numbers, Rows
from udfs.assignors.questions import Topic
from udfs.sentences.counts import counted

Flags = NDArray[np.bool_]
# The number of partitions of the topic is unknown. 0 means that the topic does not exist.
UNKNOWN: Final = -1
# What a comparison with an assignor's answer may show, where the record equals the answer.
REPRODUCED: Final = (Verdict.SAME, Verdict.SAME_MEMBERS_OTHER_ORDER)
# How many partitions a topic has is often known only by the highest one that records name: one garbage number would be
# an assignment of millions, computed once for every release. But every partition has an owner, or members that claim
# it, so records name most of what there is.
ALWAYS_BELIEVED: Final = 1_000
BELIEVED_FOR_EACH: Final = 100


def most_believed(num_named: int) -> int:
    """The most partitions that can be believed of topics of which records name so many partitions."""
    return ALWAYS_BELIEVED + BELIEVED_FOR_EACH * num_named


@dataclass(frozen=True)
class KnownTopic:
    """A topic as snapshots show it, from the first to the last snapshot that shows it like this (microseconds).

    `racks` has those of each partition's replicas; None: not captured.
    """

    topic: Topic
    first_time: int
    last_time: int
    # If the snapshots are stale: the number of partitions that records name up to then. 0: no record contradicts them.
    exceeded: int = 0
    # The same, but not counting what leaders of classic groups assigned: their own metadata may be old.
    proved: int = 0
    # The first record that names its last partition; None: there is none.
    whole_time: int | None = None
    # The number of partitions that records name at any time, also later ones, if it is larger. 0: none names more.
    beyond: int = 0


@dataclass(frozen=True)
class GroupRule:
    """Requirements from the settings, for groups whose whole id matches `pattern`."""

    pattern: str
    # Sets of topics: each member must have the same partitions of all of them.
    copartitioned: tuple[tuple[str, ...], ...] = ()
    # Number of members that must have each partition.
    redundancy: int = 1
    # Whether members with a rack may only have partitions with a replica there.
    is_rack_local: bool = False


def rules_of(group_id: str, rules: Sequence[GroupRule]) -> Sequence[GroupRule]:
    """All whose pattern matches: a group must meet every one of them."""
    return [rule for rule in rules if re.fullmatch(rule.pattern, group_id)] if rules else ()


@dataclass(frozen=True)
class Facts:
    # By name: each distinct combination of number, id and racks once, oldest first.
    topics: Mapping[str, Sequence[KnownTopic]] = field(default_factory=dict)
    # First entry of the broker's group.consumer.assignors; None: unknown, or a class whose name is unknown.
    default_assignor: str | None = None
    # Types of groups (consumer, share) for which the brokers' settings list a class that is not Kafka's; and those for
    # which it is the first entry.
    custom_listed: frozenset[str] = frozenset()
    custom_default: frozenset[str] = frozenset()
    # The broker's group.consumer.migration.policy, in lower case; None: unknown.
    migration_policy: str | None = None
    rules: tuple[GroupRule, ...] = ()
    # Times of snapshots that list all topics, in order: a topic that is missing in one did not exist then.
    whole_times: tuple[int, ...] = ()
    # For topics in no snapshot, the first record that names a partition.
    named_times: Mapping[str, int] = field(default_factory=dict)
    # Names of topics by id, from the log.
    logged_names: Mapping[str, str] = field(default_factory=dict)
    # Names of topics that were deleted and not recreated: an assignor would leave them out now.
    deleted_topics: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of topics, by id."""
        of_snapshots = {
            each.topic.topic_id: name
            for name, known in self.topics.items()
            for each in known
            if each.topic.topic_id is not None
        }
        return {**self.logged_names, **of_snapshots}


# -- what confirms inputs


class ByLog(Enum):
    """What the group's own records say about the topics that an assignment is recomputed with."""

    LISTED = auto()
    HASH_MATCHES = auto()
    # Racks are part of the hash. Without them a hash that differs proves nothing.
    HASH_DIFFERS = auto()
    NOTHING = auto()


class UsedTopic(NamedTuple):
    """A topic as used to recompute an assignment; `partitions` 0: no topic has the name. `least` is one more than the
    highest partition that records name up to then."""

    name: str
    partitions: int
    least: int


@dataclass(frozen=True)
class Confirmation:
    """`why`: why some input is not confirmed; None: all are. `unconfirmed`: these topics. `confirmed`: by topic, the
    confirmed number where a leader used another one: its metadata were stale. A coordinator's are the cluster's own: no
    snapshot contradicts them."""

    why: str | None = None
    unconfirmed: frozenset[str] = frozenset()
    confirmed: Mapping[str, int] = field(default_factory=dict)


ALL_CONFIRMED: Final = Confirmation()


def confirmation(
    by_log: ByLog, topics: Iterable[UsedTopic], time: int | None, facts: Facts, *, is_by_leader: bool = False
) -> Confirmation:
    """`time`: of the assignment's record, in microseconds. `is_by_leader`: the records that name partitions are those
    that a client's leader made."""
    if by_log in (ByLog.LISTED, ByLog.HASH_MATCHES):
        return ALL_CONFIRMED
    if by_log == ByLog.HASH_DIFFERS:
        why = "the metadata hash in the group's record does not match the known topics"
        return Confirmation(why, frozenset(each.name for each in topics))
    reasons: dict[str, str] = {}
    confirmed: dict[str, int] = {}
    for name, used, least in topics:
        count = confirmed_count(name, least, time, facts, is_by_leader=is_by_leader)
        if isinstance(count, str):
            reasons[name] = "the record has no time" if time is None else f"{name}: {count}"
        elif count != used:
            reasons[name] = f"{name}: computed with {counted(used, 'partition')}, but the topic had {count}"
            if is_by_leader:
                confirmed[name] = count
    if not reasons:
        return ALL_CONFIRMED
    return Confirmation(next(iter(reasons.values())), frozenset(reasons.keys() - confirmed.keys()), confirmed)


def proved(compared: Verdict, of: Confirmation) -> Verdict:
    """What a comparison with an assignor's answer proves. What differs for inputs that nothing confirms accuses nobody,
    and what equals for such inputs acquits nobody."""
    if of.why is None:
        return compared
    if compared not in REPRODUCED:
        return Verdict.NOT_RECOMPUTABLE
    return Verdict.STALE_INPUT if of.confirmed else Verdict.SAME_UNCONFIRMED


def proved_numbers(names: Sequence[str], used: Numbers, is_subscribed: Flags, of: Confirmation) -> Numbers:
    """Numbers of partitions for counting what is without an owner, or does not exist, where the record equals the
    answer: the confirmed ones, not those of the stale input. UNKNOWN for a topic that nothing confirms and of which
    nobody has a partition: it may not exist, or the leader may have left it out."""
    numbers = used.copy()
    for at, name in enumerate(names) if of.why is not None else ():
        if name in of.confirmed:
            numbers[at] = of.confirmed[name]
        elif name in of.unconfirmed and is_subscribed[at] and not used[at]:
            numbers[at] = UNKNOWN
    return numbers


def confirmed_count(name: str, least: int, time: int | None, facts: Facts, *, is_by_leader: bool = False) -> int | str:
    """The number of partitions of a topic at that time, or why it is not confirmed."""
    if time is None:
        return "the record has no time"
    count = by_all_records(name, least, time, facts)
    around = shown_around(name, time, facts) if is_by_leader and isinstance(count, str) else None
    return count if around is None else around


def by_all_records(name: str, least: int, time: int, facts: Facts) -> int | str:
    every = facts.topics.get(name, ())
    known = [each for each in every if not each.exceeded]
    before, after = neighbours(known, time)
    if before is None and after is None:
        return contradiction(every[0], every[0].exceeded) if every else absent(name, least, time, facts)
    if after is not None and is_reached(after, least, time) and not may_be_before(before, after, least):
        return after.topic.partitions
    stale = [each for each in (before, after) if each is not None and each.topic.partitions < least]
    if stale and not are_of_another(stale, known, least):
        return contradiction(stale[0], least)
    if before is None or after is None:
        for each in every:
            if each.exceeded and (each.first_time <= time if before is None else each.last_time > time):
                return contradiction(each, each.exceeded)
        return f"only snapshots {'after' if before is None else 'before'} the record contain the topic"
    if are_two(before, after):
        return "it was deleted and made anew between the snapshots before and after the record"
    if has_gone_between(before, after, facts):
        return "it was gone for a while between the snapshots before and after the record"
    # Racks of replicas matter to few assignors. They are compared where they matter.
    had, has = before.topic.partitions, after.topic.partitions
    return had if had == has else f"{counted(had, 'partition')} in the snapshot before, {has} in the one after"


def shown_around(name: str, time: int, facts: Facts) -> int | None:
    """The number of partitions that snapshots before and after show of one and the same topic, by its id, and that
    only leaders of classic groups contradict, if anything does."""
    before, after = neighbours([each for each in facts.topics.get(name, ()) if not each.proved], time)
    if before is None or after is None or before.topic.topic_id is None:
        return None
    is_one = before.topic.topic_id == after.topic.topic_id and before.topic.partitions == after.topic.partitions
    return before.topic.partitions if is_one and not has_gone_between(before, after, facts) else None


def neighbours(known: Sequence[KnownTopic], time: int) -> tuple[KnownTopic | None, KnownTopic | None]:
    """The topic in the newest snapshot up to the time, and in the next one."""
    after = bisect_right(known, time, key=lambda each: each.first_time)
    before = known[after - 1] if after else None
    if before is not None and time <= before.last_time:
        return before, before
    return before, known[after] if after < len(known) else None


def is_reached(after: KnownTopic, least: int, time: int) -> bool:
    """Whether records up to the time name its last partition, and the group's own records name none beyond."""
    is_named = after.whole_time is not None and after.whole_time <= time
    return after.topic.partitions == least or (is_named and least < after.topic.partitions)


def may_be_before(before: KnownTopic | None, after: KnownTopic, least: int) -> bool:
    """Whether the partitions in the records may be those of the topic in the snapshot before, and no longer or not yet
    those of the one after: a topic that is made anew may have as many as the one that was deleted, and in between there
    is none."""
    if before is None:
        return False
    had = before.topic.partitions
    return had > after.topic.partitions or (had >= least and are_two(before, after))


def are_two(before: KnownTopic, after: KnownTopic) -> bool:
    return len({before.topic.topic_id, after.topic.topic_id} - {None}) == 2


def has_gone_between(before: KnownTopic, after: KnownTopic, facts: Facts) -> bool:
    """Whether a complete list of topics between them lacks it."""
    return before is not after and any(before.last_time < time < after.first_time for time in facts.whole_times)


def contradiction(stale: KnownTopic, least: int) -> str:
    return f"records name partition {least - 1}, a snapshot has {counted(stale.topic.partitions, 'partition')}"


def are_of_another(stale: Sequence[KnownTopic], known: Sequence[KnownTopic], least: int) -> bool:
    """Whether the partitions in the records belong to an earlier topic of the same name."""
    ids = {each.topic.topic_id for each in stale}
    return None not in ids and any(
        each.topic.topic_id not in (None, *ids)
        and each.topic.partitions >= least
        and each.last_time < min(other.first_time for other in stale)
        for each in known
    )


def absent(name: str, least: int, time: int, facts: Facts) -> int | str:
    """A topic in no snapshot. It did not exist if complete lists of topics before and after lack it, and no record up
    to the later one names it."""
    times, named = facts.whole_times, facts.named_times.get(name)
    if least or not times or not times[0] <= time <= times[-1]:
        return "neither records nor snapshots show how many partitions it had"
    is_named = named is not None and named <= times[bisect_left(times, time)]
    return "records name it, and no snapshot has it" if is_named else 0


def moments(facts: Facts) -> Sequence[int]:
    """All times, in order, that matter to what is confirmed: between two of them that does not change with time."""
    known = [each for topics in facts.topics.values() for each in topics]
    times = {time for each in known for time in (each.first_time, each.last_time, each.whole_time) if time is not None}
    return sorted(times.union(facts.whole_times))


def are_whole(rows: Rows, counts: Numbers, is_subscribed: Flags) -> Flags:
    """By topic, whether the rows do not contradict its number of partitions: each partition has an owner if anybody
    subscribes, and none beyond has one. For other topics, nothing is said that depends on an unconfirmed number."""
    partitions = rows.partitions.astype(np.int64)
    beyond = np.zeros(len(counts), np.bool_)
    beyond[rows.topics[(partitions < 0) | (partitions >= counts[rows.topics])]] = True
    keys = np.unique(rows.topics.astype(np.int64) << 32 | (partitions & 0xFFFFFFFF))
    num_owned = np.bincount(keys >> 32, minlength=len(counts))
    return np.asarray(~beyond & ((num_owned == counts) | ~is_subscribed), dtype=np.bool_)
