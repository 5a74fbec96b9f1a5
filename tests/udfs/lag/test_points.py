"""Lag at snapshots: the fast reading against the slow one, the published vectors of time lag, and each situation."""

import base64
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from schemas.tables import TABLES
from schemas.words.lag import LagUnknown
from tests.builders.tables.lag_histories import DAY, SECOND, commit, fast, history, history_of, random_model
from tests.builders.tables.measured import lag_point_pieces
from tests.oracles.lag.lag_at_snapshots import Captured, SlowLag
from udfs.arrays.arrow_schema import table_schema
from udfs.lag.partition_history import PartitionHistory

PLACE = ("orders", 0)
# Of 29 days, in milliseconds.
MONTH = 29 * 86_400_000
# End offsets by second, with a time without new messages.
POINTS = {0: 1000, 30: 1300, 90: 1300, 120: 1900}


def lag_point_rows(of: PartitionHistory, settled_from: int | None) -> pa.Table:
    rows = list(lag_point_pieces(of, settled_from, None))
    return (
        pa.concat_tables(rows, promote_options="permissive")
        if rows
        else table_schema(TABLES["lag_points"]).empty_table()
    )


def ends(points: dict[int, int], topic_id: str | None = None, start: int | None = 0) -> dict[int, Any]:
    return {second * SECOND: {PLACE: Captured(topic_id, start, end)} for second, end in points.items()}


def in_order(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in TABLES["lag_points"].order if name != "cluster")


def test_points_are_those_of_a_slow_reading(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    reasons: set[str | None] = set()
    wanted_reasons = {None, *(each.value for each in LagUnknown)}
    # Until every reason was met, which 150 rounds have always sufficed for.
    for number in range(150):
        if number >= 75 and reasons == wanted_reasons:
            break
        # Pieces of a key or two.
        monkeypatch.setattr("udfs.lag.point_cells.CELLS", int(rng.integers(1, 40)))
        model = random_model(rng)
        wanted = sorted(model.rows(), key=in_order)
        reasons |= {row["unknown_reason"] for row in wanted}
        ours = history_of(model)
        result = lag_point_rows(ours, None)
        names = list(wanted[0]) if wanted else ["snapshot_time"]
        assert fast(ours, result, names) == wanted
    assert reasons == wanted_reasons


def test_pieces_are_before_a_time_or_not(rng: np.random.Generator) -> None:
    for _ in range(20):
        ours, settled = history_of(random_model(rng)), int(rng.integers(0, 100)) * SECOND
        names = tuple(name for name in TABLES["lag_points"].order if name != "cluster")
        pieces = [fast(ours, each, names) for each in lag_point_pieces(ours, None, settled)]
        sides = [{row["snapshot_time"] < settled for row in piece} for piece in pieces]
        assert sides == sorted(sides, key=lambda side: True in side) and all(len(side) == 1 for side in sides)
        rows = sorted((row for piece in pieces for row in piece), key=in_order)
        assert rows == fast(ours, lag_point_rows(ours, None), names)


def test_rows_from_a_time_on_are_those_of_all_rows(rng: np.random.Generator) -> None:
    for _ in range(20):
        ours = history_of(random_model(rng))
        every = fast(ours, lag_point_rows(ours, None), ("snapshot_time", "group_id", "topic", "partition", "lag_raw"))
        settled = int(rng.integers(0, 100)) * SECOND
        later = [row for row in every if row["snapshot_time"] >= settled]
        assert fast(ours, lag_point_rows(ours, settled), list(every[0]) if every else ["lag_raw"]) == later


@pytest.mark.parametrize(
    ("committed", "seconds", "method", "bounds"),
    [
        (1150, 15.0, "interpolated", (0, 30)),
        (1299, 29.9, "interpolated", (0, 30)),
        (1300, 90.0, "interpolated", (90, 120)),
        (1301, 90.05, "interpolated", (90, 120)),
        (1600, 105.0, "interpolated", (90, 120)),
        (700, -40.0, "extrapolated", (None, 0)),
    ],
)
def test_a_message_was_written_when_the_published_vectors_say(
    committed: int, seconds: float, method: str, bounds: tuple[int | None, int]
) -> None:
    """`seconds` after the first snapshot; asked at the last one, 120 s after it."""
    row = newest([commit("g", PLACE, committed, -DAY)], ends(POINTS))
    earliest, latest = bounds
    assert (row["time_lag_ms"], row["time_lag_method"]) == (round((120 - seconds) * 1000), method)
    assert row["time_lag_low_ms"] == (120 - latest) * 1000
    assert row["time_lag_high_ms"] == (None if earliest is None else (120 - earliest) * 1000)


OLD, NEW = ends({10: 500, 20: 600}, "a"), ends({30: 40, 40: 60}, "b")


@pytest.mark.parametrize(
    ("made", "topic_id", "snapshots", "expected"),
    [
        # Before the first snapshot of the new topic: of the old one, or perhaps of the new one.
        (5, None, OLD | NEW, (None, "topic_recreated", "a")),
        (25, None, OLD | NEW, (None, "topic_recreated", None)),
        (30, None, OLD | NEW, (30, None, "b")),
        (25, "b", OLD | NEW, (30, None, "b")),
        (25, "a", OLD | NEW, (None, "topic_recreated", "a")),
        # A snapshot without ids is of the topic that the one before it named.
        (35, "a", OLD | NEW | ends({50: 70}), (None, "topic_recreated", "a")),
        (35, None, OLD | NEW | ends({50: 70}), (40, None, "b")),
        (25, None, OLD | ends({25: 610}) | NEW, (None, "topic_recreated", "a")),
        # No other topic is known.
        (5, None, NEW, (30, None, "b")),
        (5, None, ends({10: 20, 40: 60}), (30, None, None)),
        (5, None, ends({10: 20}) | NEW, (30, None, "b")),
        # Made anew twice.
        (15, None, OLD | NEW | ends({50: 90}, "c"), (None, "topic_recreated", "a")),
        (35, None, OLD | NEW | ends({50: 90}, "c"), (None, "topic_recreated", "b")),
        (55, None, OLD | NEW | ends({50: 90, 60: 95}, "c"), (65, None, "c")),
    ],
)
def test_a_commit_that_names_no_topic_id_is_of_the_topic_that_was_there_then(
    made: int, topic_id: str | None, snapshots: dict[int, Any], expected: tuple[int | None, str | None, str | None]
) -> None:
    row = newest([commit("g", PLACE, 30, made * SECOND, topic_id=topic_id)], snapshots)
    assert (row["lag_raw"], row["unknown_reason"], row["topic_id"]) == expected
    assert row["log_end_offset"] == (None if expected[0] is None else 30 + expected[0])


def newest(offsets: list[dict[str, Any]], snapshots: dict[int, Any], **tables: Any) -> dict[str, Any]:
    rows = lag_point_rows(history(200 * DAY, snapshots, offset_history=offsets, **tables), None).to_pylist()
    return dict(rows[-1])


@pytest.mark.parametrize(
    ("snapshots", "committed", "expected"),
    [
        # Read to the end, and beyond it, as after a truncation.
        (ends(POINTS), 1900, ("no_lag", 0, 0, 0)),
        (ends(POINTS), 2200, ("no_lag", 0, 0, 0)),
        # One snapshot says only that it is older.
        (ends({60: 50}), 10, ("none", None, 0, None)),
        # Cut to 20: what is written since counts alone.
        (ends({0: 0, 30: 100, 60: 20, 120: 80}), 50, ("interpolated", 30_000, 0, 60_000)),
        # Made anew with the same number of messages.
        (ends({0: 0, 30: 40}, "a") | ends({60: 40, 120: 80}, "b"), 60, ("interpolated", 30_000, 0, 60_000)),
        (ends({0: 0}, "a") | ends({30: 40}) | ends({60: 40, 120: 80}, "b"), 60, ("interpolated", 30_000, 0, 60_000)),
        # What is deleted cannot be read: the first message that can.
        (ends({0: 0}) | ends({100: 100}, start=50), 10, ("interpolated", 50_000, 0, 100_000)),
        (ends({0: 0}) | ends({100: 100}, start=100), 10, ("none", None, None, None)),
        # 31 days before: too old to tell of the rate, as if it were not there.
        (ends({-31 * 86_400: 0, 0: 100, 120: 200}), 50, ("extrapolated", 180_000, 120_000, None)),
        (ends({-29 * 86_400: 0, 0: 100, 120: 200}), 50,
         ("interpolated", 120_000 + MONTH // 2, 120_000, 120_000 + MONTH)),
    ],
)  # fmt: skip
def test_time_lag_by_situation(snapshots: dict[int, Any], committed: int, expected: tuple[Any, ...]) -> None:
    named = next(reversed(snapshots.values()))[PLACE].topic_id
    row = newest([commit("g", PLACE, committed, -90 * DAY, topic_id=named)], snapshots)
    names = ("time_lag_method", "time_lag_ms", "time_lag_low_ms", "time_lag_high_ms")
    assert tuple(row[name] for name in names) == expected


@pytest.mark.parametrize(("age", "reason"), [(30 * DAY, None), (30 * DAY + 1, "no_snapshot")])
def test_an_end_counts_for_a_month(age: int, reason: str | None) -> None:
    other = {("other", 0): Captured(None, 0, 1)}
    row = newest([commit("g", PLACE, 10, -90 * DAY)], {0: {PLACE: Captured(None, 0, 50)}, age: other})
    assert (row["snapshot_time"].timestamp() * 1_000_000, row["unknown_reason"]) == (age, reason)


def test_an_estimate_lies_within_its_bounds(rng: np.random.Generator) -> None:
    for _ in range(50):
        for row in lag_point_rows(history_of(random_model(rng)), None).to_pylist():
            low, estimate, high = (row[f"time_lag_{name}ms"] for name in ("low_", "", "high_"))
            assert estimate is None or low is None or low <= estimate
            assert estimate is None or high is None or estimate <= high


def encoded(magic: int, millis: int, more: bytes = b"") -> str:
    return base64.b64encode(bytes([magic]) + millis.to_bytes(8, "big", signed=True) + more).decode()


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (encoded(1, 100_000), (20_000, "streams_metadata")),
        (encoded(2, 100_000), (20_000, "streams_metadata")),
        (encoded(2, 100_000, b"of processors"), (20_000, "streams_metadata")),
        # Of before the oldest snapshot's bound: what it says counts.
        (encoded(2, 10_000), (110_000, "streams_metadata")),
        *(
            (text, (15_000, "interpolated"))
            for text in (
                None, "", "foreign", encoded(1, 100_000, b"x"), encoded(3, 100_000), encoded(1, -1),
                encoded(1, 100_000)[:-1], "A" * 12, "AQ==", encoded(1, 2**62), "Aé" + "A" * 10,
            )
        ),
    ],
)  # fmt: skip
def test_streams_says_itself_what_time_it_has_come_to(metadata: str | None, expected: tuple[int, str]) -> None:
    row = newest([commit("g", PLACE, 1600, -DAY, metadata=metadata)], ends(POINTS))
    assert (row["time_lag_ms"], row["time_lag_method"]) == expected
    assert row["time_lag_low_ms"] <= row["time_lag_ms"] <= row["time_lag_high_ms"]


KNOWN = ("lag_raw", "lag", "lag_available", "lost_messages", "committed_beyond_end")
SITUATIONS: list[tuple[list[dict[str, Any]], Captured | None, tuple[Any, ...], str | None]] = [
    ([commit("g", PLACE, 30, 0)], Captured(None, 10, 50), (20, 20, 20, 0, False), None),
    ([commit("g", PLACE, 30, 0)], Captured(None, 40, 50), (20, 20, 10, 10, False), None),
    ([commit("g", PLACE, 30, 0)], Captured(None, 50, 50), (20, 20, 0, 20, False), None),
    ([commit("g", PLACE, 70, 0)], Captured(None, 10, 50), (-20, 0, 0, 0, True), None),
    ([commit("g", PLACE, 30, 0)], Captured(None, None, 50), (20, 20, None, None, False), None),
    ([commit("g", PLACE, -2, 0)], Captured(None, 0, 50), (None, None, None, None, False), "committed_negative"),
    ([commit("g", PLACE, 30, 0)], Captured(None, 0, None), (None, None, None, None, False), "no_snapshot"),
    ([commit("g", PLACE, 30, 0)], None, (None, None, None, None, False), "no_snapshot"),
    ([commit("g", PLACE, 30, 0, topic_id="a")], Captured("b", 0, 9), (None,) * 4 + (False,), "topic_recreated"),
    ([commit("g", PLACE, 30, 0, topic_id="a")], Captured("a", 0, 40), (10, 10, 10, 0, False), None),
    ([commit("g", PLACE, 30, 0, 5, ended_by="deleted")], Captured(None, 0, 9), (None,) * 4 + (False,), "no_commit"),
    ([commit("g", PLACE, 30, 0, 5, ended_by="coverage_hole")], Captured(None, 0, 9), (None,) * 4 + (False,),
     "history_hole"),
]  # fmt: skip


@pytest.mark.parametrize(("offsets", "captured", "numbers", "reason"), SITUATIONS)
def test_every_column_by_situation(
    offsets: list[dict[str, Any]], captured: Captured | None, numbers: tuple[Any, ...], reason: str | None
) -> None:
    """Of an owned partition, so that there is a row without a commit too."""
    owned = {"group_id": "g", "group_type": "consumer", "topic": PLACE[0], "partition": 0, "member_id": "m",
             "from_time": 0, "from_record_offset": 5}  # fmt: skip
    snapshots = {20 * SECOND: {("other", 0): Captured(None, 0, 0)} | ({PLACE: captured} if captured else {})}
    row = newest(offsets, snapshots, ownership_intervals=[owned])
    assert tuple(row[name] for name in KNOWN) == numbers
    assert (row["unknown_reason"], row["no_commit"]) == (reason, reason == "no_commit")
    assert row["committed_negative"] == (reason == "committed_negative")
    assert (row["group_type"], row["owner_member_id"], row["confidence"]) == ("consumer", "m", "certain")
    is_held = reason not in ("no_commit", "history_hole")
    assert (row["leader_epoch"], row["evidence_first_offset"]) == ((3, 0) if is_held else (None, 5))


def test_topics_of_which_only_the_ids_are_known_stay_apart() -> None:
    offsets = [commit("g", (None, 0), value, 0, topic_id=topic_id) for topic_id, value in (("a", 5), ("b", 9))]
    rows = lag_point_rows(history(DAY, {20 * SECOND: {PLACE: Captured(None, 0, 9)}}, offset_history=offsets), None)
    result = [
        (row["topic"], row["topic_id"], row["committed_offset"], row["unknown_reason"]) for row in rows.to_pylist()
    ]
    assert result == [(None, "a", 5, "no_snapshot"), (None, "b", 9, "no_snapshot")]


def test_what_is_subscribed_to_alone_has_the_id_of_its_snapshot() -> None:
    model = SlowLag(
        subscriptions=[{"group_id": "g", "topics": ["orders"], "from_time": 0, "to_time": None}],
        snapshots=ends({10: 5}, "old") | ends({20: 5}, "new"),
    )
    rows = lag_point_rows(history_of(model), None).to_pylist()
    assert [(row["topic_id"], row["unknown_reason"]) for row in rows] == [("old", "no_commit"), ("new", "no_commit")]


def test_without_snapshots_there_are_no_points() -> None:
    assert lag_point_rows(history(DAY, {}, offset_history=[commit("g", PLACE, 1, 0)]), None).num_rows == 0


def test_the_bounds_make_room_for_the_time_that_streams_show() -> None:
    """By the snapshots the message was written within the first 30 s; its producer's clock says 100 s."""
    row = newest([commit("g", PLACE, 1150, -DAY, metadata=encoded(2, 100_000))], ends(POINTS))
    assert (row["time_lag_low_ms"], row["time_lag_ms"], row["time_lag_high_ms"]) == (20_000, 20_000, 120_000)


@pytest.mark.parametrize("confidence", ["certain", "possible"])
def test_a_commit_that_may_have_been_aborted_makes_a_row_that_is_possible(confidence: str) -> None:
    assert newest([commit("g", PLACE, 10, 0, confidence=confidence)], ends(POINTS))["confidence"] == confidence


@pytest.mark.parametrize(("as_of", "number"), [(60 * SECOND, 1), (60 * SECOND - 1, 0)])
def test_a_snapshot_of_the_very_time_that_is_asked_about_counts(as_of: int, number: int) -> None:
    given = history(as_of, ends({60: 50}), offset_history=[commit("g", PLACE, 10, 0)])
    assert lag_point_rows(given, None).num_rows == number
