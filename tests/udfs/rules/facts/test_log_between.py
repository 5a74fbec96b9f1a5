"""What became of a log between two commits, against plain loops over its snapshots."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from udfs.arrays.nullable import NONE, Numbers, integers, times
from udfs.lag.watermarks import COLUMNS, Watermarks
from udfs.rules.facts.log_between import LogBetween

SECOND = 1_000_000


@dataclass(frozen=True)
class Seen:
    """`epoch`, `topic_id`: None: not captured."""

    second: int
    partition: int
    end: int
    topic_id: str | None
    epoch: int | None


@dataclass(frozen=True)
class Pair:
    """Two commits; the previous offset is that of the earlier one."""

    partition: int
    previous: int
    earlier: int | None
    later: int | None
    theirs: str | None
    own: str | None


Fate = tuple[bool, bool, int | None, int | None]


def slow(shots: Sequence[Seen], pair: Pair) -> Fate:
    """Made anew; cut; the ends around the earlier commit."""
    if pair.later is None:
        return False, False, None, None
    log = carried([each for each in shots if each.partition == pair.partition])
    since = pair.later if pair.earlier is None else pair.earlier
    low = usable([each for each in log if each.second <= since][-1:], pair.theirs)
    following = min((each.second for each in shots if each.second >= pair.later), default=None)
    high = usable([each for each in log if each.second == following], pair.own)
    high = high or usable([each for each in log if each.second <= pair.later][-1:], pair.own)
    begin = low[0].second + 1 if low else since
    inside = [each for each in log if high and begin <= each.second <= high[0].second]
    path = [*(low if high else []), *inside]
    steps = [(one, two, bool(low) and place == 0) for place, (one, two) in enumerate(pairwise(path))]
    is_anew = any(is_other(one.topic_id, two.topic_id) or is_older(one, two) for one, two, _ in steps)
    is_anew |= any(is_other(each.topic_id, pair.own) for each in low)
    is_anew |= any(is_other(each.topic_id, pair.theirs) for each in high)
    is_same = pair.theirs is not None and pair.theirs == pair.own
    is_cut = any(loses(one, two, is_first, pair.previous) for one, two, is_first in steps)
    return is_anew and not is_same, is_cut, low[0].end if low else None, inside[0].end if inside else None


def carried(shots: Sequence[Seen]) -> list[Seen]:
    """What a snapshot does not say is as in the one before."""
    known: list[Seen] = []
    for each in shots:
        before = known[-1] if known else each
        topic_id = before.topic_id if each.topic_id is None else each.topic_id
        known.append(replace(each, topic_id=topic_id, epoch=before.epoch if each.epoch is None else each.epoch))
    return known


def usable(shots: list[Seen], topic_id: str | None) -> list[Seen]:
    return [each for each in shots if not is_other(each.topic_id, topic_id)]


def is_other(one: str | None, two: str | None) -> bool:
    return one is not None and two is not None and one != two


def is_older(one: Seen, two: Seen) -> bool:
    return one.epoch is not None and two.epoch is not None and two.epoch < one.epoch


def loses(one: Seen, two: Seen, is_first: bool, previous: int) -> bool:
    """`is_first`: the earlier commit was between these two, so that the log may have been longer then."""
    if is_other(one.topic_id, two.topic_id) or two.end >= previous:
        return False
    return one.end >= previous or (is_first and (two.end < one.end or is_older(two, one)))


def random_log(rng: np.random.Generator) -> list[Seen]:
    shots = []
    seconds = np.unique(rng.integers(0, 60, rng.integers(0, 9))).tolist()
    for partition in range(2):
        end, topic, epoch = int(rng.integers(0, 50)), 1, 3
        for second in seconds:
            end = int(end + rng.integers(0, 20) if rng.random() < 0.8 else rng.integers(0, 50))
            topic, epoch = topic + int(rng.random() < 0.1), max(epoch + int(rng.choice([0, 0, 0, 1, -1])), 0)
            if rng.random() < 0.85:
                named = str(topic) if rng.random() < 0.6 else None
                shots.append(Seen(second, partition, end, named, epoch if rng.random() < 0.7 else None))
    return sorted(shots, key=lambda each: (each.second, each.partition))


def random_pair(rng: np.random.Generator) -> Pair:
    earlier, later = sorted(rng.integers(-3, 65, 2).tolist())
    return Pair(
        partition=int(rng.integers(0, 3)),
        previous=int(rng.integers(0, 80)),
        earlier=earlier if rng.random() < 0.9 else None,
        later=later if rng.random() < 0.95 else None,
        theirs=str(rng.integers(1, 3)) if rng.random() < 0.3 else None,
        own=str(rng.integers(1, 4)) if rng.random() < 0.3 else None,
    )


def fast(shots: Sequence[Seen], pairs: Sequence[Pair]) -> list[Fate]:
    columns = {
        "captured_time": times(np.array([each.second * SECOND for each in shots], np.int64)),
        "topic": pa.array(["t"] * len(shots), pa.string()),
        "topic_id": pa.array([each.topic_id for each in shots], pa.string()),
        "partition": pa.array([each.partition for each in shots], pa.int32()),
        "log_start_offset": pa.array([0] * len(shots), pa.int64()),
        "log_end_offset": pa.array([each.end for each in shots], pa.int64()),
        "leader_epoch": pa.array([each.epoch for each in shots], pa.int32()),
    }
    later = {
        "topic": pa.array(["t"] * len(pairs)),
        "topic_id": pa.array([each.own for each in pairs], pa.string()),
        "partition": pa.array([each.partition for each in pairs], pa.int32()),
        "previous_offset": pa.array([each.previous for each in pairs], pa.int64()),
    }
    earlier = pa.table({"topic_id": pa.array([each.theirs for each in pairs], pa.string())})
    watermarks = Watermarks.of(pa.table({name: columns[name] for name in COLUMNS}))
    of_times = (micros([each.earlier for each in pairs]), micros([each.later for each in pairs]))
    log = LogBetween.of(watermarks, earlier, pa.table(later), *of_times)
    ends = (integers(each).to_pylist() for each in (log.end_before, log.end_after))
    return list(zip(log.is_anew.tolist(), log.is_cut.tolist(), *ends, strict=True))


def micros(seconds: Sequence[int | None]) -> Numbers:
    return np.array([NONE if second is None else second * SECOND for second in seconds], np.int64)


@pytest.mark.parametrize("turn", range(4))
def test_what_became_of_a_log_is_what_loops_find(rng: np.random.Generator, turn: int) -> None:
    for _ in range(150):
        shots, pairs = random_log(rng), [random_pair(rng) for _ in range(30)]
        assert fast(shots, pairs) == [slow(shots, pair) for pair in pairs]
