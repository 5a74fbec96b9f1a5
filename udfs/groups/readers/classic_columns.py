"""The one reader of type 2 values: column by column, since a log may have hundreds of thousands of them, each with all
members of the group. The replay, the audit and the progress of migrations each take the columns that they need. Lists
keep their order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.groups.readers.negative_partitions import negative_partitions, some_of
from udfs.groups.readers.record_columns import (
    Flags,
    PartitionLists,
    Places,
    TextLists,
    array,
    flags,
    flat,
    mask_invalid,
    micros,
    one_piece,
    partition_lists,
    places_of,
    plain,
    text_lists,
)
from udfs.groups.readers.records import Record

Member = TypeVar("Member")

TYPE = 2
# From this version on, a subscription contains the partitions that the member owns.
OWNED_SINCE = 1
NOTHING_LEFT_OUT: Mapping[int, str] = {}


class ClassicColumns:
    """Rows of `classic_group_metadata`, in their order. A column is read when it is first asked for. It needs neither
    `subscription_bytes` nor `payload_json` of members."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = one_piece(rows)
        # Where the members of each value begin, and where the last one's end.
        self.starts, self.items = flat(array(self.rows, "members"))
        self.subscription, self.assignment = self.items.field("subscription"), self.items.field("assignment")
        self.is_subscription_read = flags(self.subscription.is_valid())
        self.is_assignment_read = flags(self.assignment.is_valid())

    # -- of each value

    @property
    def places(self) -> Places:
        return places_of(self.rows)

    def column(self, name: str) -> list[Any]:
        return plain(array(self.rows, name))

    @property
    def state_times(self) -> list[int | None]:
        return micros(self.rows["current_state_time"])

    @property
    def left_out(self) -> dict[int, str]:
        """By row: partition numbers below 0 that its members name, as text."""
        fields = {"claims": ("subscription", "owned_partitions"), "has": ("assignment", "partitions")}
        by_row: dict[int, list[str]] = {}
        for verb, (payload, field) in fields.items():
            for at, names in negative_partitions(self.items.field(payload).field(field), "topic").items():
                row = int(np.searchsorted(self.starts, at, side="right")) - 1
                member_id = self.items.field("member_id")[at].as_py()
                by_row.setdefault(row, []).append(f"{member_id} {verb} {some_of(names)}")
        return {row: some_of(names) for row, names in by_row.items()}

    def records(
        self, values: Iterable[Any], left_out: Mapping[int, str] = NOTHING_LEFT_OUT
    ) -> Iterator[tuple[str, Record]]:
        """A record for each row, with its group. `values`: by row; a tombstone has none."""
        rows = zip(zip(*self.places, strict=True), values, strict=True)
        for row, ((group_id, offset, time, batch, epoch, is_dead), value) in enumerate(rows):
            yield (
                group_id,
                Record(
                    offset=offset,
                    time=time,
                    batch=batch,
                    leader_epoch=epoch,
                    type=TYPE,
                    member=None,
                    value=None if is_dead else value,
                    left_out=left_out.get(row),
                ),
            )

    def by_value(self, members: Sequence[Member]) -> list[tuple[Member, ...]]:
        """Those of each value."""
        return [tuple(members[first:last]) for first, last in pairwise(self.starts.tolist())]

    # -- of each member, those of all values one after another

    def of_member(self, name: str) -> list[Any]:
        return plain(self.items.field(name))

    def subscription_field(self, name: str) -> list[Any]:
        """A field of the subscription; None if that cannot be read."""
        return mask_invalid(plain(self.subscription.field(name)), self.is_subscription_read)

    def subscribed_number(self, name: str, absent: int) -> NDArray[np.int64]:
        numbers = self.subscription.field(name).fill_null(absent).to_numpy(zero_copy_only=False)
        return np.where(self.is_subscription_read, numbers.astype(np.int64), absent)

    @cached_property
    def topics(self) -> TextLists:
        """Subscribed topics."""
        return text_lists(self.subscription.field("topics"))

    @property
    def can_claim(self) -> Flags:
        """Whether the subscription can be read, and its version has a list of owned partitions."""
        return self.is_subscription_read & flags(pc.greater_equal(self.subscription.field("version"), OWNED_SINCE))

    @cached_property
    def claimed_lists(self) -> PartitionLists:
        """What members claimed to own when they joined."""
        return partition_lists(self.subscription.field("owned_partitions"), "topic")

    @cached_property
    def assigned_lists(self) -> PartitionLists:
        return partition_lists(self.assignment.field("partitions"), "topic")

    @cached_property
    def is_omitted(self) -> Flags:
        """The leader's assignment did not name the member: zero bytes."""
        return flags(pc.equal(pc.binary_length(self.items.field("assignment_bytes")), 0))

    # -- whether a list, or bytes, of a member are empty; false if the payload cannot be read

    @property
    def has_claimed(self) -> Flags:
        return are_filled(self.subscription, "owned_partitions")

    @property
    def has_partitions(self) -> Flags:
        return are_filled(self.assignment, "partitions")

    @property
    def has_assigned_data(self) -> Flags:
        return are_filled(self.assignment, "user_data")


def are_filled(parent: pa.StructArray, name: str) -> Flags:
    field = parent.field(name)
    size = pc.binary_length(field) if pa.types.is_binary(field.type) else pc.list_value_length(field)
    return flags(parent.is_valid()) & flags(pc.greater(size, 0))
