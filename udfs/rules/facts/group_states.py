"""The state of a group at a given record of the log, and whether it ever had members."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import GroupState
from schemas.words.records import GroupType
from udfs.arrays.nullable import Flags, Numbers, flags, numbers
from udfs.lag.as_of import at, holding_at
from udfs.lag.texts import is_value
from udfs.rules.facts.at_offset import codes_in


@dataclass(frozen=True)
class StatesAt:
    """One row for each record that was asked for. `row`: of group_state_intervals; NOWHERE: the state is not known.
    `num_members`: NONE: not known. `is_empty`: without members. `is_stable`: with members whose assignments
    the log has in a form that is known."""

    row: Numbers
    from_offset: Numbers
    num_members: Numbers
    is_empty: Flags
    has_had_members: Flags
    is_stable: Flags

    def take(self, which: Numbers) -> "StatesAt":
        return StatesAt(
            row=self.row[which],
            from_offset=self.from_offset[which],
            num_members=self.num_members[which],
            is_empty=self.is_empty[which],
            has_had_members=self.has_had_members[which],
            is_stable=self.is_stable[which],
        )

    @classmethod
    def of(cls, states: pa.Table, group_ids: pa.ChunkedArray, offsets: Numbers) -> "StatesAt":
        names = pc.unique(states.column("group_id"))
        from_offset = numbers(states.column("from_offset"))
        rows = holding_at(
            codes_in(names, states.column("group_id")), from_offset, numbers(states.column("to_offset")),
            codes_in(names, group_ids), offsets,
        )  # fmt: skip
        members = numbers(states.column("num_members"))
        is_empty = is_value(states.column("state"), GroupState.EMPTY)
        return cls(
            rows, at(from_offset, rows), at(members, rows), at(is_empty, rows, False),
            at(have_had_members(states), rows, False), at(are_stable(states), rows, False),
        )  # fmt: skip


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
