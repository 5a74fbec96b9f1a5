"""Makes rows of offset_history: for offsets that were replaced, and for those in force at the end."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.tables.offsets import OFFSET_HISTORY
from schemas.words.history import CommitVia, Confidence, OffsetEnd
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, every, flags, integers, numbers, times
from udfs.commits.chunks import Effects, Runs
from udfs.commits.frames import LIVE, Frame

SCHEMA = table_schema(OFFSET_HISTORY)
VIA = pa.array([str(CommitVia.PLAIN), str(CommitVia.TRANSACTION)])
CONFIDENCE = pa.array([str(Confidence.CERTAIN), str(Confidence.LIKELY), str(Confidence.POSSIBLE)])
# Their places there.
CERTAIN, LIKELY, POSSIBLE = np.arange(3, dtype=np.int8)
ENDS = list(OffsetEnd)
END_NAMES = pa.array([str(end) for end in ENDS])
# The record shows that the offset was removed, but not why: these reasons are inferred.
CONCLUDED = np.array([end in (OffsetEnd.EXPIRED, OffsetEnd.DELETED, OffsetEnd.TOPIC_DELETED) for end in ENDS], np.bool_)


@dataclass(frozen=True)
class RunPositions:
    """Positions of runs, as rows of the frame: the first and the last commit of each."""

    frame: Frame
    first: Positions
    last: Positions
    # Runs that continue from the state, as positions in `first`, and their rows of the state.
    carried: Positions
    of_state: Positions

    def begun(self, values: Numbers, name: str) -> Numbers:
        """The value of the first commit; for a run that continues from the state, the value there."""
        if len(self.carried):
            values[self.carried] = numbers(self.frame.state[name])[self.of_state]
        return values


def rows_of_runs(frame: Frame, effects: Effects, runs: Runs) -> RunPositions:
    first = effects.at[runs.first]
    carried = np.flatnonzero(frame.is_carried[first] & ~frame.is_pending[first])
    return RunPositions(frame, first, effects.at[runs.last], carried, frame.row[first[carried]])


def num_commits(row: RunPositions, runs: Runs) -> Numbers:
    found = runs.last - runs.first + 1
    found[row.carried] += numbers(row.frame.state["num_commits"])[row.of_state] - 1
    return np.asarray(found, np.int64)


def are_certain(frame: Frame, effects: Effects, runs: Runs) -> Flags:
    """Whether all commits of the run are certain."""
    if frame.is_certain.all():
        return np.ones(len(runs.first), np.bool_)
    doubts = np.append(0, np.cumsum(~frame.is_certain[effects.at]))
    return np.asarray(doubts[runs.last + 1] == doubts[runs.first], np.bool_)


def closed_rows(
    frame: Frame, effects: Effects, runs: Runs, exact: Flags, ended_by: NDArray[np.int8], cluster: str, partition: int
) -> pa.Table:
    """For runs that were ended. `ended_by`: indexes into ENDS."""
    row = rows_of_runs(frame, effects, runs)
    size, key = len(row.first), frame.key[row.first]
    to_offset = effects.offset[runs.ender]
    is_certain = are_certain(frame, effects, runs)
    return table(
        size,
        {
            "cluster": every(cluster, pa.string(), size),
            "group_id": frame.groups.take(pa.array(frame.keys.group[key])),
            "topic": frame.topics.take(pa.array(frame.keys.topic[key])),
            "topic_id": named(frame.topic_ids, frame.topic_id[row.first]),
            "partition": pa.array(frame.keys.partition[key]),
            "from_time": times(row.begun(effects.time[runs.first], "from_time")),
            "to_time": times(effects.time[runs.ender]),
            "from_offset": pa.array(row.begun(effects.offset[runs.first], "from_offset")),
            "to_offset": pa.array(to_offset),
            "is_open": every(False, pa.bool_(), size),
            "is_from_exact": pa.array(exact[runs.first]),
            "is_to_exact": pa.array(exact[runs.ender]),
            "ended_by": END_NAMES.take(pa.array(ended_by)),
            **values(frame.committed[row.first], runs.previous, runs.has_previous),
            "leader_epoch": integers(frame.leader_epoch[row.first], pa.int32()),
            "commit_time": times(row.begun(frame.commit_time[row.first], "first_commit_time")),
            "num_commits": pa.array(num_commits(row, runs)),
            "last_commit_time": times(frame.commit_time[row.last]),
            "last_expire_time": times(frame.expire_time[row.last]),
            **origin(frame.producer_id[row.first]),
            "evidence_partition": every(partition, pa.int32(), size),
            "evidence_first_offset": pa.array(row.begun(frame.offset[row.first], "first_record_offset")),
            "evidence_last_offset": pa.array(to_offset),
            "confidence": CONFIDENCE.take(
                pa.array(np.where(is_certain, np.where(CONCLUDED[ended_by], LIKELY, CERTAIN), POSSIBLE))
            ),
            "metadata": named(frame.texts, frame.text[row.first]),
        },
    )


def table(size: int, columns: dict[str, pa.Array]) -> pa.Table:
    found = pa.table([columns[name] for name in SCHEMA.names], SCHEMA)
    assert found.num_rows == size
    return found


def named(names: pa.Array, codes: NDArray[np.int32]) -> pa.Array:
    """Codes below 0 become NULL."""
    if not len(names):
        return pa.nulls(len(codes), pa.string())
    is_null = codes < 0
    return names.take(pa.array(codes, mask=is_null) if is_null.any() else pa.array(codes))


def values(committed: Numbers, previous: Numbers, has_previous: Flags) -> dict[str, pa.Array]:
    delta = committed - previous
    # A difference that does not fit into 64 bits becomes NULL.
    fits = ((committed ^ previous) & (committed ^ delta)) >= 0
    return {
        "committed_offset": pa.array(committed),
        "previous_offset": pa.array(previous, mask=~has_previous),
        "delta": pa.array(delta, mask=~(has_previous & fits)),
    }


def origin(producer_id: Numbers) -> dict[str, pa.Array]:
    is_plain = producer_id == NONE
    return {
        "via": VIA.take(pa.array((~is_plain).astype(np.int8))),
        "producer_id": pa.array(producer_id, mask=is_plain),
    }


def held_rows(state: pa.Table, hole: tuple[int, int | None] | None = None) -> pa.Table:
    """Offsets in force, from the state in its order: open, or ended by missing records (last offset and time before
    them)."""
    live = state.filter(pc.equal(state["kind"], LIVE))
    size = live.num_rows
    to_time, to_offset, ended_by = ended_at(live, hole)
    committed, previous = numbers(live["committed_offset"]), live["previous_offset"]
    return table(
        size,
        {
            **{name: live[name] for name in ("cluster", "group_id", "topic", "topic_id", "partition")},
            **{name: live[name] for name in ("from_time", "from_offset", "is_from_exact", "leader_epoch", "metadata")},
            "to_time": to_time,
            "to_offset": to_offset,
            "is_open": every(hole is None, pa.bool_(), size),
            "is_to_exact": every(hole is None, pa.bool_(), size),
            "ended_by": ended_by,
            **values(committed, numbers(previous), previous.is_valid().to_numpy()),
            "commit_time": live["first_commit_time"],
            "num_commits": live["num_commits"],
            "last_commit_time": live["commit_time"],
            "last_expire_time": live["expire_time"],
            **origin(numbers(live["producer_id"])),
            "evidence_partition": live["offsets_partition"],
            "evidence_first_offset": live["first_record_offset"],
            "evidence_last_offset": live["last_offset"] if hole is None else to_offset,
            "confidence": CONFIDENCE.take(pa.array(np.where(flags(live["is_certain"]), CERTAIN, POSSIBLE))),
        },
    )


def ended_at(live: pa.Table, hole: tuple[int, int | None] | None) -> tuple[pa.Array, pa.Array, pa.Array]:
    size = live.num_rows
    if hole is None:
        return (
            pa.nulls(size, times(np.empty(0, np.int64)).type),
            pa.nulls(size, pa.int64()),
            pa.nulls(size, pa.string()),
        )
    offset, time = hole
    # History time never goes back.
    at = np.maximum(numbers(live["from_time"]), NONE if time is None else time)
    return times(at), every(offset, pa.int64(), size), every(str(OffsetEnd.COVERAGE_HOLE), pa.string(), size)
