"""The state of a group at a given record of the log, and whether it ever had members."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import GroupState
from schemas.words.records import GroupType
from udfs.arrays.nullable import Flags, Numbers, flags, numbers
from udfs.arrays.texts import is_value
from udfs.lag.as_of import at, holding_at
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import codes_in


@dataclass(frozen=True)
class StatesAt:
    """One row for each record that was asked for. `row`: of group_state_intervals; NOWHERE: the state is not known.
    `num_members`: NONE: not known. `is_empty`: without members. `is_stable`: with members whose assignments
    the log has in a form that is known."""

    row: Numbers
    from_record_offset: Numbers
    num_members: Numbers
    is_empty: Flags
    has_had_members: Flags
    is_stable: Flags

    def take(self, which: Numbers) -> "StatesAt":
        return StatesAt(
            row=self.row[which],
            from_record_offset=self.from_record_offset[which],
            num_members=self.num_members[which],
            is_empty=self.is_empty[which],
            has_had_members=self.has_had_members[which],
            is_stable=self.is_stable[which],
        )

    @classmethod
    def of(cls, history: PartitionHistory, group_ids: pa.ChunkedArray, offsets: Numbers) -> "StatesAt":
        states = history.once("group_states", GroupStates.of)
        rows = holding_at(
            states.group,
            states.from_record_offset,
            states.to_record_offset,
            codes_in(states.groups, group_ids),
            offsets,
        )
        return cls(
            rows, at(states.from_record_offset, rows), at(states.num_members, rows), at(states.are_empty, rows, False),
            at(states.have_had_members, rows, False), at(states.are_stable, rows, False),
        )  # fmt: skip


@dataclass(frozen=True)
class GroupStates:
    """Rows of group_state_intervals, with the fields of StatesAt for each. `group`: a place in `groups`."""

    groups: pa.Array
    group: Numbers
    from_record_offset: Numbers
    to_record_offset: Numbers
    num_members: Numbers
    are_empty: Flags
    have_had_members: Flags
    are_stable: Flags

    @classmethod
    def of(cls, history: PartitionHistory) -> "GroupStates":
        states = history.table("group_state_intervals")
        groups = pc.unique(states.column("group_id"))
        return cls(
            groups=groups,
            group=codes_in(groups, states.column("group_id")),
            from_record_offset=numbers(states.column("from_record_offset")),
            to_record_offset=numbers(states.column("to_record_offset")),
            num_members=numbers(states.column("num_members")),
            are_empty=is_value(states.column("state"), GroupState.EMPTY),
            have_had_members=have_had_members(states),
            are_stable=are_stable(states),
        )


def have_had_members(states: pa.Table) -> Flags:
    """A classic group that only ever held offsets has no protocol type: members bring it. Groups of the other types
    begin with a member."""
    has_protocol = flags(pc.greater(pc.utf8_length(states.column("protocol_type")), 0))
    return has_protocol | flags(pc.not_equal(states.column("group_type"), GroupType.CLASSIC))


def are_stable(states: pa.Table) -> Flags:
    is_classic = is_value(states.column("group_type"), GroupType.CLASSIC)
    is_consumer = is_value(states.column("group_type"), GroupType.CONSUMER)
    is_known = is_consumer | (is_classic & is_value(states.column("protocol_type"), "consumer"))
    has_members = numbers(states.column("num_members")) > 0
    return np.asarray(is_value(states.column("state"), GroupState.STABLE) & is_known & has_members, np.bool_)
