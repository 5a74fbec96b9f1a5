"""When a group has offsets, or commits that wait for their marker. A simple group exists only during that time."""

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, TIME, Numbers, integers, times
from udfs.commits.effects.fields import A, G
from udfs.commits.key_states import KeyStates

SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("from_offset", pa.int64(), nullable=False),
        pa.field("from_time", TIME),
        pa.field("to_offset", pa.int64()),
        pa.field("to_time", TIME),
        # Whether the group was still there where records are missing.
        pa.field("is_cut", pa.bool_(), nullable=False),
    ]
)


def ended_rows(states: KeyStates, alive: Numbers) -> pa.Table:
    columns = (alive[:, A.from_offset], alive[:, A.from_time], alive[:, A.to_offset], alive[:, A.to_time])
    return rows(states, alive[:, A.group], *columns, is_cut=False)


def alive_rows(states: KeyStates, hole: tuple[int, int | None] | None = None) -> pa.Table:
    """Groups that are alive; if records are missing, up to there."""
    group = np.flatnonzero(states.groups[:, G.alive_from_offset] != NONE)
    from_offset, from_time = states.groups[group, G.alive_from_offset], states.groups[group, G.alive_from_time]
    to_offset, to_time = np.full(len(group), NONE), np.full(len(group), NONE)
    if hole is not None:
        to_offset[:] = hole[0]
        to_time = np.maximum(from_time, NONE if hole[1] is None else hole[1])
    return rows(states, group, from_offset, from_time, to_offset, to_time, is_cut=hole is not None)


def rows(
    states: KeyStates, group: Numbers, from_offset: Numbers, from_time: Numbers, to_offset: Numbers, to_time: Numbers,
    *, is_cut: bool,
) -> pa.Table:  # fmt: skip
    names = states.group_names.known.take(pa.array(group))
    columns = [
        names,
        pa.array(np.ascontiguousarray(from_offset)),
        times(from_time),
        integers(to_offset),
        times(to_time),
    ]
    return pa.table([*columns, pa.repeat(is_cut, len(group))], SCHEMA)
