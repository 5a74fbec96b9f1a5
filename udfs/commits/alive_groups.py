"""When a group has offsets, or commits that wait for their marker: a simple group exists only during that time. And
when a group has offsets that are only possible: an archive does not show whether their transaction was aborted."""

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, TIME, Numbers, integers, times
from udfs.commits.effects.fields import A, E, G, K
from udfs.commits.key_states import KeyStates

SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("from_record_offset", pa.int64(), nullable=False),
        pa.field("from_time", TIME),
        pa.field("to_record_offset", pa.int64()),
        pa.field("to_time", TIME),
        # Whether the group was still there where records are missing.
        pa.field("is_cut", pa.bool_(), nullable=False),
    ]
)
# `to_record_offset` NULL: the offset is still in effect.
POSSIBLE = pa.schema(
    [
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("from_record_offset", pa.int64(), nullable=False),
        pa.field("to_record_offset", pa.int64()),
    ]
)


def ended_rows(states: KeyStates, alive: Numbers) -> pa.Table:
    columns = (alive[:, A.from_record_offset], alive[:, A.from_time], alive[:, A.to_record_offset], alive[:, A.to_time])
    return rows(states, alive[:, A.group], *columns, is_cut=False)


def alive_rows(states: KeyStates, hole: tuple[int, int | None] | None = None) -> pa.Table:
    """Groups that are alive; if records are missing, up to there."""
    group = np.flatnonzero(states.groups[:, G.alive_from_offset] != NONE)
    from_record_offset, from_time = states.groups[group, G.alive_from_offset], states.groups[group, G.alive_from_time]
    to_record_offset, to_time = np.full(len(group), NONE), np.full(len(group), NONE)
    if hole is not None:
        to_record_offset[:] = hole[0]
        to_time = np.maximum(from_time, NONE if hole[1] is None else hole[1])
    return rows(states, group, from_record_offset, from_time, to_record_offset, to_time, is_cut=hole is not None)


def rows(
    states: KeyStates, group: Numbers, from_record_offset: Numbers, from_time: Numbers, to_record_offset: Numbers,
    to_time: Numbers, *, is_cut: bool,
) -> pa.Table:  # fmt: skip
    names = states.group_names.known.take(pa.array(group))
    columns = [
        names,
        pa.array(np.ascontiguousarray(from_record_offset)),
        times(from_time),
        integers(to_record_offset),
        times(to_time),
    ]
    return pa.table([*columns, pa.repeat(is_cut, len(group))], SCHEMA)


def possible_ended(states: KeyStates, ended: Numbers) -> pa.Table:
    """`ended`: values that ended, sorted by key. Those of a key that follow each other are one row."""
    ended = ended[:, ended[K.is_certain] == 0]
    key, first, last = ended[E.key], ended[K.from_record_offset], ended[E.to_record_offset]
    begins = np.ones(len(key), np.bool_)
    begins[1:] = (key[1:] != key[:-1]) | (first[1:] != last[:-1])
    ends = np.append(begins[1:], [True][: len(key)])
    return possible_rows(states, key[begins], first[begins], last[ends])


def possible_held(states: KeyStates, key: Numbers, held: Numbers, to_record_offset: int = int(NONE)) -> pa.Table:
    """Values in effect; if records are missing, up to there. `held`: columns of `fields.H`."""
    places = np.flatnonzero(held[K.is_certain] == 0)
    return possible_rows(
        states, key[places], held[K.from_record_offset, places], np.full(len(places), to_record_offset)
    )


def possible_rows(states: KeyStates, key: Numbers, first: Numbers, last: Numbers) -> pa.Table:
    names = states.group_names.known.take(pa.array(states.keys[key, K.group]))
    return pa.table([names, pa.array(np.ascontiguousarray(first)), integers(last)], POSSIBLE)
