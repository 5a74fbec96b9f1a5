"""Facts for recomputing assignments that are not in the records: topics from snapshots, the broker's default assignor,
rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from udfs.assignors.specs import Topic


@dataclass(frozen=True)
class KnownTopic:
    """A topic as snapshots found it, from the first to the last one that found it just so (microseconds).

    `racks` holds those of each partition's replicas; None: not captured.
    """

    topic: Topic
    first_time: int
    last_time: int
    # The snapshots are stale: records up to then name so many partitions. 0: no record contradicts them.
    exceeded: int = 0
    # The first record that names its last partition; None: none does.
    whole_time: int | None = None


@dataclass(frozen=True)
class GroupRule:
    """What the settings ask of groups whose whole id matches `pattern`."""

    pattern: str
    # Sets of topics of which one member has the same partitions.
    copartitioned: tuple[tuple[str, ...], ...] = ()
    # How many members have each partition.
    redundancy: int = 1
    # Whether members with a rack may only have partitions with a replica there.
    is_rack_local: bool = False


@dataclass(frozen=True)
class Facts:
    # By name, each different count, id or racks once, oldest first.
    topics: Mapping[str, Sequence[KnownTopic]] = field(default_factory=dict)
    # First of the broker's group.consumer.assignors; None: nothing tells.
    default_assignor: str | None = None
    # The broker's group.consumer.migration.policy, in lower case; None: nothing tells.
    migration_policy: str | None = None
    rules: tuple[GroupRule, ...] = ()
    # Times of snapshots that list all topics, in order: what is absent from one of them was not there.
    whole_times: tuple[int, ...] = ()
    # Of topics that no snapshot has, the first record that names a partition.
    named_times: Mapping[str, int] = field(default_factory=dict)
    # Of topics by id, as the log names them.
    logged_names: Mapping[str, str] = field(default_factory=dict)
    # Names of topics that were deleted and not made anew: what an assignor would give now leaves them out.
    deleted_topics: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Of topics, by id."""
        of_snapshots = {
            each.topic.topic_id: name
            for name, known in self.topics.items()
            for each in known
            if each.topic.topic_id is not None
        }
        return {**self.logged_names, **of_snapshots}
