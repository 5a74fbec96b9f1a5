"""The values of records of consumer, share and streams groups, the same for all that reads them: the values of
`Record`. Lists keep their order."""

from collections.abc import Mapping
from typing import NamedTuple

from udfs.assignors.questions import Topic
from udfs.groups.readers.recorded_lists import ByRole

# The names of member states in the decoded tables. Records of 3.7 have no state: it follows from their other fields.
STABLE = "STABLE"
UNREVOKED = ("UNREVOKED_PARTITIONS", "UNREVOKED_TASKS")
UNRELEASED = "UNRELEASED_PARTITIONS"


class GroupEpoch(NamedTuple):
    """Types 3, 11 and 17."""

    epoch: int
    metadata_hash: int | None = None
    validated_topology_epoch: int | None = None
    # Streams: settings of the last assignment, by name.
    configs: tuple[tuple[str, str], ...] | None = None


class About(NamedTuple):
    """Types 5, 10 and 19: who a member is and what it subscribes to."""

    group_instance_id: str | None
    rack_id: str | None
    client_id: str | None
    client_host: str | None
    rebalance_timeout_ms: int | None = None
    # None for streams.
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    is_classic: bool = False
    topology_epoch: int | None = None
    # Only members with the classic protocol have it, and versions of the subscriptions that they offered.
    session_timeout_ms: int | None = None
    offered_versions: tuple[int, ...] | None = None


class TargetEpoch(NamedTuple):
    """Types 6, 12 and 20."""

    epoch: int


class Target(NamedTuple):
    """Types 7, 13 and 21."""

    assigned: ByRole


class Current(NamedTuple):
    """Types 8, 14 and 22."""

    epoch: int
    previous_epoch: int
    state: str | None
    assigned: ByRole
    pending: ByRole
    # Records of 3.7 do not say the state: it follows from their other fields.
    is_state_inferred: bool = False


class BeingSetUp(NamedTuple):
    """Partitions of a share group's topic that get share state and can be assigned after that. The topic has its name,
    or its id if no name is known."""

    topic: str
    topic_id: str | None
    partitions: tuple[int, ...]


class Topics(NamedTuple):
    """Types 4, 9, 15 and 18: the topics that can be assigned."""

    topics: tuple[Topic, ...] = ()
    # Of share groups, by topic: the partitions that can be assigned. Their records do not say how many a topic has.
    assignable: tuple[tuple[int, ...], ...] | None = None
    # Written by the early access version (3.7), which had other assignors.
    is_early: bool = False
    # Of share groups; these topics can also stand among `topics`, with the partitions that they had before.
    being_set_up: tuple[BeingSetUp, ...] = ()

    def counts(self) -> dict[str, int | None]:
        """By name, how many partitions can be assigned; None: the record has no number."""
        sizes = (topic.partitions or None for topic in self.topics)
        known = sizes if self.assignable is None else map(len, self.assignable)
        return {topic.name: count for topic, count in zip(self.topics, known, strict=True)}


class Pattern(NamedTuple):
    """Type 16: the topics that the pattern matches."""

    topics: tuple[str, ...]


class Topology(NamedTuple):
    """Type 23: by subtopology, the topics that it reads."""

    epoch: int
    sources: Mapping[str, tuple[str, ...]]
