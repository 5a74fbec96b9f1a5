"""Logs that no coordinator writes: records of all types for one group, with few ids and small numbers, so that they
contradict each other all the time. Every value is one that the decoder can give."""

import random
from typing import Any, Final

from schemas.records.registry import GROUP_TYPES
from tests.builders.groups.modern_log import NAMED, ORDERS, PAYMENTS
from udfs.assignors.questions.specs import Topic
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue
from udfs.groups.readers.modern_values import About, Current, GroupEpoch, Pattern, Target, TargetEpoch, Topics, Topology
from udfs.groups.readers.recorded_lists import Partitions, Tasks
from udfs.groups.readers.records import Record

MEMBERS: Final = ("a", "b", "c", "")
INSTANCES: Final = (None, None, "i", "j")
EPOCHS: Final = (-(1 << 31), -2, -1, 0, 1, 2, 3, 4, (1 << 31) - 1)
TIMES: Final = (None, None, -(1 << 62), -1, 0)
TEXTS: Final = (None, "", "range", "uniform", "orders")
STATES: Final = (None, "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS", "UNREVOKED_TASKS", "UNKNOWN")
ROLES: Final = ("active", "standby", "warmup")
TIMEOUTS: Final = (None, -1, 0, 1, 45_000, (1 << 31) - 1)
GROUP_TYPES_OF_RECORDS: Final = sorted(set(GROUP_TYPES.values()))


class ImpossibleLog:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        # Mostly records of two group types: a group that changes its type with every record never gets far.
        self.types = self.chance.sample(GROUP_TYPES_OF_RECORDS, self.chance.choice((1, 2, 2, 4)))

    def records(self, count: int) -> list[Record]:
        result: list[Record] = []
        offset, batch, time = self.chance.choice((0, 1, 7)), 0, 1_000
        for _ in range(count):
            if not result or self.chance.random() < 0.4:
                batch, time = offset, self.next_time(time)
            record_type = self.chance.choice([each for each, of in GROUP_TYPES.items() if of in self.types])
            member = self.chance.choice(MEMBERS) if record_type not in WITHOUT_MEMBER else None
            is_dead = self.chance.random() < 0.25
            value = None if is_dead else self.value(record_type)
            told_time = None if self.chance.random() < 0.02 else time
            result.append(Record(offset, told_time, batch, self.chance.choice((-1, 0, 1)), record_type, member, value))
            offset += self.chance.choice((1, 1, 1, 2, 5))
        return result

    def next_time(self, time: int) -> int:
        return self.chance.choice((time, time + 1, time + 50_000_000, time - 5_000_000, 1 << 53))

    def any_of(self, values: Any) -> Any:
        return self.chance.choice(values)

    def value(self, record_type: int) -> Any:
        if record_type in (5, 10, 19):
            return self.about(is_streams=record_type == 19)
        return {
            2: self.classic,
            **dict.fromkeys((3, 11, 17), self.group_epoch),
            **dict.fromkeys((4, 9, 15, 18), self.topics),
            **dict.fromkeys((6, 12, 20), lambda: TargetEpoch(self.any_of(EPOCHS))),
            **dict.fromkeys((7, 13), lambda: Target(self.partitions())),
            21: lambda: Target(self.tasks()),
            **dict.fromkeys((8, 14), lambda: self.current(self.partitions(), self.partitions())),
            22: lambda: self.current(self.tasks(), self.tasks()),
            16: lambda: Pattern(self.names()),
            23: lambda: Topology(self.any_of(EPOCHS), {each: self.names() for each in self.some(("0", "1", ""))}),
        }[record_type]()

    def some(self, values: Any) -> list[Any]:
        return [each for each in values if self.chance.random() < 0.5]

    def names(self) -> tuple[str, ...]:
        return tuple(self.some(("orders", "payments", "repartition", "")))

    def tps(self) -> list[int]:
        topics = (ORDERS, PAYMENTS, NAMED["orders"])
        numbers = (0, 1, 2, (1 << 31) - 1)
        return [self.any_of(topics) | self.any_of(numbers) for _ in range(self.any_of(range(4)))]

    def partitions(self) -> dict[str | None, Any]:
        return {None: Partitions.of(self.tps())}

    def tasks(self) -> dict[str | None, Any]:
        def task() -> tuple[str, int]:
            return self.any_of(("0", "1", "")), self.any_of((0, 1))

        return {role: Tasks(task() for _ in range(self.any_of((0, 1, 2)))) for role in ROLES}

    def group_epoch(self) -> GroupEpoch:
        configs = self.any_of((None, (), (("num.standby.replicas", "1"),)))
        return GroupEpoch(self.any_of(EPOCHS), self.any_of((None, 0, 7)), self.any_of((None, -1, 0, 1)), configs)

    def topics(self) -> Topics:
        return Topics(tuple(Topic(name, self.any_of((0, 1, 3))) for name in self.names()))

    def current(self, assigned: Any, pending: Any) -> Current:
        return Current(self.any_of(EPOCHS), self.any_of(EPOCHS), self.any_of(STATES), assigned, pending)

    def about(self, *, is_streams: bool) -> About:
        return About(
            self.any_of(INSTANCES), self.any_of(TEXTS), self.any_of(TEXTS), self.any_of(TEXTS),
            self.any_of(TIMEOUTS), None if is_streams or self.chance.random() < 0.1 else self.names(),
            self.any_of((None, "o.*")), self.any_of((None, "range", "uniform")), self.any_of((False, True)),
            self.any_of((None, -1, 0, 1)), self.any_of(TIMEOUTS),
        )  # fmt: skip

    def classic(self) -> ClassicValue:
        members = tuple(self.classic_member(each) for each in self.some((*MEMBERS, "a")))
        times = (*TIMES, 500, 2_000, 1 << 53)
        return ClassicValue(
            self.any_of(("consumer", "connect", "")), self.any_of(EPOCHS), self.any_of(TEXTS), self.any_of(MEMBERS),
            self.any_of(times), members,
        )  # fmt: skip

    def classic_member(self, member_id: str) -> ClassicMember:
        def own() -> frozenset[int] | None:
            own = frozenset(self.tps())
            return self.any_of((None, frozenset(), own, own))

        return ClassicMember(
            member_id, self.any_of(INSTANCES), "c", "/h", self.any_of(TIMEOUTS), self.any_of(TIMEOUTS[1:]),
            self.any_of((None, (), ("orders",))), own(), self.any_of((None, -1, 3)), None, own(),
        )  # fmt: skip


WITHOUT_MEMBER: Final = frozenset({2, 3, 4, 6, 9, 11, 12, 15, 17, 18, 20, 23})
