"""Commits of a group whose time is before that of the previous commit: the broker's clock went back, mostly at a
failover."""

import numpy as np
import pyarrow as pa

from schemas.words.history import AnomalyKind
from udfs.arrays.nullable import NONE, Numbers
from udfs.commits.anomalies import CommitAnomalies, certain_rows
from udfs.commits.frames import Frame
from udfs.groups.states.group import CLOCK_STEP_US


def clock_steps(frame: Frame, cluster: str, partition: int) -> pa.Table:
    """One row for each step back, not for each record until the clock has caught up: those may be millions."""
    group, offset, time, before = steps(frame)
    told = [f"the record's time is {(old - new) // 1000:,} ms earlier than that of the group's previous commit"
            for new, old in zip(time.tolist(), before.tolist(), strict=True)]  # fmt: skip
    found = CommitAnomalies(frame.groups.take(pa.array(group)), offset, time, offset, told)
    return certain_rows(AnomalyKind.CLOCK_WENT_BACK, found, cluster, partition)


def steps(frame: Frame) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Group, offset and time of each record that is older than the one before, and the time of that one, in log
    order."""
    carried = np.flatnonzero(frame.is_carried)
    before = frame.carried("group_seen_time", carried)
    if not goes_back(np.append(np.max(before, initial=NONE), frame.log.time)):
        nothing = np.empty(0, np.int64)
        return nothing, nothing, nothing, nothing
    rows = np.flatnonzero(~frame.is_carried)
    time = frame.record_time[rows]
    # The state of a group comes before its records.
    group = frame.keys.group[frame.key[np.append(carried, rows)]].astype(np.int64)
    place = np.append(np.full(len(carried), -1), frame.place[rows])
    order = np.lexsort((place, group))
    group, time, place = group[order], np.append(before, time)[order], place[order]
    offset = np.append(np.zeros(len(carried), np.int64), frame.offset[rows])[order]
    new, old = time[1:], time[:-1]
    is_step = (group[1:] == group[:-1]) & (new != NONE) & (old != NONE) & (place[1:] >= 0)
    is_step[is_step] = old[is_step] - new[is_step] > CLOCK_STEP_US
    found = np.flatnonzero(is_step)
    found = found[np.argsort(place[1:][found])]
    return group[1:][found], offset[1:][found], new[found], old[found]


def goes_back(time: Numbers) -> bool:
    """Whether any record is older than any earlier one. Mostly none is, and then sorting is unnecessary."""
    if not (time[1:] < time[:-1]).any():
        return False
    latest = np.maximum.accumulate(time)
    return bool(((time != NONE) & (time < latest - CLOCK_STEP_US)).any())
