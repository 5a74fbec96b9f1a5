"""When a group has offsets, or commits that wait for their marker. A simple group exists only during that time."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import (
    NONE,
    TIME,
    Flags,
    Numbers,
    Positions,
    ends_of,
    first_of,
    flags,
    integers,
    numbers,
    times,
)
from udfs.commits.chunks import Effects
from udfs.commits.frames import Frame
from udfs.commits.transactions import Waiting

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


@dataclass(frozen=True)
class Spans:
    """Intervals in which one key, or one pending commit, keeps its group alive: positions in the chunk, both
    included."""

    group: Numbers
    start: Numbers
    end: Numbers


@dataclass(frozen=True)
class Liveness:
    """Intervals that ended, and for each group since when it is alive; NONE: it has nothing."""

    ended: pa.Table
    from_offset: Numbers
    from_time: Numbers


def liveness_of(frame: Frame, effects: Effects, waiting: Waiting) -> Liveness:
    group, start, end = stretches(frame, together(live_spans(frame, effects), pending_spans(frame, waiting)))
    known_offset, known_time = known(frame)
    from_offset, from_time = known_offset[group], known_time[group]
    is_new = start >= 0
    from_offset[is_new], from_time[is_new] = frame.at_places(start[is_new])
    is_open = end > frame.size
    ended = np.flatnonzero(~is_open)
    to_offset, to_time = frame.at_places(end[ended])
    found = pa.table(
        [
            frame.groups.take(pa.array(group[ended])),
            pa.array(from_offset[ended]),
            times(from_time[ended]),
            pa.array(to_offset),
            times(np.maximum(to_time, from_time[ended])),
            pa.repeat(False, len(ended)),
        ],
        SCHEMA,
    )
    since, since_time = np.full(len(frame.groups), NONE), np.full(len(frame.groups), NONE)
    since[group[is_open]], since_time[group[is_open]] = from_offset[is_open], from_time[is_open]
    return Liveness(found, since, since_time)


def live_spans(frame: Frame, effects: Effects) -> Spans:
    is_new_key = first_of(effects.key)
    is_start = effects.is_value.copy()
    is_start[1:] &= is_new_key[1:] | ~effects.is_value[:-1]
    starts = np.flatnonzero(is_start)
    cuts = np.flatnonzero(is_new_key | ~effects.is_value)
    following = np.searchsorted(cuts, starts, side="right")
    cut = np.append(cuts, 0)[following]
    is_ended = (following < len(cuts)) & ~is_new_key[cut]
    end = np.where(is_ended, effects.place[cut], frame.size + 1)
    return Spans(frame.keys.group[effects.key[starts]].astype(np.int64), effects.place[starts], end)


def pending_spans(frame: Frame, waiting: Waiting) -> Spans:
    """Until the marker, or until a deletion of the key removes the pending commit too."""
    chosen = np.flatnonzero(~was_lost(frame, waiting.at))
    at, marker = waiting.at[chosen], waiting.marker[chosen]
    end = np.full(len(at), frame.size + 1)
    end[marker >= 0] = frame.markers.place[marker[marker >= 0]]
    deletions = np.flatnonzero(~frame.is_value & ~frame.is_carried)
    following = np.searchsorted(deletions, at, side="right")
    deletion = np.append(deletions, 0)[following]
    is_hit = (following < len(deletions)) & (frame.key[deletion] == frame.key[at])
    end[is_hit] = np.minimum(end[is_hit], frame.place[deletion[is_hit]])
    return Spans(frame.keys.group[frame.key[at]].astype(np.int64), frame.place[at], end)


def was_lost(frame: Frame, at: Positions) -> Flags:
    """Pending commits that were overridden before this chunk: what overrode them keeps the group alive for as long."""
    found = np.zeros(len(at), np.bool_)
    carried = frame.is_carried[at]
    found[carried] = flags(frame.state["is_lost"])[frame.row[at[carried]]]
    return found


def together(first: Spans, second: Spans) -> Spans:
    return Spans(
        np.append(first.group, second.group), np.append(first.start, second.start), np.append(first.end, second.end)
    )


def stretches(frame: Frame, spans: Spans) -> tuple[Numbers, Numbers, Numbers]:
    """Merges spans of a group that touch or overlap."""
    base = frame.base
    order = np.argsort(spans.group * base + spans.start + 1, kind="stable")
    group, start = spans.group[order], spans.start[order]
    reach = np.maximum.accumulate(group * base + spans.end[order])
    is_first = first_of(group)
    is_first[1:] |= group[1:] * base + start[1:] > reach[:-1]
    starts = np.flatnonzero(is_first)
    lasts = ends_of(starts, len(group))
    return group[starts], start[starts], reach[lasts] - group[lasts] * base


def known(frame: Frame) -> tuple[Numbers, Numbers]:
    """For each group, since when it is alive according to the state."""
    offset, time = np.full(len(frame.groups), NONE), np.full(len(frame.groups), NONE)
    rows = np.flatnonzero(frame.is_carried)
    group = frame.keys.group[frame.key[rows]]
    offset[group] = numbers(frame.state["alive_from_offset"])[frame.row[rows]]
    time[group] = numbers(frame.state["alive_from_time"])[frame.row[rows]]
    return offset, time


def alive_rows(state: pa.Table, hole: tuple[int, int | None] | None = None) -> pa.Table:
    """Groups that are alive, one row each; if records are missing, up to there."""
    columns = ["group_id", "alive_from_offset", "alive_from_time"]
    alive = state.select(columns).filter(state["alive_from_offset"].is_valid())
    alive = alive.group_by(columns, use_threads=False).aggregate([])
    size = alive.num_rows
    if hole is None:
        to_offset, to_time = pa.nulls(size, pa.int64()), pa.nulls(size, TIME)
    else:
        time = NONE if hole[1] is None else hole[1]
        to_offset = integers(np.full(size, hole[0]))
        to_time = times(np.maximum(numbers(alive["alive_from_time"]), time))
    is_cut = pa.repeat(hole is not None, size)
    return pa.table([*(alive[name] for name in columns), to_offset, to_time, is_cut], SCHEMA)
