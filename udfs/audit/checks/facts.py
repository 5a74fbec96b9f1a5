"""Facts for recomputing assignments that are not in the records: topics from snapshots, the broker's default assignor,
rules."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from udfs.assignors.questions import Topic


@dataclass(frozen=True)
class KnownTopic:
    """A topic as snapshots show it, from the first to the last snapshot that shows it like this (microseconds).

    `racks` has those of each partition's replicas; None: not captured.
    """

    topic: Topic
    first_time: int
    last_time: int
    # If the snapshots are stale: the number of partitions that records name up to then. 0: no record contradicts them.
    exceeded: int = 0
    # The same, but not counting what leaders of classic groups assigned: their own metadata may be old.
    proved: int = 0
    # The first record that names its last partition; None: there is none.
    whole_time: int | None = None
    # The number of partitions that records name at any time, also later ones, if it is larger. 0: none names more.
    beyond: int = 0


@dataclass(frozen=True)
class GroupRule:
    """Requirements from the settings, for groups whose whole id matches `pattern`."""

    pattern: str
    # Sets of topics: each member must have the same partitions of all of them.
    copartitioned: tuple[tuple[str, ...], ...] = ()
    # Number of members that must have each partition.
    redundancy: int = 1
    # Whether members with a rack may only have partitions with a replica there.
    is_rack_local: bool = False


def rules_of(group_id: str, rules: Sequence[GroupRule]) -> Sequence[GroupRule]:
    """All whose pattern matches: a group must meet every one of them."""
    return [rule for rule in rules if re.fullmatch(rule.pattern, group_id)] if rules else ()


@dataclass(frozen=True)
class Facts:
    # By name: each distinct combination of number, id and racks once, oldest first.
    topics: Mapping[str, Sequence[KnownTopic]] = field(default_factory=dict)
    # First entry of the broker's group.consumer.assignors; None: unknown, or a class whose name is unknown.
    default_assignor: str | None = None
    # Types of groups (consumer, share) for which the brokers' settings list a class that is not Kafka's; and those for
    # which it is the first entry.
    custom_listed: frozenset[str] = frozenset()
    custom_default: frozenset[str] = frozenset()
    # The broker's group.consumer.migration.policy, in lower case; None: unknown.
    migration_policy: str | None = None
    rules: tuple[GroupRule, ...] = ()
    # Times of snapshots that list all topics, in order: a topic that is missing in one did not exist then.
    whole_times: tuple[int, ...] = ()
    # For topics in no snapshot, the first record that names a partition.
    named_times: Mapping[str, int] = field(default_factory=dict)
    # Names of topics by id, from the log.
    logged_names: Mapping[str, str] = field(default_factory=dict)
    # Names of topics that were deleted and not recreated: an assignor would leave them out now.
    deleted_topics: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of topics, by id."""
        of_snapshots = {
            each.topic.topic_id: name
            for name, known in self.topics.items()
            for each in known
            if each.topic.topic_id is not None
        }
        return {**self.logged_names, **of_snapshots}
