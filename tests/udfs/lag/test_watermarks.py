"""Which snapshot of a partition is meant at a time, against plain loops."""

import numpy as np
import pyarrow as pa

from tests.builders.tables.lag_histories import SECOND, history
from tests.oracles.lag.lag_at_snapshots import LOOKBACK, Captured, Place
from udfs.lag.time_lag import last_at_most, written_times
from udfs.lag.watermarks import Snapshots, Watermarks

PLACES: list[Place] = [(topic, partition) for topic in ("clicks", "orders") for partition in range(3)]
Known = dict[Place, list[int]]


def random_snapshots(rng: np.random.Generator) -> dict[int, dict[Place, Captured]]:
    """Some partitions are in all of them, others in a few."""
    share = dict(zip(PLACES, rng.choice([0.2, 0.8, 1.0], len(PLACES)), strict=True))
    times = np.unique(rng.integers(0, 60, 8)) * SECOND
    times[times < 5 * SECOND] -= LOOKBACK
    result = {
        int(time): {place: Captured(None, 0, 1) for place in PLACES if rng.random() < share[place]} for time in times
    }
    return {time: captured for time, captured in result.items() if captured}


def asked(rng: np.random.Generator) -> tuple[list[Place], list[int]]:
    places = [PLACES[each] if each < len(PLACES) else ("gone", 0) for each in rng.integers(0, len(PLACES) + 1, 30)]
    return places, (rng.integers(-3, 70, 30) * SECOND).tolist()


def test_snapshots_at_and_after_a_time_are_those_of_a_loop(rng: np.random.Generator) -> None:
    for _ in range(100):
        snapshots = random_snapshots(rng)
        marks: Watermarks = history(0, snapshots).watermarks
        places, times = asked(rng)
        wanted = pa.table({"topic": [topic for topic, _ in places], "partition": [number for _, number in places]})
        before, after = (look(wanted, np.array(times)) for look in (marks.at, marks.after))
        for place, time, one, other in zip(places, times, before.tolist(), after.tolist(), strict=True):
            known = [each for each in snapshots if place in snapshots[each] and time - LOOKBACK <= each <= time]
            assert row_of(marks, one) == (None if not known else (place, max(known)))
            following = min((each for each in snapshots if each >= time), default=None)
            is_there = following is not None and place in snapshots[following]
            assert row_of(marks, other) == ((place, following) if is_there else None)


def test_rows_of_some_topics_answer_for_these_alone(rng: np.random.Generator) -> None:
    for _ in range(30):
        snapshots = random_snapshots(rng)
        marks: Watermarks = history(0, snapshots).watermarks
        # As files have them: in any order.
        captured = Snapshots.of(marks.rows.take(pa.array(rng.permutation(marks.rows.num_rows))))
        places, times = asked(rng)
        wanted = pa.table({"topic": [topic for topic, _ in places], "partition": [number for _, number in places]})
        for names in ([], ["orders"], ["never", "clicks"], ["clicks", "orders"]):
            some = captured.of_topics(pa.array(names, pa.string()))
            assert some.times.tolist() == marks.times.tolist()
            for look, whole in ((some.at, marks.at), (some.after, marks.after)):
                result = [row_of(some, row) for row in look(wanted, np.array(times)).tolist()]
                known = [row_of(marks, row) for row in whole(wanted, np.array(times)).tolist()]
                assert result == [each if each is not None and each[0][0] in names else None for each in known]


def row_of(marks: Watermarks, row: int) -> tuple[Place, int] | None:
    if row < 0:
        return None
    topic, partition = (marks.rows.column(name)[row].as_py() for name in ("topic", "partition"))
    return (topic, partition), int(marks.row_times[row])


LARGEST = 2**63 - 1


def test_ends_of_any_size_are_found_as_a_loop_finds_them(rng: np.random.Generator) -> None:
    """Few and small ones by one search among sums of them, far ones by their order."""
    are_far = set()
    for number in range(200):
        sizes = [0, 1, 5, 6, 90] if number % 2 else [0, 5, 1 << 61, LARGEST - 1, LARGEST]
        snapshots = {
            time * SECOND: {place: Captured(None, 0, int(rng.choice(sizes))) for place in PLACES} for time in range(6)
        }
        marks: Watermarks = history(0, snapshots).watermarks
        ends, runs = marks.end_offsets.tolist(), marks.run_starts.tolist()
        rows = np.flatnonzero(marks.end_offsets > 0)
        offsets = np.array([int(rng.integers(0, ends[row])) for row in rows])
        expected = [
            max((each for each in range(runs[row], row + 1) if ends[each] <= offset), default=runs[row] - 1)
            for row, offset in zip(rows.tolist(), offsets.tolist(), strict=True)
        ]
        assert last_at_most(marks, rows, offsets).tolist() == expected
        are_far.add(marks.are_ends_far)
    assert are_far == {True, False}


def test_a_log_that_hardly_grew_gives_no_time_beyond_all_times() -> None:
    """Its line reaches back by more microseconds than 64 bits have."""
    snapshots = {time * SECOND: {PLACES[0]: Captured(None, 0, LARGEST - 1 + time)} for time in range(2)}
    marks: Watermarks = history(0, snapshots).watermarks
    written = written_times(marks, np.array([1]), np.array([0]))
    assert written.is_extrapolated.tolist() == [True]
    assert -(1 << 62) <= written.estimate[0] < 0
