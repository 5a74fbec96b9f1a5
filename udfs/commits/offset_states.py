"""The state of keys after a chunk, as rows of the table replayed_offsets."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.tables.state.replayed_offsets import REPLAYED_OFFSETS
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import (
    NONE,
    Flags,
    Numbers,
    Positions,
    ends_of,
    every,
    first_of,
    flags,
    integers,
    numbers,
    times,
)
from udfs.commits.chunks import Effects, Runs, are_complete, seen_before
from udfs.commits.frames import GONE, LIVE, PENDING, Frame, keys_of, names_of
from udfs.commits.liveness import Liveness
from udfs.commits.offset_rows import are_certain, named, num_commits, rows_of_runs
from udfs.commits.transactions import Waiting
from udfs.log.gaps import Gaps

SCHEMA = table_schema(REPLAYED_OFFSETS)
T = TypeVar("T", np.int64, np.int32, np.bool_)


@dataclass(frozen=True)
class OfKeys:
    """Values by key and by group that all their rows of the state share."""

    seen: Numbers
    written_time: Numbers
    history_time: Numbers
    hole_offset: Numbers
    group_seen: Numbers
    group_seen_time: Numbers


def of_keys(frame: Frame, effects: Effects) -> OfKeys:
    starts = np.flatnonzero(first_of(frame.key))
    ends = ends_of(starts, len(frame.key))
    is_carried = frame.is_carried
    # The row of the state, if the key has one.
    carried = np.flatnonzero(is_carried[starts])
    of_state = frame.row[starts[carried]]

    def stored(name: str) -> Numbers:
        found = np.full(len(starts), NONE)
        found[carried] = numbers(frame.state[name])[of_state]
        return found

    commits = np.where(frame.is_value & ~is_carried, np.arange(len(frame.key)), -1)
    last = np.maximum.reduceat(commits, starts) if len(starts) else starts
    written = np.where(last >= 0, written_time(frame, last), stored("written_time"))
    history = np.full(len(starts), NONE)
    history[effects.key] = effects.time  # the last one of each key stays
    is_new = ~is_carried[ends]
    group_seen = np.where(is_new, frame.offset[ends], stored("group_seen_offset"))
    group_seen_time = np.where(is_new, frame.record_time[ends], stored("group_seen_time"))
    order = np.lexsort((group_seen, frame.keys.group))
    by_group, by_group_time = np.full(len(frame.groups), NONE), np.full(len(frame.groups), NONE)
    group = frame.keys.group[order]
    lasts = np.flatnonzero(np.append(first_of(group)[1:], True)) if len(group) else order
    by_group[group[lasts]], by_group_time[group[lasts]] = group_seen[order][lasts], group_seen_time[order][lasts]
    return OfKeys(frame.seen[ends], written, history, stored("hole_offset"), by_group, by_group_time)


def written_time(frame: Frame, rows: Positions) -> Numbers:
    """The broker's clock at the commit; if unknown, the time of the record."""
    return np.where(frame.commit_time[rows] == NONE, frame.record_time[rows], frame.commit_time[rows])


@dataclass(frozen=True)
class Kept:
    """Rows of the next state: keys with a value, keys without one, pending commits. Each is a row of the frame. For
    keys without a value it is any row of the key, and its commit is ignored."""

    live: Positions
    gone: Positions
    pending: Positions

    @property
    def at(self) -> Positions:
        return np.concatenate([self.live, self.gone, self.pending])

    def together(self, live: NDArray[T], gone: Any, pending: Any) -> NDArray[T]:
        """A column of the state. Each part is a column or one value."""
        parts = ((self.live, live), (self.gone, gone), (self.pending, pending))
        return np.concatenate([np.broadcast_to(np.asarray(part, live.dtype), len(at)) for at, part in parts])


def state_of(
    frame: Frame, effects: Effects, runs: Runs, exact: Flags, waiting: Waiting, alive: Liveness, gaps: Gaps,
    cluster: str, partition: int,
) -> pa.Table:  # fmt: skip
    """`runs`: those that were not ended."""
    live, still = effects.at[runs.last], np.flatnonzero(waiting.marker < 0)
    is_gone = np.ones(len(frame.keys.group), np.bool_)
    is_gone[frame.key[live]] = False
    gone = np.flatnonzero(is_gone)
    kept = Kept(live, np.searchsorted(frame.key, gone), waiting.at[still])
    deleted = np.full(len(is_gone), -1)
    deleted[effects.key] = effects.offset
    pending_exact = pending_exactness(frame, kept.pending, gaps)
    size = len(kept.at)
    columns = {
        "cluster": every(cluster, pa.string(), size),
        "offsets_partition": every(partition, pa.int32(), size),
        "record_offset": pa.array(kept.together(frame.offset[live], deleted[gone], frame.offset[kept.pending])),
        "is_lost": pa.array(kept.together(np.zeros(len(live), np.bool_), False, waiting.is_lost[still])),
        "is_from_exact": pa.array(kept.together(exact[runs.first], True, pending_exact)),
        **key_columns(frame, kept, of_keys(frame, effects), alive),
        **commit_columns(frame, kept, are_certain(frame, effects, runs)),
        **run_columns(frame, kept, effects, runs),
    }
    return pa.table([columns[name] for name in SCHEMA.names], SCHEMA)


def key_columns(frame: Frame, kept: Kept, of: OfKeys, alive: Liveness) -> dict[str, pa.Array]:
    key = frame.key[kept.at]
    group = frame.keys.group[key]
    kind = kept.together(np.zeros(len(kept.live), np.int32), 1, 2)
    return {
        "group_id": frame.groups.take(pa.array(group)),
        "topic": frame.topics.take(pa.array(frame.keys.topic[key])),
        "partition": pa.array(frame.keys.partition[key]),
        "kind": pa.array([LIVE, GONE, PENDING]).take(pa.array(kind)),
        "seen_offset": pa.array(of.seen[key]),
        "history_time": times(of.history_time[key]),
        "written_time": times(of.written_time[key]),
        "hole_offset": integers(of.hole_offset[key]),
        "alive_from_offset": integers(alive.from_offset[group]),
        "alive_from_time": times(alive.from_time[group]),
        "group_seen_offset": pa.array(of.group_seen[group]),
        "group_seen_time": times(of.group_seen_time[group]),
    }


def commit_columns(frame: Frame, kept: Kept, is_certain: Flags) -> dict[str, pa.Array]:
    """`is_certain`: of the rows with a value."""
    live, pending = kept.live, kept.pending

    def of(values: Numbers) -> Numbers:
        return kept.together(values[live], NONE, values[pending])

    has_value = kept.together(np.ones(len(live), np.bool_), False, True)
    return {
        "record_time": times(of(frame.record_time)),
        "committed_offset": pa.array(of(frame.committed), mask=~has_value),
        "leader_epoch": integers(of(frame.leader_epoch), pa.int32()),
        "topic_id": named(frame.topic_ids, kept.together(frame.topic_id[live], -1, frame.topic_id[pending])),
        "commit_time": times(of(frame.commit_time)),
        "expire_time": times(of(frame.expire_time)),
        "producer_id": integers(of(frame.producer_id)),
        "producer_epoch": integers(of(frame.producer_epoch), pa.int32()),
        "is_certain": pa.array(kept.together(is_certain, True, frame.is_certain[pending])),
        "metadata": named(frame.texts, kept.together(frame.text[live], -1, frame.text[pending])),
    }


def run_columns(frame: Frame, kept: Kept, effects: Effects, runs: Runs) -> dict[str, pa.Array]:
    row = rows_of_runs(frame, effects, runs)

    def of(values: Numbers) -> Numbers:
        return kept.together(values, NONE, NONE)

    has_previous = kept.together(runs.has_previous, False, False)
    return {
        "from_offset": integers(of(row.begun(effects.offset[runs.first], "from_offset"))),
        "from_time": times(of(row.begun(effects.time[runs.first], "from_time"))),
        "first_record_offset": integers(of(row.begun(frame.offset[row.first], "first_record_offset"))),
        "first_commit_time": times(of(row.begun(frame.commit_time[row.first], "first_commit_time"))),
        "last_offset": integers(of(effects.offset[runs.last])),
        "previous_offset": pa.array(of(runs.previous), mask=~has_previous),
        "num_commits": pa.array(kept.together(num_commits(row, runs), 0, 0)),
    }


def pending_exactness(frame: Frame, at: Positions, gaps: Gaps) -> Flags:
    """Whether no record of the key can be missing before the pending commit. Records missing before its marker are
    handled later."""
    carried = frame.is_carried[at]
    found = np.ones(len(at), np.bool_)
    found[carried] = flags(frame.state["is_from_exact"])[frame.row[at[carried]]]
    if len(gaps.firsts):
        new = at[~carried]
        found[~carried] = are_complete(gaps, seen_before(frame)[new], frame.offset[new])
    return found


def in_order(state: pa.Table) -> pa.Table:
    """For each key first the value in force, then pending commits, in log order. Sorts by codes, since Arrow sorts
    names slowly."""
    _, group = names_of([state["group_id"]])
    topics, topic = names_of([state["topic"]])
    _, kind = names_of([state["kind"]])
    _, key = keys_of(group, topic, numbers(state["partition"]), len(topics))
    order = np.lexsort((numbers(state["record_offset"]), kind, key))
    return state if (order[1:] > order[:-1]).all() else state.take(pa.array(order))


def unseen_behind(state: pa.Table, last_offset: int) -> pa.Table:
    """The state after missing records: every key stays known, but none has a value."""
    of_key = pc.not_equal(state["kind"], PENDING)
    kept = state.filter(of_key)
    size = kept.num_rows
    same = ("cluster", "offsets_partition", "group_id", "topic", "partition", "seen_offset", "history_time",
            "written_time", "group_seen_offset", "group_seen_time")  # fmt: skip
    columns: dict[str, pa.Array] = {name: kept[name] for name in same}
    columns |= {name: every(last_offset, pa.int64(), size) for name in ("record_offset", "hole_offset")}
    columns |= {
        "kind": every(GONE, pa.string(), size),
        "is_certain": every(True, pa.bool_(), size),
        "is_lost": every(False, pa.bool_(), size),
        "is_from_exact": every(True, pa.bool_(), size),
        "num_commits": every(0, pa.int64(), size),
    }
    return pa.table([columns.get(f.name, pa.nulls(size, f.type)) for f in SCHEMA], SCHEMA)
