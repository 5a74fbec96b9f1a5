"""Committed offsets of generated groups, plain and by transactions, and their deletion."""

import random
from dataclasses import dataclass, field

from tests.builders.generated.topics import NEWEST_COMMIT, KeyValue, written

At = tuple[str, int]
Topics = dict[str, tuple[str, int]]
METADATA = ("", "", "", "host-7", "ünï\U0001f600", '{"a": 1}')


@dataclass
class Offsets:
    """Keys that hold an offset, or may hold one when a transaction ends."""

    group: str
    topics: Topics
    chance: random.Random
    keys: set[At] = field(default_factory=set)
    newest: list[At] = field(default_factory=list)

    def some(self) -> list[At]:
        topic = self.chance.choice(sorted(self.topics))
        partitions = range(self.topics[topic][1])
        return [(topic, each) for each in self.chance.sample(partitions, self.chance.randint(1, len(partitions)))]

    def commit(self, time: int, is_plain: bool = True) -> list[KeyValue]:
        self.newest = places = self.some()
        self.keys.update(places)
        return [self.committed(place, time, is_plain) for place in places]

    def committed(self, place: At, time: int, is_plain: bool) -> KeyValue:
        chance, (topic, partition) = self.chance, place
        version = chance.choice((1, 3, 3, NEWEST_COMMIT, NEWEST_COMMIT)) if is_plain else 3
        value = {
            "offset": chance.choice((-1, 0, chance.randint(0, 2**40), chance.randint(0, 5))),
            "leader_epoch": chance.choice((-1, 0, 7)),
            "metadata": chance.choice(METADATA),
            "commit_timestamp": time,
            "expire_timestamp": time + 10**12,
        }
        if version == NEWEST_COMMIT:
            value["topic_id"] = self.topics[topic][0]
        return written(1, {"group": self.group, "topic": topic, "partition": partition}, value, version)

    def again(self, time: int) -> list[KeyValue]:
        """Another commit, or the end, of what was committed last."""
        if self.chance.random() < 0.3:
            return self.deleted(set(self.newest[:1]))
        return [self.committed(place, time, is_plain=True) for place in self.newest]

    def deleted(self, places: set[At]) -> list[KeyValue]:
        self.keys -= places
        return [
            written(1, {"group": self.group, "topic": topic, "partition": partition}, None)
            for topic, partition in sorted(places)
        ]

    def delete_some(self) -> list[KeyValue]:
        return self.deleted({place for place in sorted(self.keys) if self.chance.random() < 0.4})

    def delete_all(self) -> list[KeyValue]:
        return self.deleted(set(self.keys))
