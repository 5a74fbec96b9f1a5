"""What records assign by role, as topic partitions: tasks of streams groups as the partitions that they read."""

from udfs.groups.readers.modern_values import Topology
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Share
from udfs.groups.states.modern import Modern, TpsByRole
from udfs.topics.partition_codes import SHIFT, TopicCodes


def expand_roles(now: Modern, by_role: ByRole, topics: TopicCodes) -> TpsByRole:
    return {role: partitions_of(share, now.topology, topics) for role, share in by_role.items()}


def partitions_of(share: Share, topology: Topology | None, topics: TopicCodes) -> frozenset[int]:
    """A task reads its partition of every source and repartition topic of its subtopology. The log does not record
    which topics a pattern matches, nor which topics have fewer partitions than the task's number. Topics get their
    codes in the order of the record: that of a set changes from process to process."""
    if isinstance(share, Partitions):
        return share.tps
    if topology is None:
        return frozenset()
    return frozenset(
        topics.of_name(topic) << SHIFT | partition
        for subtopology, partition in share.listed
        # A number below 0 is reported by who reads the record.
        if partition >= 0
        for topic in topology.sources.get(subtopology, ())
    )


def by_subtopology(
    tps: frozenset[int], topology: Topology | None, topics: TopicCodes
) -> dict[str | None, frozenset[int]]:
    if topology is None:
        return {None: tps}
    tps_of: dict[str | None, set[int]] = {}
    for tp in tps:
        tps_of.setdefault(subtopology_of(tp, topology, topics), set()).add(tp)
    return {subtopology: frozenset(some) for subtopology, some in tps_of.items()}


def subtopology_of(tp: int, topology: Topology, topics: TopicCodes) -> str | None:
    """Each topic is read by one subtopology."""
    name = topics.name(tp)
    return next((each for each, sources in topology.sources.items() if name in sources), None)
