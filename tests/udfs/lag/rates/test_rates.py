"""Rates and times to catch up, counted by hand."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.builders.tables.lag_histories import SECOND, commit, history
from tests.builders.tables.measured import rate_rows
from tests.oracles.lag.lag_at_snapshots import Captured
from tests.oracles.lag.rates import SlowRates
from udfs.lag.doubtful_times import Doubt, DoubtfulTimes
from udfs.lag.watermarks import LOOKBACK

PLACE = ("orders", 0)
MINUTES = 300 * SECOND
COVERED = {"offsets_partition": 7, "first_offset": 0, "last_offset": 9, "from_time": 0, "to_time": 4 * MINUTES}


def bucket(
    values: list[int],
    ends: dict[int, int | None],
    doubtful: DoubtfulTimes = DoubtfulTimes(),  # noqa: B008
) -> dict[str, Any]:
    """The first of 5 minutes, with a commit a minute; `ends` by second; None: the snapshot leaves the topic out."""
    times = [60 * SECOND * number for number in range(len(values))]
    offsets = [
        commit("g", PLACE, value, at, until, delta=None if before is None else value - before)
        for value, before, at, until in zip(values, [None, *values[:-1]], times, [*times[1:], None], strict=True)
    ]
    snapshots = {
        second * SECOND: {("other", 0): Captured(None, 0, 0)} | ({} if end is None else {PLACE: Captured(None, 0, end)})
        for second, end in ends.items()
    }
    given = history(4 * MINUTES, snapshots, doubtful, offset_history=offsets, history_coverage=[COVERED])
    result = rate_rows(given, None)
    return dict(result.to_pylist()[0])


def subjects(commits: list[tuple[int, str | None]], ids: dict[int, str | None]) -> list[tuple[str | None, int]]:
    """Topic ids of the rows of the first 5 minutes, with what was read of each; commits and snapshots by second."""
    times = [second * SECOND for second, _ in commits]
    offsets = [
        commit("g", PLACE, 10 * number, at, until, topic_id=topic_id, delta=10 if number else None)
        for number, ((_, topic_id), at, until) in enumerate(zip(commits, times, [*times[1:], None], strict=True))
    ]
    snapshots = {second * SECOND: {PLACE: Captured(topic_id, 0, 100)} for second, topic_id in ids.items()}
    given = history(4 * MINUTES, snapshots, offset_history=offsets, history_coverage=[COVERED])
    found = [row for row in rate_rows(given, None).to_pylist() if row["bucket_ms"] == 300_000]
    return [
        (row["topic_id"], row["messages_consumed"]) for row in found if row["bucket_time"] == found[0]["bucket_time"]
    ]


@pytest.mark.parametrize(
    ("commits", "ids", "expected"),
    [
        # A broker fills in the id of some commits only.
        ([(60, "a"), (70, None), (80, "a")], {50: "a", 90: "a"}, [("a", 20)]),
        ([(60, "a"), (70, None)], {90: "a"}, [("a", 10)]),
        ([(60, None), (70, "a")], {50: "a"}, [("a", 10)]),
        # Made anew: what names no id is of the topic that was there.
        ([(60, None), (70, "b")], {50: "a", 62: "a", 65: "b"}, [("a", 0), ("b", 10)]),
        ([(60, None), (70, "b")], {50: "a", 65: "b"}, [("b", 10), (None, 0)]),
        # The next snapshot gives no id: it is of the topic before.
        ([(60, None), (70, "a")], {50: "a", 65: None}, [("a", 10)]),
        ([(60, None), (70, "a")], {50: None}, [("a", 10), (None, 0)]),
        ([(60, None), (70, "a")], {}, [("a", 10), (None, 0)]),
    ],
)  # fmt: skip
def test_commits_without_a_topic_id_are_of_the_topic_that_was_there(
    commits: list[tuple[int, str | None]], ids: dict[int, str | None], expected: list[tuple[str | None, int]]
) -> None:
    assert subjects(commits, ids) == expected


@pytest.mark.parametrize(
    ("values", "ends", "consumed", "produced", "lag", "low", "high", "reason"),
    [
        # 600 read and 300 written in 300 s; 700 left: at 2 a second, and at 1 net.
        ([0, 200, 400, 600], {0: 1000, 300: 1300}, 600, 1.0, 700, 350_000, 700_000, None),
        # Between two snapshots on a straight line: 1300 at 300 s.
        ([0, 200, 400, 600], {0: 1000, 200: 1200, 400: 1400}, 600, 1.0, 700, 350_000, 700_000, None),
        ([0, 100, 200, 300], {0: 1000, 300: 1600}, 300, 2.0, 1300, 1_300_000, None, "not_catching_up"),
        ([0, 200, 400, 600], {0: 300, 300: 600}, 600, 1.0, 0, None, None, "nothing_to_read"),
        # Steps back do not count as read.
        ([0, 400, 100, 300], {0: 1000, 300: 1000}, 600, 0.0, 700, 350_000, 350_000, None),
        ([0, 200, 400, 600], {0: 1000}, 600, None, None, None, None, "no_snapshots"),
        # The next snapshot leaves the topic out: what a later one says may not be there yet.
        ([0, 200, 400, 600], {0: 1000, 350: None, 400: 1400}, 600, None, None, None, None, "no_snapshots"),
        ([0, 200, 400, 600], {}, 600, None, None, None, None, "no_snapshots"),
        # What is committed at the end of the bucket is of the next one.
        ([0, 200, 400, 600, 600, 1200], {0: 1000, 300: 1300}, 600, 1.0, 700, 350_000, 700_000, None),
        # The log was cut in between.
        ([0, 200, 400, 600], {0: 1300, 200: 1300, 400: 900}, 600, None, None, None, None, "no_snapshots"),
        # Likewise, and its end is known again: the lag is, and growth from one log to another one is not.
        ([0, 200, 400, 600], {0: 1300, 100: 1300, 200: 900, 400: 1100}, 600, None, 400, 200_000, None, "no_snapshots"),
        ([0, 200, 400, 600], {0: 500, 100: 400, 200: 900, 400: 1100}, 600, None, 400, 200_000, None, "no_snapshots"),
    ],
)
def test_a_bucket_by_hand(
    values: list[int],
    ends: dict[int, int | None],
    consumed: int,
    produced: float | None,
    lag: int | None,
    low: int | None,
    high: int | None,
    reason: str | None,
) -> None:
    row = bucket(values, ends)
    assert (row["messages_consumed"], row["messages_consumed_per_s"]) == (consumed, consumed / 300)
    assert (row["messages_produced_per_s"], row["lag"]) == (produced, lag)
    assert (row["eta_low_ms"], row["eta_high_ms"], row["eta_unknown_reason"]) == (low, high, reason)


def course(lags: list[int], written: int = 1000, reads: int = 100) -> dict[str, Any]:
    """The hour of a group that committed at each of so many snapshots, a second apart: with these lags, and after the
    first `reads` of them nothing any more."""
    ends = [written * (number + 1) for number in range(len(lags))]
    values = [end - lag for end, lag in zip(ends, lags, strict=True)]
    offsets = [
        commit(
            "g",
            PLACE,
            value,
            number * SECOND - 1,
            (number + 1) * SECOND - 1,
            delta=None if number == 0 else value - before,
        )
        for number, (value, before) in enumerate(zip(values, [0, *values], strict=False))
    ][:reads]
    offsets[-1]["to_time"] = None
    snapshots = {number * SECOND: {PLACE: Captured(None, 0, end)} for number, end in enumerate(ends)}
    given = history(len(lags) * SECOND, snapshots, offset_history=offsets, history_coverage=[COVERED])
    return dict(rate_rows(given, None).to_pylist()[-1])


@pytest.mark.parametrize(
    ("lags", "reads", "reason"),
    [
        # It is lower than what is written between two commits: 1,000 messages.
        (30 * [15], 100, "keeps_up"),
        # It is larger, as it always is.
        (10 * [2000, 2600, 3200], 100, "keeps_up"),
        # The same, and the last is the largest of all.
        ([*(9 * [2000, 2600, 3200]), 2900, 3800, 4700], 100, "keeps_up"),
        ([2000 + 300 * number for number in range(30)], 100, "not_catching_up"),
        ([20_000 - 300 * number for number in range(30)], 100, None),
        # It has read nothing for 15 seconds, and committed every second before.
        (30 * [15], 15, "not_reading"),
        (30 * [15], 25, "keeps_up"),
    ],
)
def test_how_a_lag_went_says_whether_a_group_catches_up(lags: list[int], reads: int, reason: str | None) -> None:
    row = course(lags, reads=reads)
    assert (row["eta_unknown_reason"], row["eta_high_ms"] is None) == (reason, reason is not None)
    assert (row["eta_low_ms"] is None) == (reason == "not_reading")


@pytest.mark.parametrize(
    ("topic_id", "old_id", "lag"), [("b", "a", 700), (None, "b", 700), ("a", "a", None), (None, "a", None)]
)
def test_lag_is_unknown_of_commits_for_a_topic_that_was_made_anew(
    topic_id: str | None, old_id: str, lag: int | None
) -> None:
    """Three commits up to 600, the last before the first snapshot of the newer topic."""
    offsets = [
        commit("g", PLACE, 200 * number, 50 * number * SECOND, None, delta=200, topic_id=topic_id)
        for number in range(4)
    ]
    for row, after in pairwise(offsets):
        row["to_time"] = after["from_time"]
    named = {10: (old_id, 1000), 200: ("b", 1200), 300: ("b", 1300)}
    snapshots = {second * SECOND: {PLACE: Captured(name, 0, end)} for second, (name, end) in named.items()}
    given = history(4 * MINUTES, snapshots, offset_history=offsets, history_coverage=[COVERED])
    row = rate_rows(given, None).to_pylist()[0]
    assert row["lag"] == lag
    # How fast the topic grew is not known of a bucket with both logs.
    assert row["eta_unknown_reason"] == ("no_snapshots" if old_id == "a" else None)


@pytest.mark.parametrize(("made_anew_at", "produced"), [(0, 1.0), (100, None), (300, None)])
def test_a_topic_that_was_made_anew_has_no_rate_across_both_logs(made_anew_at: int, produced: float | None) -> None:
    """The new log is even longer than the old one: no end falls."""
    offsets = [commit("g", PLACE, 600, 0, None, delta=600, topic_id="new")]
    ends = {0: 1000, 100: 1100, 300: 1300, 400: 1400}
    snapshots = {
        second * SECOND: {PLACE: Captured("old" if second < made_anew_at else "new", 0, end)}
        for second, end in ends.items()
    }
    given = history(4 * MINUTES, snapshots, offset_history=offsets, history_coverage=[COVERED])
    row = rate_rows(given, None).to_pylist()[0]
    assert row["messages_produced_per_s"] == produced


@pytest.mark.parametrize(("begin", "end", "is_known"), [(300, 400, True), (299, 400, False), (-9, 1, False)])
def test_no_rate_of_a_bucket_is_known_around_a_step_of_the_clock(begin: int, end: int, is_known: bool) -> None:
    """Of the first five minutes."""
    doubtful = DoubtfulTimes((Doubt(begin * SECOND, end * SECOND, 0),))
    row = bucket([0, 200, 400, 600], {0: 1000, 300: 1300}, doubtful)
    assert (row["messages_consumed_per_s"], row["lag"]) == ((2.0, 700) if is_known else (None, None))
    assert (row["messages_produced_per_s"], row["eta_low_ms"]) == ((1.0, 350_000) if is_known else (None, None))
    assert row["eta_unknown_reason"] == (None if is_known else "clock_went_back")


@pytest.mark.parametrize(
    ("possible", "confidences"),
    [
        ((), ["certain", "certain"]),
        # What it read is the distance from the commit before; so is what the second five minutes read.
        ((0,), ["possible", "certain"]),
        ((1,), ["possible", "possible"]),
        # And the lag at the end is that of a commit that is still in effect.
        ((2,), ["certain", "possible"]),
    ],
)
def test_a_rate_is_only_possible_if_one_of_its_commits_may_have_been_aborted(
    possible: tuple[int, ...], confidences: list[str]
) -> None:
    """Commits at 100, 200 and 400 s, in buckets of five minutes."""
    times = [100 * SECOND, 200 * SECOND, 400 * SECOND]
    offsets = [
        commit("g", PLACE, 100 * number, at, until, to_record_offset=None if until is None else until // SECOND,
        delta=100,
               previous_offset=100 * number - 100 if number else None,
               confidence="possible" if number in possible else "certain")
        for number, (at, until) in enumerate(zip(times, [*times[1:], None], strict=True))
    ]  # fmt: skip
    given = history(600 * SECOND, {}, offset_history=offsets, history_coverage=[COVERED])
    rows = [row for row in rate_rows(given, None).to_pylist() if row["bucket_ms"] == 300_000]
    assert [row["confidence"] for row in rows] == confidences


def test_a_lag_that_rests_on_an_earlier_commit_that_may_have_been_aborted_is_only_possible() -> None:
    """Partition 0 was committed for an hour before; partition 1 is read now."""
    begun = 3_600 * SECOND
    ends = {place: Captured(None, 0, 1000) for place in (PLACE, ("orders", 1))}
    snapshots = {begun: ends, begun + MINUTES: ends}
    for confidence in ("certain", "possible"):
        offsets = [
            commit("g", PLACE, 0, 0, confidence=confidence, delta=None),
            commit("g", ("orders", 1), 100, begun, delta=100),
        ]
        covered = [COVERED | {"to_time": begun + MINUTES}]
        given = history(begun + MINUTES, snapshots, offset_history=offsets, history_coverage=covered)
        (row,) = (row for row in rate_rows(given, None).to_pylist()
                  if row["bucket_ms"] == 300_000 and row["messages_consumed"])  # fmt: skip
        assert (row["lag"], row["confidence"]) == (1000 + 900, confidence)


def five_minutes(settled_from: int | None = None, as_of: int = 600, **coverage: int) -> list[dict[str, Any]]:
    """Three commits: at 100, 200 and 500 s."""
    times = [100 * SECOND, 200 * SECOND, 500 * SECOND]
    offsets = [
        commit("g", PLACE, 100 * number, at, until, delta=100)
        for number, (at, until) in enumerate(zip(times, [*times[1:], None], strict=True))
    ]
    covered = [COVERED | coverage]
    given = history(as_of * SECOND, {}, offset_history=offsets, history_coverage=covered)
    return [row for row in rate_rows(given, settled_from).to_pylist() if row["bucket_ms"] == 300_000]


def test_a_commit_at_the_time_that_is_asked_about_counts() -> None:
    assert [row["messages_consumed"] for row in five_minutes(as_of=500)] == [200, 100]
    assert [row["messages_consumed"] for row in five_minutes(as_of=499)] == [200]


def test_buckets_that_end_by_the_settled_time_are_not_made_again() -> None:
    assert len(five_minutes(settled_from=300 * SECOND - 1)) == 2
    assert len(five_minutes(settled_from=300 * SECOND)) == 1


def test_a_rate_is_over_the_part_of_the_bucket_that_the_log_covers() -> None:
    (first, second) = five_minutes(from_time=100 * SECOND, as_of=500)
    assert (first["messages_consumed_per_s"], second["messages_consumed_per_s"]) == (200 / 200, 100 / 200)


def test_messages_are_written_in_the_part_of_the_bucket_that_snapshots_cover() -> None:
    row = bucket([0, 200, 400, 600], {100: 1000, 200: 1200})
    assert (row["messages_produced_per_s"], row["messages_consumed_per_s"]) == (200 / 100, 600 / 300)


@pytest.mark.parametrize(("apart", "is_known"), [(LOOKBACK, True), (LOOKBACK + 1, False)])
def test_ends_that_lie_a_month_apart_are_as_far_as_a_line_is_drawn(apart: int, is_known: bool) -> None:
    last = Captured(None, 0, 1000)
    snapshots = {0: {PLACE: Captured(None, 0, 0)}, apart: {PLACE: last}, apart + SECOND: {("other", 0): last}}
    offsets = [commit("g", PLACE, 7, MINUTES, None, delta=7)]
    covered = [COVERED | {"to_time": apart}]
    rows = rate_rows(history(apart, snapshots, offset_history=offsets, history_coverage=covered), None).to_pylist()
    assert [row["messages_produced_per_s"] is not None for row in rows if row["bucket_ms"] == 300_000] == [is_known]


def test_what_a_bucket_adds_up_is_what_a_loop_adds_up(rng: np.random.Generator) -> None:
    """Values of few partitions in few buckets, some of topics known by id alone; the table's order is that of keys."""
    for _ in range(60):
        offsets = [
            commit(str(rng.choice(["a", "b"])), (topic, int(rng.integers(3))), 7, int(rng.integers(0, 9_000)) * SECOND,
                   topic_id=topic_id, delta=None if rng.random() < 0.2 else int(rng.integers(-9, 2**40)))
            for topic, topic_id in (TOPICS[each] for each in rng.integers(0, len(TOPICS), int(rng.integers(0, 25))))
        ]  # fmt: skip
        offsets.sort(key=lambda row: (*sort_key(row), row["from_record_offset"]))
        given = history(8_000 * SECOND, {}, offset_history=offsets, history_coverage=[COVERED])
        result = [tuple(row[name] for name in ADDED_UP) for row in rate_rows(given, None).to_pylist()]
        assert result == [row for length in (300, 3_600) for row in slow_buckets(offsets, length)]


TOPICS: list[tuple[str | None, str | None]] = [("orders", None), ("orders", "1"), (None, "1"), ("clicks", "2")]
ADDED_UP = (
    "bucket_ms", "group_id", "topic", "topic_id", "num_partitions", "messages_consumed", "evidence_first_offset",
    "evidence_last_offset",
)  # fmt: skip


def sort_key(row: dict[str, Any]) -> tuple[Any, ...]:
    """NULL last."""
    return (row["group_id"], row["topic"] or "~", row["topic_id"] or "~", row["partition"])


def slow_buckets(offsets: list[dict[str, Any]], length: int) -> Iterator[tuple[Any, ...]]:
    """In seconds; `from_record_offset` is the second too."""
    cells: defaultdict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in offsets:
        if row["from_record_offset"] <= 8_000:
            cells[row["from_record_offset"] // length, *sort_key(row)[:3]].append(row)
    for _, rows in sorted(cells.items()):
        seconds = [row["from_record_offset"] for row in rows]
        subject = (rows[0][name] for name in ("group_id", "topic", "topic_id"))
        read = sum(max(row["delta"] or 0, 0) for row in rows)
        yield (length * 1000, *subject, len({row["partition"] for row in rows}), read, min(seconds), max(seconds))


def drawn_course(rng: np.random.Generator) -> tuple[SlowRates, list[dict[str, Any]]]:
    """Groups that read a topic that is written: each faster, slower or not at all from one time on, with jumps."""
    ends: dict[int, dict[tuple[str, int], int]] = {}
    written = {("orders", partition): int(rng.integers(0, 900)) for partition in range(2)}
    begin, pace = int(rng.integers(0, 3_000)), int(rng.choice([5, 20, 100, 700]))
    times = range(begin, begin + int(rng.choice([200, 900, 2_500])), 5)
    offsets: list[dict[str, Any]] = []
    held: dict[tuple[str, int], dict[str, Any]] = {}
    courses = {(group, place): (int(rng.integers(0, 3)), int(rng.choice(times)), int(rng.integers(0, 3)))
               for group in "abc" for place in written}  # fmt: skip
    rates = {place: int(rng.integers(0, 12)) for place in written}
    for second in times:
        for place in written:
            written[place] += int(rng.integers(0, rates[place] + 1))
        if (second - begin) % pace == 0:
            ends[second * SECOND] = {place: end for place, end in written.items() if rng.random() < 0.98}
        for (group, place), (before, turn, after) in courses.items():
            reads = (before, after)[second >= turn]
            row = held.get((group, place))
            if rng.random() < 0.3 or not reads:
                continue
            value = 0 if row is None else row["committed_offset"]
            value = written[place] if reads == 2 else min(value + int(rng.integers(0, 9)), written[place])
            value += int(rng.choice([0, 0, 5_000])) if rng.random() < 0.004 else 0
            if row is None or value != row["committed_offset"]:
                at = second * SECOND + int(rng.integers(0, 4 * SECOND))
                if row is not None:
                    row["to_time"] = at
                delta = None if row is None else value - row["committed_offset"]
                held[group, place] = commit(group, place, value, at, None, delta=delta)
                offsets.append(held[group, place])
    offsets.sort(key=lambda row: (*sort_key(row), row["from_time"]))
    return SlowRates(offsets, ends, (times[-1] + 5) * SECOND), offsets


def rates_of(model: SlowRates, offsets: list[dict[str, Any]], settled_from: int | None = None) -> list[dict[str, Any]]:
    captured = {
        time: {("other", 0): Captured(None, 0, 0)} | {place: Captured(None, 0, end) for place, end in places.items()}
        for time, places in model.ends.items()
    }
    given = history(model.as_of, captured, offset_history=offsets, history_coverage=[COVERED])
    return list(rate_rows(given, settled_from).to_pylist())


def cell_of(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("group_id", "topic", "messages_consumed", "lag", "eta_unknown_reason")
    return (int(row["bucket_time"].timestamp()) * SECOND, *(row[name] for name in names))


def test_what_drawn_groups_do_is_what_a_slow_model_says(rng: np.random.Generator) -> None:
    reasons = set()
    for _ in range(5):
        model, offsets = drawn_course(rng)
        found = rates_of(model, offsets)
        for length in (300, 3_600):
            result = [row for row in found if row["bucket_ms"] == length * 1000]
            expected = [*model.rows(length * SECOND)]
            assert [cell_of(row) for row in result] == [(*row[:-2], row[-1]) for row in expected]
            for row, answer in zip(result, expected, strict=True):
                eta = row["eta_high_ms"]
                assert eta == (None if answer[-2] is None else pytest.approx(answer[-2], rel=1e-6, abs=1))
            reasons.update(row[-1] for row in expected)
    assert len(reasons) > 2


def test_a_run_that_goes_on_makes_the_same_rows_as_one_that_begins_anew(rng: np.random.Generator) -> None:
    """It reads again what is in effect an hour before the day of the settled time."""
    for _ in range(5):
        model, offsets = drawn_course(rng)
        whole = rates_of(model, offsets)
        settled = int(rng.integers(0, model.as_of))
        begin = settled - 3_600 * SECOND - 3_600 * SECOND
        read = [row for row in offsets if row["to_time"] is None or row["to_time"] >= begin]
        later = [row for row in whole if row["bucket_time"].timestamp() * SECOND + row["bucket_ms"] * 1000 > settled]
        assert rates_of(model, read, settled) == later


@pytest.mark.parametrize(
    ("values", "consumed"),
    [
        # To the end of the log, and beyond it: nobody reads 5,000 messages that were not written.
        ([0, 200, 1000], 1000),
        ([0, 200, 5200, 5300], 200),
        ([0, 200, 5200, 300, 500], 400),
    ],
)
def test_a_jump_beyond_the_end_of_the_log_is_no_reading(values: list[int], consumed: int) -> None:
    row = bucket(values, {0: 1000, 290: 1000})
    assert row["messages_consumed"] == consumed


def test_a_reset_is_no_reading() -> None:
    """A tool moves the offset of a group that has lost its members to the end of the log."""
    offsets = [
        commit("g", PLACE, 200, 60 * SECOND, 120 * SECOND, delta=200, previous_offset=0, to_record_offset=120),
        commit("g", PLACE, 900, 120 * SECOND, None, delta=700, previous_offset=200, leader_epoch=None),
    ]
    states = [
        {"group_id": "g", "state": state, "num_members": members, "from_time": second * SECOND,
        "from_record_offset": second,
         "to_time": None if until is None else until * SECOND, "to_record_offset": until, "protocol_type": "consumer"}
        for state, members, second, until in (("Stable", 1, 1, 100), ("Empty", 0, 100, None))
    ]  # fmt: skip
    snapshots = {second * SECOND: {PLACE: Captured(None, 0, 900)} for second in (0, 300)}
    given = history(
        4 * MINUTES, snapshots, offset_history=offsets, group_state_intervals=states, history_coverage=[COVERED]
    )
    row = rate_rows(given, None).to_pylist()[0]
    assert (row["messages_consumed"], row["confidence"]) == (200, "likely")
