"""Groups whose assignor runs beside the coordinator, as from Kafka 4.5 on: each target is what Kafka's own class gives
for a copy of the group that is some epochs old when the target is written."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.builders.groups.modern_lives import STEP_MS, Lists, LivedGroup, sets
from tests.builders.groups.target_log import TargetLog, completed, topic_id
from tests.make.log import Log, Op, op
from tests.oracles.assignors.kafka_assignors import server_answers
from udfs.assignors.java.maps import room_of_put, string_hashes, walked

RELEASE = "4.3"
# By member, topic ids with partitions.
Assigned = dict[str, frozenset[tuple[str, int]]]
# Of the consumer protocol.
TYPES = {
    "group_metadata": 3, "group_member_metadata": 5, "target_assignment_metadata": 6, "target_assignment_members": 7,
    "current_member_assignments": 8,
}  # fmt: skip


class OffloadedGroup(LivedGroup):
    def __init__(self, rng: np.random.Generator, name: str, assignor: str, is_equal: bool) -> None:
        super().__init__(rng, name, assignor, RELEASE, is_equal)
        # By epoch since the newest target, what an assignor would be asked: at its beginning, and at its end if a
        # static member came back in between.
        self.asked: list[tuple[int, dict[str, Any]]] = []
        # Before the newest target.
        self.previous: Lists = {}
        self.chosen = 0
        # By epoch of a target, the epoch whose inputs gave it.
        self.given: dict[int, int] = {}

    def new_id(self) -> str:
        """None shares a hash code with another: which of two comes first, no record shows."""
        return f"{self.name}-{self.rng.integers(1 << 40)}"

    def step(self) -> None:
        """Some epochs, one of whose inputs are copied."""
        self.asked = [each for each in self.asked if each[0] > max(self.given, default=0)]
        for _ in range(int(self.rng.integers(1, 5))):
            self.happen()
            self.ask()
            if self.rng.random() < 0.3:
                members = set(self.members)
                self.return_static()
                if members != set(self.members):
                    self.ask()
        self.chosen = int(self.rng.integers(len(self.asked)))

    def happen(self) -> None:
        self.time += STEP_MS
        self.joined, self.written = [], []
        if len(self.members) > 2 and self.rng.random() < 0.4:
            self.leave()
            return
        events = [self.join, self.join, self.change, self.grow] if self.members else [self.join]
        events[int(self.rng.integers(len(events)))]()
        self.bump(self.written)
        self.log.write(self.time, *self.written)

    def ask(self) -> None:
        self.asked.append((self.epoch, self.spec()))
        if self.joined:
            self.room = max(self.room, room_of_put(len(self.members) - len(self.joined)))
        self.joined = []

    def return_static(self) -> None:
        """Only one that has a target brings it along."""
        super().return_static()
        self.joined = []

    def accept(self, answer: dict[str, Any]) -> None:
        epoch, spec = self.asked[self.chosen]
        self.time += STEP_MS // 2
        # A coordinator may say of either epoch that the target is for it.
        number = epoch if self.rng.random() < 0.5 else self.epoch
        self.given[number] = epoch
        targets, self.previous = self.written_by(spec, answer), dict(self.targets)
        self.targets |= targets
        self.num_targets += 1
        self.log.write(self.time, *map(self.target, targets), completed(number))

    def written_by(self, spec: dict[str, Any], answer: dict[str, Any]) -> Lists:
        """In the order of the records: those of members that are still there, if their targets change."""
        given = lists_of(answer)
        order = [member["member_id"] for member in spec["members"]]
        heirs = {member["member_id"]: self.heir_of(member) for member in spec["members"]}
        walk = [order[at] for at in walked(string_hashes(order).tolist())]
        return {
            heir: given[each]
            for each in walk
            if (heir := heirs[each]) is not None
            and (heir not in self.targets or sets(given[each]) != sets(self.targets[heir]))
        }

    def heir_of(self, member: dict[str, Any]) -> str | None:
        if member["member_id"] in self.members:
            return str(member["member_id"])
        instance = member.get("group_instance_id")
        return next((each for each, of in self.members.items() if instance and of["instance"] == instance), None)

    def assigned_by(self, spec: dict[str, Any], answer: dict[str, Any]) -> Assigned:
        """What the members would have, had this been the answer."""
        given = lists_of(answer)
        heirs = {heir: given[each["member_id"]] for each in spec["members"] if (heir := self.heir_of(each)) is not None}
        return {
            each: frozenset(
                (topic_id(topic), one) for topic, of in (self.previous | heirs).get(each, {}).items() for one in of
            )
            for each in self.members
        }

    @property
    def recorded(self) -> Assigned:
        known = {row["member_id"]: row["topic_partitions"] for row in self.target_records()}
        before = self.assigned_by({"members": []}, {"assignment": []})
        return before | {
            each: frozenset((of["topic_id"], one) for of in lists for one in of["partitions"])
            for each, lists in known.items()
        }

    def target_records(self) -> list[dict[str, Any]]:
        """Of the newest target."""
        rows = self.log.rows
        batch = rows["target_assignment_metadata"][-1]["batch_first_offset"]
        return [row for row in rows["target_assignment_members"] if row["batch_first_offset"] == batch]


def lists_of(answer: dict[str, Any]) -> Lists:
    given: Lists = {}
    for member in answer["assignment"]:
        lists = given[member["member_id"]] = {}
        for topic, partition in member["partitions"]:
            lists.setdefault(topic, []).append(partition)
    return given


def live_offloaded(groups: Sequence[OffloadedGroup], targets: int) -> None:
    for _ in range(targets):
        for group in groups:
            group.step()
        answers = server_answers([group.asked[group.chosen][1] for group in groups], RELEASE)
        for group, answer in zip(groups, answers, strict=True):
            assert "error" not in answer
            group.accept(answer)


# -- as bytes


def log_of(log: TargetLog) -> Log:
    batches: dict[int, list[tuple[int, int, Op]]] = {}
    for table, rows in log.rows.items():
        for row in rows:
            at = row["record_offset"], row["record_time"] // 1000, record_of(table, row)
            batches.setdefault(row["batch_first_offset"], []).append(at)
    result = Log()
    for batch in sorted(batches):
        ops = sorted(batches[batch], key=lambda each: each[0])
        result.write(ops[0][1], *(each for _, _, each in ops))
    return result


def record_of(table: str, row: dict[str, Any]) -> Op:
    key = {name: row[name] for name in ("group_id", "member_id") if row.get(name) is not None}
    return op(TYPES[table], key, None if row["is_tombstone"] else VALUES[table](row))


def of_member(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "instance_id": row.get("group_instance_id"), "rack_id": row.get("rack_id"), "client_id": row["client_id"],
        "client_host": row["client_host"], "rebalance_timeout_ms": 300_000,
        "subscribed_topic_names": row["subscribed_topic_names"], "subscribed_topic_regex": None,
        "server_assignor": row.get("server_assignor"),
    }  # fmt: skip


def of_current(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "member_epoch": row["member_epoch"], "previous_member_epoch": row["previous_member_epoch"], "state": 0,
        "assigned_partitions": row["assigned_partitions"],
        "partitions_pending_revocation": row["partitions_pending_revocation"],
    }  # fmt: skip


VALUES = {
    "group_metadata": lambda row: {"epoch": row["group_epoch"], "metadata_hash": row["metadata_hash"]},
    "group_member_metadata": of_member,
    "target_assignment_metadata": lambda row: {"assignment_epoch": row["assignment_epoch"]},
    "target_assignment_members": lambda row: {"topic_partitions": row["topic_partitions"]},
    "current_member_assignments": of_current,
}
