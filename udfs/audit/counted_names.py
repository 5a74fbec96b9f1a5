"""Which name each topic id of a target has, by numbers of partitions: brokers take commits by name only of partitions
that exist, so a topic has no fewer than were committed. The names are paired with the ids in every way that fits. What
all these pairings have in common is likely.

Two numbers are compared that may be of different times, so only commits count that were possible while the target was
in force, and not shortly before it ended: a topic that has just grown may be committed by another group before this
group has a new target.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import numbers
from udfs.arrays.texts import listed

# Names that are tried for an id, over all pairings of one target.
MOST_TRIED = 40_320
# Members of consumer groups ask at least this often for a new target. It is the default of the brokers' setting
# group.consumer.max.heartbeat.interval.ms.
NOTICED_WITHIN = 15_000_000


@dataclass(frozen=True)
class Reign:
    """While a target is in force, in microseconds. `until` is None if nothing has ended it."""

    since: int
    until: int | None = None


@dataclass
class CommittedPartitions:
    """Partitions that were committed by name alone, each with the times of its first and its last commit."""

    # By name: partitions, the highest first, with both times in columns.
    by_name: Mapping[str, np.ndarray] = field(default_factory=dict)

    def least(self, name: str, during: Reign) -> int:
        """How many partitions the topic had at least; 0 if nothing shows that it existed."""
        if (of_topic := self.by_name.get(name)) is None:
            return 0
        partition, first, last = of_topic
        there = last >= during.since
        if during.until is not None:
            there &= first <= during.until - NOTICED_WITHIN
        at = int(np.argmax(there))
        return int(partition[at]) + 1 if there[at] else 0


def committed_partitions(rows: pa.Table) -> CommittedPartitions:
    """`rows`: topic, partition, first_time and last_time, in any order."""
    by_name: dict[str, list[int]] = {}
    for row, name in enumerate(listed(rows["topic"])):
        by_name.setdefault(name, []).append(row)
    columns = np.array([numbers(rows[name]) for name in ("partition", "first_time", "last_time")])
    order = {name: sorted(of, key=lambda row: -columns[0, row]) for name, of in by_name.items()}
    return CommittedPartitions({name: columns[:, of] for name, of in order.items()})


@dataclass(frozen=True)
class CountedTarget:
    """`counts`: by id without a name, how many partitions it has; `possible`: the names that it may have. `least`: of
    each of these names, how many partitions it has at least."""

    counts: tuple[tuple[str, int], ...]
    possible: tuple[tuple[str, tuple[str, ...]], ...]
    least: tuple[tuple[str, int], ...]


def common_names(of: CountedTarget) -> dict[str, str] | None:
    """The names that ids have in all pairings; None: there is no pairing. Topics that exist are assigned as a whole, so
    each pairing has all names with commits."""
    found: dict[str, set[str]] = {topic_id: set() for topic_id, _ in of.counts}
    for pairing in pairings(of):
        if pairing is None:
            return {}
        for topic_id, name in pairing.items():
            found[topic_id].add(name)
        if all(len(names) > 1 for names in found.values()):
            return {}
    if not all(found.values()):
        return None
    return {topic_id: next(iter(names)) for topic_id, names in found.items() if len(names) == 1}


def pairings(of: CountedTarget) -> Iterator[dict[str, str] | None]:
    """None: there are too many to try."""
    least, possible = dict(of.least), dict(of.possible)
    fitting = {topic_id: [name for name in possible[topic_id] if least[name] <= count] for topic_id, count in of.counts}
    # Ids with few names first: most ways end soon.
    ids = sorted(fitting, key=lambda topic_id: (len(fitting[topic_id]), topic_id))
    needed = {name for name, number in least.items() if number}
    tried = 0

    def extended(pairing: dict[str, str]) -> Iterator[dict[str, str] | None]:
        nonlocal tried
        if len(pairing) == len(ids):
            if needed <= {*pairing.values()}:
                yield dict(pairing)
            return
        topic_id = ids[len(pairing)]
        for name in fitting[topic_id]:
            tried += 1
            if tried > MOST_TRIED:
                yield None
                return
            if name not in pairing.values():
                pairing[topic_id] = name
                yield from extended(pairing)
                del pairing[topic_id]

    return extended({})
