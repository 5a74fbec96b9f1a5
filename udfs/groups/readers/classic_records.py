"""Type 2 records as a replay takes them: values with their members, and partitions as sets."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.client_libraries import ANY_LIBRARY, library_sets
from udfs.groups.readers.negative_partitions import without_negative
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.record_columns import PartitionLists, mask_invalid, texts_of
from udfs.groups.readers.recorded_lists import TP_BYTES, tps_of
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

Tps = frozenset[int]
NOTHING: Tps = frozenset()


class ClassicMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    rebalance_timeout_ms: int | None
    session_timeout_ms: int
    # Subscribed topics; None if unreadable.
    topics: tuple[str, ...] | None
    # What it claimed to own when it joined; None if unreadable, or if the version has no such field.
    claimed: Tps | None
    # -1: it was reset; None: not in the record.
    generation_id: int | None
    rack_id: str | None
    # None: cannot be read.
    assigned: Tps | None
    # Sets of client libraries, as numbers: those that write such a subscription, and, of the leader, those that write
    # such assignments as well.
    libraries: int = int(ANY_LIBRARY)
    leader_libraries: int = int(ANY_LIBRARY)


class ClassicValue(NamedTuple):
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    # Microseconds; None: not in the record.
    state_time: int | None
    members: tuple[ClassicMember, ...]


@uncollected()
def classic_records(rows: pa.Table, topics: TopicCodes) -> list[tuple[str, Record]]:
    """From rows of `classic_group_metadata`, in their order."""
    if rows.num_rows == 0:
        return []
    read = ClassicColumns(rows)
    values = zip(
        *(read.column(name) for name in ("protocol_type", "generation", "protocol", "leader")), read.state_times,
        members_of(read, topics), strict=True,
    )  # fmt: skip
    return [*read.records(map(ClassicValue._make, values), read.left_out)]


def members_of(read: ClassicColumns, topics: TopicCodes) -> list[tuple[ClassicMember, ...]]:
    known: dict[bytes, Tps] = {b"": NOTHING}
    named = ("member_id", "group_instance_id", "client_id", "client_host", "rebalance_timeout_ms", "session_timeout_ms")
    libraries = library_sets(read)
    columns = (
        *(read.of_member(name) for name in named),
        mask_invalid(texts_of(read.topics), read.is_subscription_read),
        mask_invalid(partition_sets(read.claimed_lists, topics, known), read.can_claim),
        read.subscription_field("generation_id"),
        read.subscription_field("rack_id"),
        assigned_partitions(read, topics, known),
        libraries.members.tolist(),
        libraries.as_leaders.tolist(),
    )
    return read.by_value([*map(ClassicMember._make, zip(*columns, strict=True))])


def assigned_partitions(read: ClassicColumns, topics: TopicCodes, known: dict[bytes, Tps]) -> list[Tps | None]:
    assigned = mask_invalid(partition_sets(read.assigned_lists, topics, known), read.is_assignment_read)
    for place in np.flatnonzero(read.is_omitted).tolist():
        assigned[place] = NOTHING
    return assigned


def partition_sets(lists: PartitionLists, topics: TopicCodes, known: dict[bytes, Tps]) -> list[Tps]:
    """`known`: sets made so far. Equal lists become one set: most appear in many records, and members claim what they
    were assigned."""
    tps, places = without_negative(tps_of(lists, topics.of_name), lists.partitions, lists.starts)
    raw = tps.tobytes()
    sets = []
    for first, last in pairwise((places * TP_BYTES).tolist()):
        own = raw[first:last]
        tps_of_list = known.get(own)
        if tps_of_list is None:
            tps_of_list = known[own] = frozenset(np.frombuffer(own, np.int64).tolist())
        sets.append(tps_of_list)
    return sets
