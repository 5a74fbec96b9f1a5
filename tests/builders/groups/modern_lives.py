"""Groups that live through random epochs whose targets Kafka's own assignors give: the logs that a coordinator of that
release writes for them, epoch by epoch, many groups in one call of the oracle."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.builders.groups.target_log import TargetLog, Written, about, completed, dead, epoch, owns, topic_id
from tests.oracles.assignors.kafka_assignors import server_answers
from udfs.assignors.java.maps import room_of_put, string_hashes, timeline_walked, walked
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.topics.metadata_hash import group_hash

Lists = dict[str, dict[str, list[int]]]
STEP_MS = 1_000


class LivedGroup:
    def __init__(self, rng: np.random.Generator, name: str, assignor: str, release: str, is_equal: bool) -> None:
        self.rng, self.name, self.assignor, self.release, self.is_equal = rng, name, assignor, release, is_equal
        self.is_share = assignor == "simple"
        self.log = TargetLog(name, "share" if self.is_share else "consumer")
        most = int(rng.choice([3, 12, 40]))
        self.counts = {f"{name}-t{each}": int(rng.integers(1, most + 1)) for each in range(int(rng.integers(1, 5)))}
        self.known: dict[str, list[KnownTopic]] = {each: [] for each in self.counts}
        self.everything = list(self.counts)
        self.members: dict[str, dict[str, Any]] = {}
        self.room = 0
        self.targets: Lists = {}
        self.owned: Lists = {}
        self.epoch = 0
        self.time = 0
        self.num_targets = 0
        self.joined: list[str] = []
        self.written: list[Written] = []
        self.remember_topics()

    # -- events; each leaves what is written before the group epoch

    def step(self) -> None:
        """One or a few events, then the operation that computes."""
        self.time += STEP_MS
        self.joined, self.written = [], []
        if len(self.members) > 1 and self.rng.random() < 0.3:
            self.leave()
        events = [self.join, self.join, self.change, self.grow] if self.members else [self.join]
        events[int(self.rng.integers(len(events)))]()
        self.bump(self.written)

    def join(self) -> None:
        instance = f"i-{self.rng.integers(1 << 30)}" if self.rng.random() < 0.2 and not self.is_share else None
        member_id = self.new_id()
        self.members[member_id] = {"topics": self.some_topics(), "instance": instance}
        self.joined.append(member_id)
        self.written.append(self.about(member_id))

    def new_id(self) -> str:
        """Many share a chain of Java's map, some even their hash code."""
        if self.rng.random() < 0.2:
            member_id = "".join(self.rng.choice(["Aa", "BB"], size=4))
            if member_id not in self.members:
                return member_id
        return f"{self.name}-{self.rng.integers(1 << 40)}"

    def leave(self) -> None:
        member_id = str(self.rng.choice(list(self.members)))
        self.epoch += 1
        tables = ("current_member_assignments", "target_assignment_members", "group_member_metadata")
        self.room = max(self.room, room_of_put(len(self.members)))
        for of in (self.members, self.targets, self.owned):
            of.pop(member_id, None)
        # Its hash is of what the others subscribe to.
        self.log.write(self.time, *(dead(table, member_id) for table in tables), self.epoch_record())

    def change(self) -> None:
        member_id = str(self.rng.choice(list(self.members)))
        self.members[member_id]["topics"] = self.some_topics()
        self.written.append(self.about(member_id))

    def grow(self) -> None:
        topic = str(self.rng.choice(self.everything))
        self.counts[topic] += int(self.rng.integers(1, 4))
        self.remember_topics()

    def return_static(self) -> None:
        """Under another member id, with the target that it had: no epoch."""
        static = [each for each, of in self.members.items() if of["instance"] is not None and each in self.targets]
        if not static:
            return
        old, new = static[0], self.new_id()
        tables = ("current_member_assignments", "target_assignment_members", "group_member_metadata")
        self.room = max(self.room, room_of_put(len(self.members)))
        for of in (self.members, self.targets, self.owned):
            if old in of:
                of[new] = of.pop(old)  # type: ignore[attr-defined]
        self.time += 1
        has = self.owned.get(new, {})
        self.log.write(self.time, *(dead(table, old) for table in tables), self.about(new), self.target(new),
                       owns(new, 0), self.about(new), owns(new, self.epoch, **has))  # fmt: skip
        self.room = max(self.room, room_of_put(len(self.members)))

    # -- records

    def some_topics(self) -> list[str]:
        if self.is_equal:
            return self.everything
        return [each for each in self.everything if self.rng.random() < 0.6]

    def about(self, member_id: str) -> Written:
        of = self.members[member_id]
        asked = {} if self.is_share else {"server_assignor": self.assignor, "group_instance_id": of["instance"]}
        return about(member_id, of["topics"], **asked)

    def target(self, member_id: str) -> Written:
        lists = [{"topic_id": topic_id(t), "partitions": p} for t, p in self.targets[member_id].items()]
        return "target_assignment_members", {"member_id": member_id, "topic_partitions": lists}

    def remember_topics(self) -> None:
        for name, count in self.counts.items():
            known = self.known[name]
            if not known or known[-1].topic.partitions != count:
                known.append(KnownTopic(Topic(name, count, topic_id(name)), self.time * 1000, self.time * 1000))

    @property
    def has_hash(self) -> bool:
        return self.release >= "4.1"

    def epoch_record(self) -> Written:
        subscribed = sorted({name for of in self.members.values() for name in of["topics"]})
        topics = [Topic(name, self.counts[name], topic_id(name)) for name in subscribed]
        return epoch(self.epoch, group_hash(topics) if self.has_hash else None)

    def listed(self) -> list[Written]:
        """Type 4 or 15: of share groups all partitions are initialized, but for releases that list none."""
        if self.has_hash != self.is_share:
            return []
        state = "initialized" if self.is_share else "subscribed"
        subscribed = sorted({name for of in self.members.values() for name in of["topics"]})
        topics = [
            {"state": state, "topic_id": topic_id(name), "topic_name": name,
             "num_partitions": None if self.is_share else self.counts[name],
             "partitions": list(range(self.counts[name])) if self.is_share else None}
            for name in subscribed
        ]  # fmt: skip
        return [("group_partition_metadata", {"topics": topics})]

    def bump(self, written: Sequence[Written]) -> None:
        self.epoch += 1
        self.written = [*written, *self.listed(), self.epoch_record()]

    # -- the oracle's question and answer

    def in_order(self) -> list[str]:
        present = [each for each in self.members if each not in self.joined]
        walk = timeline_walked(string_hashes(present).tolist(), max(self.room, len(present)))
        return [present[at] for at in walk] + self.joined

    def spec(self) -> dict[str, Any]:
        members = [
            {"member_id": each, "subscribed_topics": sorted(self.members[each]["topics"]),
             "target": [[topic, list(of)] for topic, of in self.targets.get(each, {}).items()],
             **({"group_instance_id": instance} if (instance := self.members[each]["instance"]) else {})}
            for each in self.in_order()
        ]  # fmt: skip
        topics = [
            {"name": name, "partitions": count, "topic_id": topic_id(name)} for name, count in self.counts.items()
        ]
        spec = {"group_protocol": "share" if self.is_share else "consumer", "assignor": self.assignor,
                "topics": topics, "members": members}  # fmt: skip
        if self.is_share and self.has_hash:
            spec["assignable"] = [[name, list(range(count))] for name, count in self.counts.items()]
        return spec

    def accept(self, answer: dict[str, Any]) -> None:
        given: Lists = {}
        for member in answer["assignment"]:
            lists = given[member["member_id"]] = {}
            for topic, partition in member["partitions"]:
                lists.setdefault(topic, []).append(partition)
        order = self.in_order()
        walk = [order[at] for at in walked(string_hashes(order).tolist())]
        changed = [each for each in walk if each not in self.targets or sets(given[each]) != sets(self.targets[each])]
        self.num_targets += 1
        self.targets |= {each: given[each] for each in changed}
        self.log.write(self.time, *self.written, *map(self.target, changed), completed(self.epoch))
        if len(self.written) > 1 and self.written[0][0] == "group_member_metadata":
            self.room = max(self.room, room_of_put(len(self.members) - len(self.joined)))
        self.reconcile()

    def reconcile(self) -> None:
        """Everybody gives up first, then takes."""
        if self.rng.random() < 0.5:
            return
        for keep in (True, False):
            for member_id in self.members:
                goal = self.targets[member_id]
                had = self.owned.get(member_id, {})
                has = {t: [each for each in of if each in goal.get(t, ())] for t, of in had.items()} if keep else goal
                self.owned[member_id] = has
                self.log.write(self.time + 1, owns(member_id, self.epoch, **has))
        self.room = max(self.room, room_of_put(len(self.members)))

    @property
    def facts(self) -> Facts:
        return Facts(self.known, default_assignor="uniform")


def sets(lists: dict[str, list[int]]) -> dict[str, set[int]]:
    return {topic: set(of) for topic, of in lists.items() if of}


def live(groups: Iterable[LivedGroup], release: str, epochs: int, java: Path | None) -> None:
    """Where Kafka's assignor throws, its coordinator writes nothing of the operation: the group's life ends there."""
    living = list(groups)
    for _ in range(epochs):
        for group in living:
            if group.rng.random() < 0.2:
                group.return_static()
            group.step()
        answers = server_answers([each.spec() for each in living], release, java)
        for group, answer in zip(living, answers, strict=True):
            if "error" not in answer:
                group.accept(answer)
        living = [group for group, answer in zip(living, answers, strict=True) if "error" not in answer]
