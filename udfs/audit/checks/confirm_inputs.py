"""Which inputs of an assignment are confirmed. Only confirmed inputs can prove that a recorded assignment is wrong.

The log itself confirms numbers of partitions: by the group's record of its topics (type 4, before 4.1) or by the hash
over them (from 4.1). Otherwise snapshots do: one before the record and one after it that agree. Since topics only grow,
one after the record is enough if earlier records already name its last partition. One snapshot alone is a candidate,
not a proof. Records of all groups count: a snapshot is stale, and left out, if a record of its time or before names
more partitions. So snapshots that agree with each other agree with every record between them too.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from udfs.assignors.questions.problems import Numbers, Rows
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.checks.recorded_assignments import Flags
from udfs.sentences.counts import counted


class ByLog(Enum):
    """What the group's own records say about the topics that an assignment is recomputed with."""

    LISTED = auto()
    HASH_MATCHES = auto()
    # Racks are part of the hash. Without them a hash that differs proves nothing.
    HASH_DIFFERS = auto()
    NOTHING = auto()


@dataclass(frozen=True)
class UsedTopic:
    """A topic as used to recompute an assignment; `partitions` 0: no topic has the name. `least` is one more than the
    highest partition that records name up to then."""

    name: str
    partitions: int
    least: int


class Count(NamedTuple):
    """The confirmed number of partitions of a topic, or why it is not confirmed."""

    partitions: int | None
    why: str | None = None


def why_unconfirmed(by_log: ByLog, topics: Iterable[UsedTopic], time: int | None, facts: Facts) -> str | None:
    """None: every input is confirmed. `time`: of the assignment's record, in microseconds."""
    if by_log in (ByLog.LISTED, ByLog.HASH_MATCHES):
        return None
    if by_log == ByLog.HASH_DIFFERS:
        return "the metadata hash in the group's record does not match the known topics"
    return next((why for each in topics if (why := why_not(each, time, facts)) is not None), None)


def why_not(used: UsedTopic, time: int | None, facts: Facts) -> str | None:
    count = confirmed_count(used.name, used.least, time, facts)
    if count.partitions in (None, used.partitions):
        return count.why
    taken = counted(used.partitions, "partition")
    return f"{used.name}: computed with {taken}, but the topic had {count.partitions}"


def confirmed_count(name: str, least: int, time: int | None, facts: Facts) -> Count:
    if time is None:
        return Count(None, "the record has no time")
    every = facts.topics.get(name, ())
    known = [each for each in every if not each.exceeded]
    before, after = neighbours(known, time)
    if before is None and after is None:
        return contradiction(name, every[0]) if every else absent(name, least, time, facts)
    if after is not None and is_reached(after, least, time) and not may_be_before(before, after, least):
        return Count(after.topic.partitions)
    stale = [each for each in (before, after) if each is not None and each.topic.partitions < least]
    if stale and not are_of_another(stale, known, least):
        return contradiction(name, replace(stale[0], exceeded=least))
    if before is None or after is None:
        wrong = [each for each in every if each.exceeded]
        missing = [each for each in wrong if (each.first_time <= time if before is None else each.last_time > time)]
        if missing:
            return contradiction(name, missing[0])
        side = "after" if before is None else "before"
        return Count(None, f"{name}: only snapshots {side} the record contain the topic")
    if are_two(before, after):
        return Count(None, f"{name}: it was deleted and made anew between the snapshots before and after the record")
    if has_gone_between(before, after, facts):
        return Count(None, f"{name}: it was gone for a while between the snapshots before and after the record")
    # Racks of replicas matter to few assignors. They are compared where they matter.
    if before.topic.partitions != after.topic.partitions:
        number = counted(before.topic.partitions, "partition")
        line = f"{number} in the snapshot before, {after.topic.partitions} in the one after"
        return Count(None, f"{name}: {line}")
    return Count(before.topic.partitions)


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


def contradiction(name: str, stale: KnownTopic) -> Count:
    number = counted(stale.topic.partitions, "partition")
    line = f"records name partition {stale.exceeded - 1}, a snapshot has {number}"
    return Count(None, f"{name}: {line}")


def are_of_another(stale: Sequence[KnownTopic], known: Sequence[KnownTopic], least: int) -> bool:
    """Whether the partitions in the records belong to an earlier topic of the same name."""
    ids = {each.topic.topic_id for each in stale}
    return None not in ids and any(
        each.topic.topic_id not in (None, *ids)
        and each.topic.partitions >= least
        and each.last_time < min(other.first_time for other in stale)
        for each in known
    )


def neighbours(known: Sequence[KnownTopic], time: int) -> tuple[KnownTopic | None, KnownTopic | None]:
    """The topic in the newest snapshot up to the time, and in the next one."""
    after = bisect_right(known, time, key=lambda each: each.first_time)
    before = known[after - 1] if after else None
    if before is not None and time <= before.last_time:
        return before, before
    return before, known[after] if after < len(known) else None


def has_gone_between(before: KnownTopic, after: KnownTopic, facts: Facts) -> bool:
    """Whether a complete list of topics between them lacks it."""
    return before is not after and any(before.last_time < time < after.first_time for time in facts.whole_times)


def absent(name: str, least: int, time: int, facts: Facts) -> Count:
    """A topic in no snapshot. It did not exist if complete lists of topics before and after lack it, and no record up
    to the later one names it."""
    times, named = facts.whole_times, facts.named_times.get(name)
    if not least and times and times[0] <= time <= times[-1]:
        if named is not None and named <= times[bisect_left(times, time)]:
            return Count(None, f"{name}: records name it, and no snapshot has it")
        return Count(0)
    return Count(None, f"{name}: neither records nor snapshots show how many partitions it had")


def are_whole(rows: Rows, counts: Numbers, is_subscribed: Flags) -> Flags:
    """By topic, whether the rows do not contradict its number of partitions: each partition has an owner if anybody
    subscribes, and none beyond has one. For other topics, nothing is said that depends on an unconfirmed number."""
    partitions = rows.partitions.astype(np.int64)
    beyond = np.zeros(len(counts), np.bool_)
    beyond[rows.topics[(partitions < 0) | (partitions >= counts[rows.topics])]] = True
    keys = np.unique(rows.topics.astype(np.int64) << 32 | (partitions & 0xFFFFFFFF))
    num_owned = np.bincount(keys >> 32, minlength=len(counts))
    return np.asarray(~beyond & ((num_owned == counts) | ~is_subscribed), dtype=np.bool_)
