"""A coordinator that lives through random events and writes what a real one writes for each: for logs that can be."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from tests.builders.groups.modern_log import (
    Log,
    Written,
    about,
    completed,
    dead,
    epoch,
    owns,
    pattern,
    target,
)
from udfs.groups.readers.modern_values import Current, Target, Topology
from udfs.groups.readers.recorded_lists import Tasks
from udfs.groups.readers.records import Record
from udfs.log.gaps import Gaps
from udfs.topics.partition_codes import PARTITION_MASK

# By kind of group, the types that stand for those of consumer groups.
TYPES = {
    "consumer": {each: each for each in (3, 4, 5, 6, 7, 8, 16)},
    "share": {3: 11, 4: 15, 5: 10, 6: 12, 7: 13, 8: 14},
    "streams": {3: 17, 4: 23, 5: 19, 6: 20, 7: 21, 8: 22},
}
ROLES = ("active", "standby", "warmup")
SUBTOPOLOGY = "0"
STABLE, UNREVOKED, UNRELEASED = "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"


TOPOLOGY = Topology(0, {SUBTOPOLOGY: ("orders",)})


def as_tasks(value: Any) -> Any:
    """The partitions that a value names, as active tasks, and others as standby tasks."""
    if isinstance(value, Target):
        return Target(tasks_of(value.assigned[None]))
    if isinstance(value, Current):
        state = (value.state or "").replace("PARTITIONS", "TASKS")
        return value._replace(
            state=state, assigned=tasks_of(value.assigned[None]), pending=tasks_of(value.pending[None])
        )
    return value


def tasks_of(share: Any) -> dict[str | None, Tasks]:
    numbers = {tp & PARTITION_MASK for tp in share.tps}
    shares = {"active": numbers, "standby": {each + 100 for each in numbers}}
    return {role: Tasks((SUBTOPOLOGY, each) for each in shares.get(role, ())) for role in ROLES}


class Member:
    def __init__(self, instance: str | None) -> None:
        self.instance = instance
        self.topics = ("orders",)
        self.epoch = 0
        self.state = STABLE
        self.assigned: set[int] = set()
        self.pending: set[int] = set()
        self.target: set[int] = set()


class Coordinator:
    def __init__(self, rng: np.random.Generator, kind: str = "consumer") -> None:
        self.rng, self.kind, self.is_share = rng, kind, kind == "share"
        self.log, self.time, self.ids = Log(), 0, count()
        self.num_partitions = int(rng.integers(1, 8))
        self.forget()

    def forget(self) -> None:
        self.epoch = self.target_epoch = 1
        self.members: dict[str, Member] = {}

    def live(self, steps: int) -> Log:
        events: list[Callable[[], list[Written]]] = [
            self.join, self.join, self.leave, self.away, self.come_back, self.subscribe, self.topics_change,
            self.resolve, self.delete, *[self.heartbeat] * 12,
        ]  # fmt: skip
        for _ in range(steps):
            written = events[int(self.rng.integers(len(events)))]()
            if written:
                # Clocks of brokers step back now and then; some operations share a moment.
                self.time += int(self.rng.choice([0, 1, 40, 900, -3]))
                self.log.write(self.time, *map(self.typed, written))
        return self.log

    def typed(self, written: Written) -> Written:
        record_type, member, value = written
        return TYPES[self.kind][record_type], member, as_tasks(value) if self.kind == "streams" else value

    def pick(self, *, away: bool = False) -> str | None:
        result = [each for each, member in self.members.items() if (member.epoch == -2) == away]
        return str(self.rng.choice(result)) if result else None

    # -- events

    def join(self) -> list[Written]:
        if len(self.members) > 5:
            return []
        member_id = f"m{next(self.ids)}"
        instance = f"i{member_id}" if self.rng.random() < 0.4 and not self.is_share else None
        self.members[member_id] = Member(instance)
        opening = [(4, None, TOPOLOGY)] if self.kind == "streams" and self.epoch == 1 else []
        return [self.about(member_id), *opening, *self.bump(), *self.maybe_assign(), *self.first(member_id)]

    def first(self, member_id: str) -> list[Written]:
        """A member joins at the epoch of the newest target, whatever the group's."""
        return self.reconcile(member_id, is_first=True) or [self.owned(member_id, previous=0)]

    def leave(self) -> list[Written]:
        member_id = self.pick(away=bool(self.rng.random() < 0.3))
        if member_id is None:
            return []
        del self.members[member_id]
        return [dead(8, member_id), dead(7, member_id), dead(5, member_id), *self.bump()]

    def away(self) -> list[Written]:
        member_id = self.pick()
        if member_id is None or self.members[member_id].instance is None:
            return []
        member = self.members[member_id]
        member.epoch, member.state, member.pending = -2, STABLE, set()
        return [self.owned(member_id)]

    def come_back(self) -> list[Written]:
        old = self.pick(away=True)
        if old is None:
            return []
        member = self.members.pop(old)
        new = f"m{next(self.ids)}"
        self.members[new] = member
        member.epoch = 0
        written = [dead(8, old), dead(7, old), dead(5, old), self.about(new), self.targeted(new), self.owned(new)]
        if self.rng.random() < 0.3:
            member.topics = ("orders", "payments") if member.topics == ("orders",) else ("orders",)
            written += [self.about(new), *self.bump(), *self.maybe_assign()]
        return written + self.first(new)

    def subscribe(self) -> list[Written]:
        member_id = self.pick()
        if member_id is None:
            return []
        member = self.members[member_id]
        member.topics = ("orders", "payments") if member.topics == ("orders",) else ("orders",)
        return [self.about(member_id), *self.bump(), *self.maybe_assign(), *self.reconcile(member_id)]

    def topics_change(self) -> list[Written]:
        if not self.members:
            return []
        self.num_partitions += 1
        return [*self.bump(), *self.maybe_assign()]

    def resolve(self) -> list[Written]:
        if not self.members or self.kind != "consumer":
            return []
        return [pattern("o.*", *(("orders",) if self.rng.random() < 0.7 else ("orders", "other")))]

    def delete(self) -> list[Written]:
        if self.members or self.epoch == 1:
            return []
        self.forget()
        return [dead(6), dead(4), dead(3)]

    def heartbeat(self) -> list[Written]:
        """Also when a target waits: then the first heartbeat after the interval brings it."""
        member_id = self.pick()
        if member_id is None:
            return []
        written = self.assign() if self.target_epoch < self.epoch else []
        return written + self.reconcile(member_id)

    # -- what they write

    def about(self, member_id: str) -> Written:
        member = self.members[member_id]
        return about(member_id, instance=member.instance, topics=member.topics)

    def bump(self) -> list[Written]:
        self.epoch += 1
        return [epoch(self.epoch, self.num_partitions if self.members else None, topology=TOPOLOGY.epoch)]

    def maybe_assign(self) -> list[Written]:
        return self.assign() if self.rng.random() < 0.6 else []

    def assign(self) -> list[Written]:
        """Partitions dealt out anew among those subscribed; only targets that changed are written."""
        hands: dict[str, set[int]] = {member_id: set() for member_id in self.members}
        order = [str(each) for each in self.rng.permutation(list(self.members))]
        for partition in range(self.num_partitions):
            takers = order if self.is_share and self.rng.random() < 0.2 else [order[partition % len(order)]]
            for member_id in takers:
                hands[member_id].add(partition)
        written = []
        for member_id, hand in hands.items():
            if hand != self.members[member_id].target or self.members[member_id].epoch == 0:
                self.members[member_id].target = hand
                written.append(self.targeted(member_id))
        self.target_epoch = self.epoch
        return [*written, completed(self.epoch)]

    def targeted(self, member_id: str) -> Written:
        return target(member_id, *self.members[member_id].target)

    def owned(self, member_id: str, previous: int | None = None) -> Written:
        member = self.members[member_id]
        return owns(member_id, member.epoch, *member.assigned, revoking=member.pending, state=member.state,
                    previous=previous)  # fmt: skip

    def reconcile(self, member_id: str, *, is_first: bool = False) -> list[Written]:
        """One step to the target, as a heartbeat makes it."""
        member = self.members[member_id]
        before = (member.epoch, member.state, frozenset(member.assigned), frozenset(member.pending))
        if self.is_share:
            member.epoch, member.assigned = self.target_epoch, set(member.target)
        elif member.state in (UNREVOKED, UNRELEASED) or member.epoch != self.target_epoch:
            self.step(member_id, member)
        if before == (member.epoch, member.state, frozenset(member.assigned), frozenset(member.pending)):
            return []
        return [self.owned(member_id, previous=0 if is_first else before[0])]

    def step(self, member_id: str, member: Member) -> None:
        member.pending = set()
        kept = member.assigned & member.target
        revoked = member.assigned - kept
        if revoked:
            member.state, member.assigned, member.pending = UNREVOKED, kept, revoked
            return
        others = {
            tp for each, other in self.members.items() if each != member_id for tp in other.assigned | other.pending
        }
        wanted = member.target - kept
        member.assigned = kept | (wanted - others)
        member.state = UNRELEASED if wanted & others else STABLE
        member.epoch = self.target_epoch


def cleaned(log: Log, rng: np.random.Generator, until: int | None = None) -> tuple[list[Record], Gaps]:
    """As a cleaner leaves the log: before some offset only the newest record of each key, and not every tombstone."""
    until = int(rng.integers(0, log.offset + 1)) if until is None else until
    newest = {(record.type, record.member): record.offset for record in log.records if record.offset < until}
    kept = [
        record
        for record in log.records
        if record.offset >= until
        or (newest[record.type, record.member] == record.offset and (record.value is not None or rng.random() < 0.5))
    ]
    gone = sorted({record.offset for record in log.records} - {record.offset for record in kept})
    return kept, Gaps(gone, gone)
