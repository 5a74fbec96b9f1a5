"""Consumer, share and streams groups as their coordinator writes them: epochs, targets, and members on their way.

The steps are those of the broker's own member state machine, but who is assigned what is a matter of chance.
"""

import random
from dataclasses import dataclass, field
from typing import Any, Final

from tests.builders.generated.classic import SESSION_MS, Classic, ClassicMember, subscription
from tests.builders.generated.offsets import Topics
from tests.builders.generated.topics import KeyValue, Place, by_first, uuid, written

STABLE, UNREVOKED, UNRELEASED = range(3)
AWAY: Final = -2
FIRST_EPOCH: Final = 1
ROLES: Final = ("active", "standby", "warmup")
REGEX: Final = "t.*"


@dataclass(frozen=True)
class Kind:
    """Record types of one kind of group."""

    name: str
    epoch: int
    member: int
    target_epoch: int
    target: int
    current: int


CONSUMER: Final = Kind("consumer", 3, 5, 6, 7, 8)
SHARE: Final = Kind("share", 11, 10, 12, 13, 14)
STREAMS: Final = Kind("streams", 17, 19, 20, 21, 22)


@dataclass
class ModernMember:
    member_id: str
    instance: str | None
    client_id: str
    topics: tuple[str, ...]
    regex: str | None = None
    # What a member of the classic protocol offered.
    offered: bytes | None = None
    epoch: int = 0
    previous: int = -1
    state: int = STABLE
    owned: set[Place] = field(default_factory=set)
    revoking: set[Place] = field(default_factory=set)


@dataclass
class Modern:
    kind: Kind
    group: str
    topics: Topics
    chance: random.Random
    epoch: int = FIRST_EPOCH
    target_epoch: int = FIRST_EPOCH
    members: list[ModernMember] = field(default_factory=list)
    targets: dict[str, set[Place]] = field(default_factory=dict)
    has_regex: bool = False
    has_topology: bool = False

    # -- what happens

    def join(self, time: int) -> list[KeyValue]:
        return self.join_as(self.newcomer(), time)

    def join_as(self, member: ModernMember, time: int) -> list[KeyValue]:
        self.members.append(member)
        result = [self.subscribed(member)]
        if self.kind is STREAMS and not self.has_topology:
            self.has_topology = True
            result.append(self.topology())
        if self.kind is SHARE:
            result.append(self.initialized())
        if member.regex and not self.has_regex:
            # Resolved by and by: until then nobody is given anything for it.
            member.epoch = self.target_epoch
            return [*result, self.assigned(member)]
        result += self.new_epoch(time)
        member.epoch = self.target_epoch
        return [*result, *self.advance(member)]

    def resolve(self, time: int) -> list[KeyValue]:
        value = {"topics": sorted(self.topics), "version": 7, "timestamp": time}
        self.has_regex = True
        return [written(16, self.key() | {"regular_expression": REGEX}, value), *self.new_epoch(time)]

    def heartbeat(self) -> list[KeyValue]:
        """A member takes its next step to the target, if there is one."""
        present = [member for member in self.members if member.epoch != AWAY]
        return self.advance(self.chance.choice(present)) if present else []

    def leave(self, time: int, member: ModernMember | None = None) -> list[KeyValue]:
        member = member or self.chance.choice(self.members)
        self.members.remove(member)
        result = [self.gone(kind, member) for kind in (self.kind.current, self.kind.target, self.kind.member)]
        self.targets.pop(member.member_id, None)
        if self.has_regex and not any(other.regex for other in self.members):
            self.has_regex = False
            result.append(written(16, self.key() | {"regular_expression": REGEX}, None))
        self.epoch += 1
        return [*result, self.epoch_record()]

    def leave_all(self, time: int) -> list[KeyValue]:
        return [pair for member in list(self.members) for pair in self.leave(time, member)]

    def resubscribe(self, time: int) -> list[KeyValue]:
        member = self.chance.choice([each for each in self.members if each.epoch != AWAY] or self.members)
        if member.epoch == AWAY:
            return []
        member.topics = self.some_topics()
        result = [self.subscribed(member), *self.new_epoch(time)]
        return [*result, *self.advance(member)]

    def go_away(self) -> list[KeyValue]:
        """A static member, for a while: it keeps what it owns."""
        static = [each for each in self.members if each.instance and each.epoch != AWAY and each.offered is None]
        if not static or self.kind is not CONSUMER:
            return []
        member = self.chance.choice(static)
        member.previous, member.epoch, member.revoking = member.epoch, AWAY, set()
        member.state = STABLE
        return [self.assigned(member)]

    def come_back(self, time: int) -> list[KeyValue]:
        """Under another id: what the old one had is copied, and then brought up to date, all in one write."""
        away = [each for each in self.members if each.epoch == AWAY]
        if not away:
            return []
        member = self.chance.choice(away)
        result = [self.gone(kind, member) for kind in (self.kind.current, self.kind.target, self.kind.member)]
        target = self.targets.pop(member.member_id, None)
        member.member_id, member.epoch, member.previous = uuid(self.chance), 0, 0
        result.append(self.subscribed(member))
        if target is not None:
            self.targets[member.member_id] = target
            result.append(self.target(member.member_id))
        result.append(self.assigned(member))
        member.epoch = self.target_epoch
        return [*result, self.subscribed(member), *(self.advance(member) or [self.assigned(member)])]

    def deleted(self) -> list[KeyValue]:
        """Only without members."""
        if self.kind is SHARE:
            return [self.of_group(number) for number in (self.kind.target_epoch, 15, self.kind.epoch)]
        if self.kind is STREAMS:
            return [self.of_group(number) for number in (self.kind.target_epoch, self.kind.epoch, 23)]
        return [self.of_group(number) for number in (6, 4, 3)]

    # -- steps

    def new_epoch(self, time: int) -> list[KeyValue]:
        """The target comes with it, or a little later."""
        self.epoch += 1
        later = self.chance.random() < 0.3 and self.target_epoch > FIRST_EPOCH
        return [self.epoch_record(), *([] if later else self.retarget(time))]

    def retarget(self, time: int) -> list[KeyValue]:
        """Targets are written of whoever's changed, then the record that completes them."""
        new = self.assignment()
        changed = [name for name, places in new.items() if places != self.targets.get(name)]
        self.targets |= new
        self.target_epoch = self.epoch
        value = {"assignment_epoch": self.epoch, "assignment_timestamp": time}
        return [*map(self.target, changed), written(self.kind.target_epoch, self.key(), value)]

    def assignment(self) -> dict[str, set[Place]]:
        new: dict[str, set[Place]] = {member.member_id: set() for member in self.members}
        for place in self.places():
            for reader in self.readers(place):
                new[reader].add(place)
        return new

    def readers(self, place: Place) -> list[str]:
        """One, of share groups any number; most stay where they were."""
        able = [each.member_id for each in self.members if self.may_read(each, place)]
        if self.kind is SHARE:
            return [each for each in able if self.chance.random() < 0.7]
        before = [each for each in able if place in self.targets.get(each, ())]
        if before and self.chance.random() < 0.6:
            return before[:1]
        return [self.chance.choice(able)] if able and self.chance.random() < 0.95 else []

    def may_read(self, member: ModernMember, place: Place) -> bool:
        if self.kind is STREAMS:
            return True
        return place[0] in member.topics or bool(member.regex and self.has_regex)

    def places(self) -> list[Place]:
        if self.kind is STREAMS:
            numbers = [number for _, number in self.topics.values()]
            return [
                (role, str(part), partition)
                for part, number in enumerate(numbers)
                for role in ROLES
                for partition in range(number)
            ]
        return [(topic, partition) for topic, (_, number) in self.topics.items() for partition in range(number)]

    def advance(self, member: ModernMember) -> list[KeyValue]:
        """One step of the member towards the target, written when it changes anything."""
        before = (member.epoch, member.state, set(member.owned), set(member.revoking))
        old_epoch = member.epoch
        target = self.targets.get(member.member_id, set())
        if self.kind is SHARE:
            member.epoch, member.owned = self.target_epoch, set(target)
        else:
            self.step(member, target)
        if before == (member.epoch, member.state, member.owned, member.revoking) and member.previous != -1:
            return []
        member.previous = old_epoch
        return [self.assigned(member)]

    def step(self, member: ModernMember, target: set[Place]) -> None:
        keep = member.owned & target
        revoke = member.owned - keep
        member.revoking = set()
        if revoke:
            member.state, member.owned, member.revoking = UNREVOKED, keep, revoke
            return
        held = {place for other in self.members if other is not member for place in other.owned | other.revoking}
        add = target - keep - held
        is_waiting = bool((target - keep) & held)
        member.owned = keep | add
        member.epoch = self.target_epoch
        member.state = UNRELEASED if is_waiting else STABLE

    def newcomer(self) -> ModernMember:
        chance = self.chance
        instance = f"instance-{chance.randrange(10**6)}" if self.kind is CONSUMER and chance.random() < 0.3 else None
        regex = REGEX if self.kind is CONSUMER and chance.random() < 0.15 else None
        return ModernMember(
            uuid(chance), instance, f"client-{len(self.members)}", () if regex else self.some_topics(), regex
        )

    def some_topics(self) -> tuple[str, ...]:
        return tuple(sorted(self.chance.sample(sorted(self.topics), self.chance.randint(1, len(self.topics)))))

    # -- records

    def key(self, member: str | None = None) -> dict[str, str]:
        return {"group_id": self.group} | ({} if member is None else {"member_id": member})

    def gone(self, number: int, member: ModernMember) -> KeyValue:
        return written(number, self.key(member.member_id), None)

    def of_group(self, number: int) -> KeyValue:
        return written(number, self.key(), None)

    def epoch_record(self) -> KeyValue:
        value: dict[str, Any] = {"epoch": self.epoch, "metadata_hash": self.epoch if self.members else 0}
        if self.kind is STREAMS:
            value |= {"validated_topology_epoch": 0}
        return written(self.kind.epoch, self.key(), value)

    def subscribed(self, member: ModernMember) -> KeyValue:
        value: dict[str, Any] = {
            "instance_id": member.instance, "rack_id": None, "client_id": member.client_id,
            "client_host": "/10.0.0.1", "rebalance_timeout_ms": SESSION_MS,
        }  # fmt: skip
        if self.kind is STREAMS:
            value |= {"topology_epoch": 0, "process_id": member.member_id, "user_endpoint": None, "client_tags": []}
        else:
            value |= {
                "subscribed_topic_names": list(member.topics),
                "subscribed_topic_regex": member.regex,
                "server_assignor": None,
            }
        if member.offered is not None:
            protocols = [{"name": "range", "metadata": member.offered}]
            value["classic_member_metadata"] = {"session_timeout_ms": SESSION_MS, "supported_protocols": protocols}
        return written(self.kind.member, self.key(member.member_id), value)

    def target(self, member_id: str) -> KeyValue:
        return written(self.kind.target, self.key(member_id), self.placed(self.targets[member_id], ""))

    def assigned(self, member: ModernMember) -> KeyValue:
        value: dict[str, Any] = {"member_epoch": member.epoch, "previous_member_epoch": member.previous}
        if self.kind is STREAMS:
            # Its states are numbered from one.
            value |= {"state": member.state + 1} | self.placed(member.owned, "", member.epoch)
            value |= self.placed(member.revoking, "_pending_revocation", member.epoch)
        else:
            value |= {"state": member.state, "assigned_partitions": self.by_id(member.owned, member.epoch)}
            value |= {"partitions_pending_revocation": self.by_id(member.revoking, member.epoch)}
        return written(self.kind.current, self.key(member.member_id), value)

    def placed(self, places: set[Place], suffix: str, epoch: int | None = None) -> dict[str, Any]:
        if self.kind is not STREAMS:
            return {"topic_partitions": self.by_id(places)}
        result = by_first(places)
        return {
            f"{role}_tasks{suffix}": [
                {"subtopology_id": part, "partitions": some} | epochs(some, epoch)
                for (of, part), some in result.items()
                if of == role
            ]
            for role in ROLES
        }

    def by_id(self, places: set[Place], epoch: int | None = None) -> list[dict[str, Any]]:
        return [
            {"topic_id": self.topics[topic][0], "partitions": some} | epochs(some, epoch)
            for topic, some in by_first(places).items()
        ]

    def initialized(self) -> KeyValue:
        """Of share groups: partitions whose delivery state is kept."""
        topics = [
            {"topic_id": number, "topic_name": topic, "partitions": list(range(count))}
            for topic, (number, count) in self.topics.items()
        ]
        value = {"initializing_topics": [], "initialized_topics": topics, "deleting_topics": []}
        return written(15, self.key(), value)

    def topology(self) -> KeyValue:
        """One subtopology a topic."""
        parts = [
            {
                "subtopology_id": str(part), "source_topics": [topic], "source_topic_regex": [],
                "state_changelog_topics": [], "repartition_sink_topics": [], "repartition_source_topics": [],
                "copartition_groups": [],
            }
            for part, topic in enumerate(self.topics)
        ]  # fmt: skip
        return written(23, self.key(), {"epoch": 0, "subtopologies": parts})


def epochs(partitions: list[int], epoch: int | None) -> dict[str, list[int]]:
    """Of what members own; targets have none."""
    return {} if epoch is None else {"assignment_epochs": [max(epoch, 0)] * len(partitions)}


# -- from one protocol to the other


def upgraded(classic: Classic, time: int) -> tuple[Modern, list[KeyValue]]:
    """A member of the new protocol joins a classic group that has members: all of them are copied first."""
    group = Modern(CONSUMER, classic.group, classic.topics, classic.chance, classic.generation, classic.generation)
    result = [written(2, {"group": classic.group}, None)]
    group.members = [copied(member, classic.generation) for member in classic.members]
    group.targets = {member.member_id: set(member.owned) for member in group.members}
    result += [group.subscribed(member) for member in group.members]
    result.append(group.epoch_record())
    result += [group.target(member.member_id) for member in group.members]
    result.append(written(6, group.key(), {"assignment_epoch": group.epoch, "assignment_timestamp": 0}))
    result += [group.assigned(member) for member in group.members]
    native = ModernMember(uuid(classic.chance), None, "native", group.some_topics())
    return group, [*result, *group.join_as(native, time)]


def copied(member: ClassicMember, generation: int) -> ModernMember:
    offered = subscription(member.topics, member.assigned, generation)
    return ModernMember(
        member.member_id, member.instance, member.client_id, member.topics, None, offered, generation, generation,
        STABLE, set(member.assigned),
    )  # fmt: skip


def downgraded(group: Modern, time: int) -> tuple[Classic, list[KeyValue]]:
    """The last members of the new protocol leave at once, or in turn: what is left are classic ones."""
    result = []
    for number in (group.kind.current, group.kind.target):
        result += [group.gone(number, member) for member in group.members]
    result.append(group.of_group(6))
    result += [group.gone(5, member) for member in group.members]
    if group.has_regex:
        result.append(written(16, group.key() | {"regular_expression": REGEX}, None))
    result += [group.of_group(4), group.of_group(3)]
    classic = Classic(group.group, group.topics, group.chance, group.epoch)
    classic.members = [
        ClassicMember(each.member_id, each.instance, each.client_id, each.topics,
                      frozenset(group.targets.get(each.member_id, ())))
        for each in group.members if each.offered is not None
    ]  # fmt: skip
    return classic, [*result, classic.value(time, "consumer")]
