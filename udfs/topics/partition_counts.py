"""Since when records of any group show how many partitions a topic has, by name. Topics only grow."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from udfs.assignors.questions import MOST_PARTITIONS
from udfs.topics.least_partitions import NamedPartitions


class Step(NamedTuple):
    num_partitions: int
    time: int
    # None: the records name the topic only by name.
    topic_id: str | None


@dataclass(frozen=True)
class NamedCounts:
    by_name: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)

    def most(self, name: str, topic_id: str | None, through: int, since: int | None) -> int:
        """The largest number up to a time. Records without ids count only since another topic of the name was last
        seen. `topic_id` None: any id."""
        ours = self.of_topic(name, topic_id, since)
        return max((each.num_partitions for each in ours if each.time <= through), default=0)

    def most_ever(self, name: str, topic_id: str | None, since: int | None) -> int:
        """The largest number at any time that a cluster can hold: a client may write any number into a commit."""
        ours = self.of_topic(name, topic_id, since)
        return max((each.num_partitions for each in ours if each.num_partitions <= MOST_PARTITIONS), default=0)

    def first_time(self, name: str, topic_id: str | None, num_partitions: int, since: int | None) -> int | None:
        """When this many partitions were first named."""
        ours = self.of_topic(name, topic_id, since)
        return min((each.time for each in ours if each.num_partitions >= num_partitions), default=None)

    def of_topic(self, name: str, topic_id: str | None, since: int | None) -> Iterable[Step]:
        for each in self.by_name.get(name, ()):
            if each.topic_id is None:
                if since is None or each.time > since:
                    yield each
            elif topic_id in (None, each.topic_id):
                yield each


def named_counts(named: Iterable[NamedPartitions], names: Mapping[str, str]) -> NamedCounts:
    """`names`: of topics by id. Topics without a name are left out."""
    steps_of: dict[str, list[Step]] = {}
    for each in named:
        name = each.topic or names.get(each.topic_id or "")
        if name is not None:
            steps_of.setdefault(name, []).append(Step(each.num_partitions, each.from_time, each.topic_id))
    return NamedCounts({name: tuple(sorted(steps, key=repr)) for name, steps in steps_of.items()})
