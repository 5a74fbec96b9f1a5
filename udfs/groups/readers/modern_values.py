"""The values of records of consumer, share and streams groups as a replay reads them: the values of `Record`.

Partitions are grouped by role (`TaskRole` in streams groups, else None): as topic partitions (see `topic_codes`), in
streams groups as tasks, pairs of subtopology and partition.
"""

from collections.abc import Mapping
from typing import NamedTuple

Task = tuple[str, int]
Share = frozenset[int] | frozenset[Task]
ByRole = Mapping[str | None, Share]

# The names of member states in the decoded tables. Records of 3.7 have no state: it follows from their other fields.
STABLE = "STABLE"
UNREVOKED = ("UNREVOKED_PARTITIONS", "UNREVOKED_TASKS")


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
    # In order; None for streams.
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    is_classic: bool = False
    topology_epoch: int | None = None
    # Only members with the classic protocol have it.
    session_timeout_ms: int | None = None


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


class Topics(NamedTuple):
    """Types 4, 9, 15 and 18: names of the topics that can be assigned, and their numbers of partitions; None: the
    record has no number."""

    topics: tuple[str, ...]
    num_partitions: tuple[int | None, ...] = ()

    def counts(self) -> dict[str, int | None]:
        return dict(zip(self.topics, self.num_partitions or (None,) * len(self.topics), strict=True))


class Pattern(NamedTuple):
    """Type 16: the topics that the pattern matches, in order."""

    topics: tuple[str, ...]


class Topology(NamedTuple):
    """Type 23: by subtopology, the topics that it reads."""

    epoch: int
    sources: Mapping[str, tuple[str, ...]]
