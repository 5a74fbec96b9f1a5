"""Logs of consumer, share and streams groups that no coordinator writes, as decoded tables: records of all types for
one group, with few ids and small numbers, so that they contradict each other all the time."""

import random
from typing import Any, Final

from tests.builders.groups.target_log import TargetLog, topic_id

MEMBERS: Final = ("a", "b", "c", "")
TOPICS: Final = ("orders", "payments", "")
EPOCHS: Final = (-(1 << 31), -2, -1, 0, 1, 2, 3, 4, 5, (1 << 31) - 1)
NUMBERS: Final = (0, 1, 2, 3, 5, -1, -(1 << 31), 150_000, 250_000, (1 << 31) - 1)
RACKS: Final = ((), ("r1",), ("r1", "r2"))
GROUP_TYPES: Final = ("consumer", "share", "streams")


class ImpossibleTargets:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.types = self.chance.sample(GROUP_TYPES, self.chance.choice((1, 1, 2, 3)))
        # Else most logs would end at the first partition that no topic has.
        self.numbers = NUMBERS[: self.chance.choice((5, 5, 5, 7, 9, 10))]

    def log(self, count: int) -> TargetLog:
        log, time = TargetLog(), 1_000
        while count > 0:
            log.group_type = self.any_of(self.types)
            size = self.any_of((1, 2, 4, 8))
            log.write(time, *(self.record(log.group_type) for _ in range(size)))
            if self.chance.random() < 0.2:
                log.offset += self.any_of((1, 3))
            time += self.any_of((0, 1, 60_000, -5_000))
            count -= size
        return log

    def any_of(self, values: Any) -> Any:
        return self.chance.choice(values)

    def record(self, group_type: str) -> tuple[str, dict[str, Any]]:
        table = self.any_of(TABLES)
        if table in ("streams_group_topologies", "group_regular_expressions") and group_type == "share":
            table = "group_metadata"
        key = {"member_id": self.any_of(MEMBERS)} if table in OF_MEMBERS else {}
        if table == "group_regular_expressions":
            key = {"regular_expression": self.any_of(("o.*", ""))}
        if self.chance.random() < 0.15:
            return table, {**key, "is_tombstone": True}
        return table, {**key, **getattr(self, table)()}

    def names(self) -> list[str]:
        return sorted(each for each in TOPICS if self.chance.random() < 0.6)

    def of_ids(self) -> list[dict[str, Any]]:
        names = self.chance.choices(TOPICS, k=self.any_of((0, 1, 2)))
        return [{"topic_id": topic_id(name), "partitions": self.partitions()} for name in names]

    def partitions(self) -> list[int]:
        return self.chance.choices(self.numbers, k=self.any_of((0, 1, 2, 3)))

    def tasks(self) -> list[dict[str, Any]]:
        return [{"subtopology_id": each, "partitions": self.partitions()} for each in self.names()]

    def group_metadata(self) -> dict[str, Any]:
        return {"group_epoch": self.any_of(EPOCHS), "metadata_hash": self.any_of((None, 0, 7, -(1 << 63)))}

    def group_partition_metadata(self) -> dict[str, Any]:
        return {"topics": [self.listed(name) for name in self.names()], "epoch": self.any_of((None, None, 3))}

    def listed(self, name: str) -> dict[str, Any]:
        racks = [{"partition": each, "racks": list(self.any_of(RACKS))} for each in self.partitions()]
        return {
            "state": self.any_of(("subscribed", "initialized", "initializing", "deleting")),
            "topic_id": topic_id(name),
            "topic_name": name,
            "num_partitions": self.any_of((None, *self.numbers)),
            "partitions": self.partitions(),
            "partition_metadata": self.any_of((None, [], racks)) if max(self.numbers) < 1_000 else None,
        }

    def group_member_metadata(self) -> dict[str, Any]:
        classic = {"session_timeout_ms": 45_000, "supported_protocols": [{"name": "range", "metadata": b""}]}
        return {
            "client_id": "c", "client_host": "/h", "subscribed_topic_names": self.names() * self.any_of((1, 1, 2)),
            "group_instance_id": self.any_of((None, None, "i")), "rack_id": self.any_of((None, "", "r1")),
            "subscribed_topic_regex": self.any_of((None, None, "", "o.*")),
            "server_assignor": self.any_of((None, None, "uniform", "range", "simple", "mine")),
            "classic_member": self.any_of((None, None, classic)),
        }  # fmt: skip

    def target_assignment_metadata(self) -> dict[str, Any]:
        return {"assignment_epoch": self.any_of(EPOCHS)}

    def target_assignment_members(self) -> dict[str, Any]:
        return {"topic_partitions": self.of_ids(), "active_tasks": self.tasks()}

    def current_member_assignments(self) -> dict[str, Any]:
        return {
            "member_epoch": self.any_of((None, *EPOCHS)), "previous_member_epoch": self.any_of(EPOCHS),
            "member_state": self.any_of((None, "STABLE", "UNREVOKED_PARTITIONS")),
            "assigned_partitions": self.of_ids(), "partitions_pending_revocation": self.of_ids(),
            "active_tasks": self.tasks(),
        }  # fmt: skip

    def group_regular_expressions(self) -> dict[str, Any]:
        return {"topics": self.names()}

    def streams_group_topologies(self) -> dict[str, Any]:
        return {"epoch": self.any_of(EPOCHS), "subtopologies": []}

    def classic_group_metadata(self) -> dict[str, Any]:
        members = [{"member_id": "a", "session_timeout_ms": 1, "rebalance_timeout_ms": 1}]
        return {"protocol_type": "consumer", "generation": self.any_of(EPOCHS), "members": self.any_of(([], members))}


OF_MEMBERS: Final = ("group_member_metadata", "target_assignment_members", "current_member_assignments")
# Targets and their completion most often: they are what is compared.
TABLES: Final = (
    *OF_MEMBERS * 2, "target_assignment_metadata", "target_assignment_metadata", "group_metadata",
    "group_partition_metadata", "group_regular_expressions", "streams_group_topologies", "classic_group_metadata",
)  # fmt: skip
