"""The life of a generated group: what may happen to it next, whatever kind it is of now."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.builders.generated.classic import Classic
from tests.builders.generated.modern import AWAY, CONSUMER, SHARE, STREAMS, Modern, downgraded, upgraded
from tests.builders.generated.offsets import Offsets, Topics
from tests.builders.generated.topics import KeyValue

Now = Classic | Modern | None
# What a group is when it comes into being, again and again after deletions: how likely each.
BEGINNINGS = {"classic": 3, "consumer": 3, "streams": 1, "simple": 2}


@dataclass
class Life:
    group: str
    topics: Topics
    chance: random.Random
    # A broker takes no offsets under a share group's name.
    is_share: bool
    now: Now = None
    offsets: Offsets = field(init=False)

    def __post_init__(self) -> None:
        self.offsets = Offsets(self.group, self.topics, self.chance)

    def step(self, time: int) -> list[KeyValue]:
        """One operation; none when what was tried is not possible."""
        if not self.is_share and self.chance.random() < 0.35:
            return self.offsets.delete_some() if self.chance.random() < 0.1 else self.offsets.commit(time)
        if self.now is None:
            return self.begin(time)
        return self.of_classic(self.now, time) if isinstance(self.now, Classic) else self.of_modern(self.now, time)

    def begin(self, time: int) -> list[KeyValue]:
        kind = "share" if self.is_share else self.chance.choices(list(BEGINNINGS), list(BEGINNINGS.values()))[0]
        if kind == "simple":
            return self.offsets.commit(time)
        if kind == "classic":
            classic = Classic(self.group, self.topics, self.chance)
            self.now = classic
            return classic.begin(time)
        modern = Modern({"consumer": CONSUMER, "share": SHARE, "streams": STREAMS}[kind], self.group, self.topics,
                        self.chance)  # fmt: skip
        self.now = modern
        return modern.join(time)

    def of_classic(self, group: Classic, time: int) -> list[KeyValue]:
        if not group.members:
            return self.chance.choice((group.round, group.round, self.delete_classic, self.turn_consumer))(time)
        acts: list[Callable[[int], list[KeyValue]]] = [group.round] * 6 + [
            group.static_return,
            group.static_return,
            group.empty,
        ]
        return self.chance.choice([*acts, self.upgrade])(time)

    def of_modern(self, group: Modern, time: int) -> list[KeyValue]:
        if not group.members:
            again = [group.join, group.join, self.delete_modern]
            return self.chance.choice([*again, self.turn_classic] if group.kind is CONSUMER else again)(time)
        if group.epoch > group.target_epoch and self.chance.random() < 0.5:
            present = [member for member in group.members if member.epoch != AWAY]
            return group.retarget(time) + (group.advance(self.chance.choice(present)) if present else [])
        if any(each.regex for each in group.members) and not group.has_regex and self.chance.random() < 0.7:
            return group.resolve(time)
        natives = [each for each in group.members if each.offered is None]
        if len(natives) < len(group.members) and len(natives) <= 1:
            return self.mixed(group, time)
        return self.chance.choice(self.acts(group))(time)

    def acts(self, group: Modern) -> list[Callable[[int], list[KeyValue]]]:
        acts: list[Callable[[int], list[KeyValue]]] = [lambda _: group.heartbeat()] * 8 + [group.leave] * 2
        acts.append(group.leave_all)
        if len(group.members) < 5:
            acts += [group.join] * 3
        if group.kind is CONSUMER:
            acts += [lambda _: group.go_away(), group.come_back, group.come_back]
        return acts if group.kind is STREAMS else [*acts, group.resubscribe]

    def mixed(self, group: Modern, time: int) -> list[KeyValue]:
        """With one native member: when it leaves, the group is one of the classic protocol again."""
        if self.chance.random() < 0.3:
            self.now, result = downgraded(group, time)
            return result
        return self.chance.choice((group.join, lambda _: group.heartbeat(), lambda _: group.heartbeat()))(time)

    def upgrade(self, time: int) -> list[KeyValue]:
        assert isinstance(self.now, Classic)
        self.now, result = upgraded(self.now, time)
        return result

    def turn_consumer(self, time: int) -> list[KeyValue]:
        """The first member of an empty classic group speaks the new protocol."""
        assert isinstance(self.now, Classic)
        gone = self.now.tombstone()
        self.now = Modern(CONSUMER, self.group, self.topics, self.chance)
        return [gone, *self.now.join(time)]

    def turn_classic(self, time: int) -> list[KeyValue]:
        """The first member of an empty consumer group speaks the classic protocol."""
        assert isinstance(self.now, Modern)
        gone = self.now.deleted()
        self.now = Classic(self.group, self.topics, self.chance)
        return [*gone, self.now.value(time, "")]

    def delete_classic(self, time: int) -> list[KeyValue]:
        assert isinstance(self.now, Classic)
        gone = [*self.offsets.delete_all(), self.now.tombstone()]
        self.now = None
        return gone

    def delete_modern(self, time: int) -> list[KeyValue]:
        assert isinstance(self.now, Modern)
        gone = [*self.offsets.delete_all(), *self.now.deleted()]
        self.now = None
        return gone
