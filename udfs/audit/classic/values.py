"""Type 2 values as the audit takes them: the columns of a window, with topics numbered by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa

from udfs.assignors.groups import ABSENT, Codes, Numbers, Positions
from udfs.audit.checks.facts import Flags
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.client_libraries import library_sets
from udfs.groups.readers.record_columns import PartitionLists

# For subscriptions that cannot be read.
NO_VERSION: Final = -1


@dataclass(frozen=True)
class Listing:
    """Partitions of many members, each in the order of its list. `starts`: where each member's begin, and where the
    last one's end. Topics are numbers of the window's names."""

    starts: Positions
    topics: Codes
    partitions: Codes


@dataclass(frozen=True)
class Values:
    """The values of one window."""

    group_ids: Sequence[str]
    offsets: Sequence[int]
    times: Sequence[int | None]
    batches: Sequence[int]
    is_tombstone: Sequence[bool]
    protocol_types: Sequence[str | None]
    generations: Sequence[int | None]
    protocols: Sequence[str | None]
    leaders: Sequence[str | None]
    state_times: Sequence[int | None]
    # Where the members of each value begin, and where the last one's end.
    starts: Positions
    # By member, for all values one after another.
    member_ids: Sequence[str]
    instances: Sequence[str | None]
    client_ids: Sequence[str | None]
    racks: Sequence[str | None]
    versions: Numbers
    generation_ids: Numbers
    user_data: Sequence[bytes | None]
    is_assignment_read: Flags
    # The leader's SyncGroup request did not name the member at all.
    is_omitted: Flags
    has_assignment_data: Flags
    # By the number of the name.
    topics: Sequence[str]
    subscribed_starts: Positions
    subscribed: Codes
    owned: Listing
    assigned: Listing
    read: ClassicColumns

    @cached_property
    def libraries_of_leaders(self) -> Numbers:
        """Of each value. Most logs never need it."""
        return library_sets(self.read).leaders

    def __len__(self) -> int:
        return len(self.offsets)


def values_of(rows: pa.Table) -> Values:
    """From rows of `classic_group_metadata`, in their order."""
    read = ClassicColumns(rows)
    places = read.places
    # Numbered by name, so that nothing depends on the other names in the window.
    topics = sorted({*read.topics.names, *read.claimed_lists.names, *read.assigned_lists.names})
    numbers = {name: number for number, name in enumerate(topics)}
    return Values(
        group_ids=places.group_ids,
        offsets=places.offsets,
        times=places.times,
        batches=places.batches,
        is_tombstone=places.are_tombstones,
        protocol_types=read.column("protocol_type"),
        generations=read.column("generation"),
        protocols=read.column("protocol"),
        leaders=read.column("leader"),
        state_times=read.state_times,
        starts=read.starts,
        member_ids=read.of_member("member_id"),
        instances=read.of_member("group_instance_id"),
        client_ids=read.of_member("client_id"),
        racks=read.subscription_field("rack_id"),
        versions=read.subscribed_number("version", NO_VERSION),
        # Numbers below 0 are ignored.
        generation_ids=np.maximum(read.subscribed_number("generation_id", ABSENT), ABSENT),
        user_data=read.subscription_field("user_data"),
        is_assignment_read=read.is_assignment_read | read.is_omitted,
        is_omitted=read.is_omitted,
        has_assignment_data=read.has_assigned_data,
        topics=topics,
        subscribed_starts=read.topics.starts,
        subscribed=renumber(read.topics.names, read.topics.texts, numbers),
        owned=listing(read.claimed_lists, numbers),
        assigned=listing(read.assigned_lists, numbers),
        read=read,
    )


def listing(lists: PartitionLists, numbers: Mapping[str, int]) -> Listing:
    return Listing(lists.starts, renumber(lists.names, lists.topics, numbers), lists.partitions)


def renumber(names: Sequence[str], places: Codes, numbers: Mapping[str, int]) -> Codes:
    codes: Codes = np.array([numbers[name] for name in names] or [0], np.int32)[places]
    return codes
