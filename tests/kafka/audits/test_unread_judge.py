"""What follows from the lines of diaries, and what is a right bound: the judge of unread time is judged itself."""

from datetime import UTC, datetime

import pytest

from tests.kafka.audits.unread_judge import Judged, judged, who_reads
from tests.kafka.handovers.diaries import lines_of
from tests.kafka.handovers.truth import History

GROUP = {"kind": "classic", "library": "java", "is_static": False, "commit_ms": 500, "slow_ms": 0}
STATIC = GROUP | {"is_static": True}
JOINED = "0 g a started\n10 g a assigned t:0\n"
BOTH = f"{JOINED}12 g b started\n20 g b assigned\n95 g a read t:0:7\n"


def history(text, facts=GROUP, events=()):
    return History("g", facts, list(events), list(lines_of(text)))


def ended(gap):
    return gap["way"], gap["from_ms"], gap["to_ms"], gap["from_client"], gap["to_client"]


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        (f"{BOTH}100 g a revoked t:0\n130 g b assigned t:0\n", GROUP, ("handed_over", 100, 130, "a", "b")),
        (f"{BOTH}100 g a revoked t:0\n130 g a assigned t:0\n", GROUP, ("returned", 100, 130, "a", "a")),
        # It closes: what its callback says later is the same.
        (f"{BOTH}100 g a closing t:0\n110 g a revoked t:0\n130 g b assigned t:0\n", GROUP,
         ("left", 100, 130, "a", "b")),
        (f"{BOTH}100 g a killed\n130 g b assigned t:0\n", GROUP, ("killed", 100, 130, "a", "b")),
        # The only one, and the next one is there later.
        (f"{JOINED}100 g a killed\n120 g b started\n130 g b assigned t:0\n", GROUP,
         ("only_member_restarted", 100, 130, "a", "b")),
        (f"{BOTH}100 g a closing t:0\n120 g a started\n130 g a assigned t:0\n", STATIC,
         ("static_restart", 100, 130, "a", "a")),
        (f"{BOTH}100 g a closing t:0\n130 g b assigned t:0\n", STATIC, ("static_expired", 100, 130, "a", "b")),
        # From when it stood still, though its callback is late, or too late.
        (f"{BOTH}100 g a standing\n120 g a lost t:0\n130 g b assigned t:0\n", GROUP,
         ("stood_still", 100, 130, "a", "b")),
        (f"{BOTH}100 g a standing\n130 g b assigned t:0\n150 g a lost t:0\n", GROUP,
         ("stood_still", 100, 130, "a", "b")),
        # A machine that stood still: from its last poll.
        (f"{BOTH}120 g a lost t:0\n130 g b assigned t:0\n", GROUP, ("stood_still", 95, 130, "a", "b")),
    ],
)  # fmt: skip
def test_a_gap_lasts_from_when_its_reader_last_could_read(text, facts, expected):
    (gap,) = history(text, facts).gaps
    assert ended(gap) == expected


def test_whoever_polls_on_while_another_one_has_its_partition_leaves_no_gap():
    found = history(f"{BOTH}130 g b assigned t:0\n140 g a read t:0:9\n150 g a revoked t:0\n")
    assert found.gaps == []
    assert [(row["client"], row["by_client"], row["from_ms"]) for row in found.overlaps] == [("a", "b", 130)]
    assert [(row["client"], row["from_ms"], row["to_ms"]) for row in found.held] == [("a", 10, 150), ("b", 130, None)]


def test_new_partitions_are_unread_from_when_they_were_asked_for():
    event = {"event": "topic_grown", "topic": "t", "partitions_before": 1, "from_ms": 50, "to_ms": 60}
    (gap,) = history(f"{JOINED}100 g a assigned t:1\n", events=[event]).gaps
    assert (*ended(gap), gap["least_ms"]) == ("topic_grown", 50, 100, None, "a", 40)


def test_an_application_of_streams_that_closes_reads_for_some_time_less_than_its_tasks_live():
    text = f"{BOTH}97 g a leaving\n100 g a revoked t:0\n130 g b assigned t:0\n"
    (gap,) = history(text, GROUP | {"kind": "streams"}).gaps
    assert (*ended(gap), gap["least_ms"]) == ("left", 95, 130, "a", "b", 30)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("200 g b polled\n300 g b polled\n", 0),
        ("300 g b polled\n", 100),
        ("300 g b started\n", 0),
        # The old reader too: a commit of its callback was late.
        ("200 g b polled\n250 g a polled\n300 g b polled\n", 50),
    ],
)
def test_a_client_that_polls_late_stalls(lines, expected):
    (gap,) = history(f"{BOTH}100 g a revoked t:0\n100 g b polled\n{lines}400 g b assigned t:0\n").gaps
    assert gap["stall_ms"] == expected


@pytest.mark.parametrize(
    ("answer", "expected"), [((90, 400), 260), ((300, 900), 550), ((1_000, 1_200), 0), ((1_900, 2_090), 140)]
)
def test_a_coordinator_that_answers_late_stalls_what_begins_or_ends_then(answer, expected):
    lines = list(lines_of(f"{BOTH}100 g a revoked t:0\n1990 g b started\n2000 g b assigned t:0\n"))
    (gap,) = History("g", GROUP, [], lines, [answer]).gaps
    assert gap["stall_ms"] == expected


def test_a_slow_callback_is_no_stall():
    text = f"{BOTH}100 g a revoked t:0\n1605 g a polled\n1620 g b started\n1650 g b assigned t:0\n"
    assert [history(text, GROUP | {"slow_ms": ms}).gaps[0]["stall_ms"] for ms in (1_500, 0)] == [0, 1_405]


# -- bounds

GAP = {"group": "g", "group_kind": "classic", "commits": True, "commits_late": False, "topic": "t", "partition": 0,
       "way": "returned", "stall_ms": 0, "from_ms": 10_000, "to_ms": 10_400}  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "kind", "outside", "missing"),
    [
        (400, 400, "classic", False, False),
        # A diary's clock.
        (450, 350, "classic", False, False),
        (451, 900, "classic", True, False),
        (0, 349, "classic", True, False),
        # Ten times the gap, and more than the delivery and a second.
        (0, 4_000, "classic", False, False),
        (0, 4_001, "classic", False, True),
        (0, 4_001, "consumer", False, False),
        (0, 6_001, "consumer", False, True),
        (None, None, "consumer", False, True),
        (None, None, "share", False, False),
    ],
)
def test_bounds_are_right_or_wrong(low, high, kind, outside, missing):
    given = Judged(GAP | {"group_kind": kind}, low, high, (), 500 if kind == "classic" else 5_000)
    assert (given.is_outside, given.is_missing) == (outside, missing)


def test_what_is_late_since_a_client_is_late_is_not_outside():
    given = [Judged(GAP | {"stall_ms": ms}, 0, 300, (), 500) for ms in (49, 50)]
    assert [(each.is_outside, each.is_late) for each in given] == [(True, False), (False, True)]


def test_bounds_of_a_group_without_commits_may_be_wide():
    given = Judged(GAP | {"commits": False}, 0, 60_000, (), 500)
    assert (given.is_outside, given.is_missing, given.kind) == (False, False, "classic, no commits")


@pytest.mark.parametrize(
    ("library", "slow_ms", "kind"),
    [("confluent", 1_500, "classic, late commits"), ("confluent", 0, "classic"), ("java", 1_500, "classic")],
)
def test_commits_of_librdkafka_are_late_when_its_callbacks_are_slow(library, slow_ms, kind):
    text = f"{BOTH}100 g a revoked t:0\n130 g b assigned t:0\n"
    (gap,) = history(text, GROUP | {"library": library, "slow_ms": slow_ms}).gaps
    assert Judged(gap, 0, 30, (), 500).kind == kind


def test_what_no_record_can_show_is_not_missing():
    short = GAP | {"to_ms": GAP["from_ms"] + 50}
    assert [Judged(gap, None, None, (), 500).is_missing for gap in (short, short | {"way": "left"}, GAP)] == [
        False, True, True,
    ]  # fmt: skip


def move(ms, low, high):
    time = datetime.fromtimestamp(ms / 1000, UTC)
    return {"group_id": "g", "topic": "t", "partition": 0, "role": None, "move_time": time, "unread_low_ms": low,
            "unread_high_ms": high, "unread_basis": None}  # fmt: skip


def test_each_row_counts_for_the_nearest_gap():
    later = GAP | {"from_ms": 11_000, "to_ms": 11_200}
    rows = [
        move(10_100, 1, 10),
        move(10_390, 2, 20),
        move(10_800, 4, 40),
        move(12_201, 8, 80),
        move(11_100, None, None),
    ]
    one, other = judged([GAP, later], rows, None)
    assert (one.low, one.high, other.low, other.high) == (3, 30, 4, 40)


# -- who reads


def owner(client, begin, end, certain, doubt):
    def time(ms):
        return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)

    return {"group_id": "g", "topic": "t", "partition": 0, "role": None, "phase": "assigned", "client_id": client,
            "from_time": time(begin), "to_time": time(end), "reader_certain_until_time": time(certain),
            "reader_doubt_from_time": time(doubt)}  # fmt: skip


@pytest.mark.parametrize(
    ("certain", "doubt", "wrong", "late"),
    [
        (2_000, 2_000, 0, 0),
        # Another one has it from 3,000 on, a diary's clock aside.
        (3_101, 2_000, 1, 0),
        # It gave it up at 2,000.
        (2_000, 2_301, 0, 3),
        (2_000, None, 0, 11),
        (None, 2_000, 0, 0),
    ],
)
def test_certain_readers_read_and_others_are_in_doubt(certain, doubt, wrong, late):
    held = [
        GAP | {"client": "a", "from_ms": 1_000, "to_ms": 2_000},
        GAP | {"client": "b", "from_ms": 3_000, "to_ms": None},
    ]
    rows = [owner("a", 900, 3_200, certain, doubt), owner("b-StreamThread-1-consumer", 3_200, None, None, None)]
    found = who_reads(held, rows, range(0, 5_000, 100))
    assert (len(found.not_the_reader), len(found.not_in_doubt)) == (wrong, late)


def test_whose_commits_are_late_need_not_be_in_doubt():
    held = [GAP | {"client": "a", "commits_late": True, "from_ms": 1_000, "to_ms": 2_000}]
    found = who_reads(held, [owner("a", 900, 3_200, 2_000, None)], range(0, 5_000, 100))
    assert (found.num_given_up, found.not_in_doubt) == (0, ())


def test_a_table_without_the_columns_says_nothing():
    assert who_reads([], [{"group_id": "g"}], [1, 2]) is None
