"""Which inputs are confirmed, situation by situation. Snapshots are written as time: (partitions, id); the record is of
time 50."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from jobs.recomputing.facts import known_topics
from schemas.tables import TABLES
from tests.make.tables import filled
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import (
    ALL_CONFIRMED,
    ByLog,
    Facts,
    KnownTopic,
    UsedTopic,
    confirmation,
    confirmed_count,
    moments,
)
from udfs.topics.least_partitions import NamedPartitions
from udfs.topics.partition_counts import named_counts

AT = 50
Seen = Mapping[int, tuple[int, str | None]]


def facts(seen: Seen, whole: tuple[int, ...] = ()) -> Facts:
    """Snapshots that say the same one after the other are one fact."""
    known: list[KnownTopic] = []
    for time, (count, topic_id) in sorted(seen.items()):
        topic = Topic("t", count, topic_id)
        if known and known[-1].topic == topic:
            known[-1] = KnownTopic(topic, known[-1].first_time, time)
        else:
            known.append(KnownTopic(topic, time, time))
    return Facts({"t": known} if known else {}, whole_times=whole)


def number(count: int | str) -> int | None:
    return None if isinstance(count, str) else count


SITUATIONS = [
    pytest.param({}, 3, (), None, "neither records nor snapshots show", id="nothing tells"),
    pytest.param({10: (3, "x")}, 2, (), None, "only snapshots before", id="one snapshot before"),
    pytest.param({10: (3, "x")}, 3, (), None, "only snapshots before", id="one before, though records name its last"),
    pytest.param({90: (3, "x")}, 2, (), None, "only snapshots after", id="one snapshot after"),
    pytest.param({90: (3, "x")}, 3, (), 3, None, id="one after whose last partition records name: topics only grow"),
    pytest.param({10: (3, "x"), 90: (3, "x")}, 2, (), 3, None, id="both sides agree"),
    pytest.param({50: (3, "x")}, 2, (), 3, None, id="at the very time"),
    pytest.param({10: (3, None), 90: (3, "x")}, 2, (), 3, None, id="one of them has no ids"),
    pytest.param({10: (3, "x"), 90: (3, "y")}, 2, (), None, "deleted and made anew", id="another topic of the name"),
    pytest.param({10: (3, "x"), 90: (3, "y")}, 3, (), None, "deleted and made anew", id="records may name the first"),
    pytest.param({10: (3, "x"), 90: (5, "y")}, 5, (), 5, None, id="records name what only the second can have"),
    pytest.param({10: (2, "x"), 90: (5, "x")}, 2, (), None, "2 partitions in the snapshot before, 5", id="it grew"),
    pytest.param({10: (2, "x"), 90: (5, "x")}, 5, (), 5, None, id="it grew, and records name its newest partition"),
    pytest.param({10: (2, "x")}, 5, (), None, "records name partition 4, a snapshot has 2", id="stale"),
    pytest.param({10: (2, "x"), 90: (2, "x")}, 5, (), None, "records name partition 4", id="records contradict both"),
    pytest.param({5: (9, "w"), 10: (2, "x"), 90: (2, "x")}, 5, (), 2, None, id="named of a topic that it was before"),
    pytest.param({10: (2, None), 90: (2, None)}, 1, (10, 40, 90), 2, None, id="same fact, however others list"),
    pytest.param(
        {10: (2, "x"), 20: (3, "x"), 90: (3, None)}, 1, (10, 20, 70, 90), None, "gone for a while", id="gone between"
    ),
    pytest.param({}, 0, (10, 90), 0, None, id="lists of all topics on both sides lack it"),
    pytest.param({}, 0, (10,), None, "neither records nor snapshots", id="a list of all topics before lacks it"),
    pytest.param({}, 1, (10, 90), None, "neither records nor snapshots", id="they lack it, and records name it"),
]


@pytest.mark.parametrize(("seen", "least", "whole", "count", "why"), SITUATIONS)
def test_numbers_of_partitions_are_confirmed_or_not(
    seen: Seen, least: int, whole: tuple[int, ...], count: int | None, why: str | None
) -> None:
    result = confirmed_count("t", least, AT, facts(seen, whole))
    assert (result == count) if why is None else (why in str(result))


def captured(seen: Seen) -> list[dict[str, Any]]:
    """Rows of topic_snapshots."""
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    return [
        {"cluster": "c", "captured_time": begin + timedelta(microseconds=time), "topic": "t", "topic_id": topic_id,
         "partition": partition}
        for time, (number, topic_id) in seen.items()
        for partition in range(number)
    ]  # fmt: skip


# Records of any group: time, one more than the partition that they name, id.
Ends = tuple[tuple[int, int, str | None], ...]
BOTH = {10: (3, "x"), 90: (3, "x")}
OF_OTHERS = [
    pytest.param(BOTH, ((60, 4, "x"),), None, "records name partition 3, a snapshot has 3", id="between, by id"),
    pytest.param(BOTH, ((60, 4, None),), None, "records name partition 3", id="between, by name"),
    pytest.param(BOTH, ((20, 4, "x"),), None, "records name partition 3", id="between, before the record"),
    pytest.param(BOTH, ((5, 4, "x"),), None, "records name partition 3", id="before both: both are stale"),
    pytest.param(BOTH, ((60, 3, "x"),), 3, None, id="its last partition: it agrees"),
    pytest.param(BOTH, ((95, 4, "x"),), 3, None, id="it grew after both"),
    pytest.param(BOTH, ((60, 4, "w"),), 3, None, id="another topic of the name"),
    pytest.param({**BOTH, 80: (3, "x")}, ((85, 4, "x"),), 3, None, id="the last of three is stale, the others agree"),
    pytest.param({5: (9, "w"), **BOTH}, ((3, 7, None),), 3, None, id="of a topic that it was before"),
    pytest.param({5: (9, "w"), **BOTH}, ((7, 7, None),), None, "records name partition 6", id="of which of them?"),
    pytest.param({10: (3, None), 90: (3, None)}, ((60, 4, "x"),), None, "records name partition 3", id="without ids"),
    pytest.param({90: (3, "x")}, ((40, 3, "x"),), 3, None, id="one after whose last partition others name by then"),
    pytest.param({90: (3, "x")}, ((60, 3, "x"),), None, "only snapshots after", id="others name it too late"),
    pytest.param({10: (2, "x"), 90: (3, "x")}, ((40, 3, "x"),), 3, None, id="it had grown by then, others tell"),
    pytest.param({10: (2, "x"), 90: (3, "x")}, ((60, 3, "x"),), None, "in the snapshot before", id="it grew then?"),
]


@pytest.mark.parametrize(("seen", "expected", "count", "why"), OF_OTHERS)
def test_records_of_all_groups_prove_snapshots_stale(
    seen: Seen, expected: Ends, count: int | None, why: str | None, rng: np.random.Generator
) -> None:
    rows = captured(seen)
    rng.shuffle(rows)
    named = [NamedPartitions("t", topic_id, number, time) for time, number, topic_id in expected]
    known = known_topics(filled(TABLES["topic_snapshots"], rows), "c", {}, named_counts(named, {}))
    result = confirmed_count("t", 2, AT, Facts(known))
    assert (result == count) if why is None else (why in str(result))


@pytest.mark.parametrize(("named", "count"), [({}, 0), ({"t": 80}, None), ({"t": 95}, 0), ({"u": 20}, 0)])
def test_a_topic_that_records_name_is_not_absent(named: dict[str, int], count: int | None) -> None:
    assert number(confirmed_count("t", 0, AT, Facts(whole_times=(10, 90), named_times=named))) == count


@pytest.mark.parametrize(
    ("by_log", "why"),
    [
        (ByLog.LISTED, None),
        (ByLog.HASH_MATCHES, None),
        (ByLog.HASH_DIFFERS, "the metadata hash in the group's record does not match"),
        (ByLog.NOTHING, "t: only snapshots before"),
    ],
)
def test_the_log_confirms_without_snapshots(by_log: ByLog, why: str | None) -> None:
    result = confirmation(by_log, [UsedTopic("t", 3, 3)], AT, facts({10: (3, "x")})).why
    assert (result is None) if why is None else str(result).startswith(why)


def test_a_hash_that_differs_outweighs_snapshots_on_both_sides() -> None:
    both = facts({10: (3, "x"), 90: (3, "x")})
    assert confirmation(ByLog.NOTHING, [UsedTopic("t", 3, 3)], AT, both) == ALL_CONFIRMED
    assert confirmation(ByLog.HASH_DIFFERS, [UsedTopic("t", 3, 3)], AT, both).unconfirmed == {"t"}


def test_what_was_taken_must_be_what_is_confirmed() -> None:
    both = facts({10: (3, "x"), 90: (3, "x")})
    of_leader, of_coordinator = (
        confirmation(ByLog.NOTHING, [UsedTopic("t", 2, 2)], AT, both, is_by_leader=is_by_leader)
        for is_by_leader in (True, False)
    )
    assert of_leader.why == of_coordinator.why == "t: computed with 2 partitions, but the topic had 3"
    assert (of_leader.confirmed, of_leader.unconfirmed) == ({"t": 3}, frozenset())
    # A coordinator's metadata are the cluster's own.
    assert (of_coordinator.confirmed, of_coordinator.unconfirmed) == ({}, {"t"})


def test_a_record_without_a_time_stands_on_no_side() -> None:
    both = facts({10: (3, "x"), 90: (3, "x")})
    assert confirmation(ByLog.NOTHING, [UsedTopic("t", 3, 3)], None, both).why == "the record has no time"


# -- what only leaders of classic groups contradict

BETWEEN = [
    pytest.param({10: (2, "x"), 90: (2, "x")}, 3, None, 2, id="snapshots of one topic on both sides"),
    pytest.param({10: (2, None), 90: (2, None)}, 3, None, None, id="without ids it may have been made anew"),
    pytest.param({10: (3, "x"), 90: (2, "y")}, 3, None, None, id="it was made anew"),
    pytest.param({10: (2, "x")}, 3, None, None, id="a snapshot before only"),
    pytest.param({90: (2, "x")}, 3, None, None, id="a snapshot after only"),
    pytest.param({10: (2, "x"), 90: (3, "x")}, 4, None, None, id="in the middle of an expansion"),
    pytest.param({10: (2, "x"), 90: (2, "x")}, 3, 60, None, id="others name the partition too"),
    pytest.param({10: (2, "x"), 90: (2, "x")}, 3, 95, 2, id="others name it later: it grew"),
    pytest.param({10: (2, "x"), 90: (2, "x")}, 2, None, 2, id="a later assignment, once leaders know better"),
]


@pytest.mark.parametrize(("seen", "least", "others", "count"), BETWEEN)
def test_a_leaders_word_is_none_against_snapshots_of_one_topic(
    seen: Seen, least: int, others: int | None, count: int | None
) -> None:
    """The leader of another group assigned a partition too many before all of it."""
    led = [NamedPartitions("t", None, 3, 5)]
    proved = [] if others is None else [NamedPartitions("t", None, 3, others)]
    counts = [named_counts(each, {}) for each in ([*led, *proved], proved)]
    known = Facts(known_topics(filled(TABLES["topic_snapshots"], captured(seen)), "c", {}, *counts))
    assert number(confirmed_count("t", least, AT, known, is_by_leader=True)) == count
    # For what a coordinator says, or a commit, the snapshots are stale.
    assert number(confirmed_count("t", least, AT, known)) is None


def test_between_two_moments_nothing_changes_with_time(rng: np.random.Generator) -> None:
    num_confirmed = 0
    for _ in range(400):
        times = sorted(rng.choice(60, rng.integers(0, 5), replace=False).tolist())
        seen = {time: (int(rng.integers(1, 4)), [None, "x", "y"][rng.integers(3)]) for time in times}
        named = [NamedPartitions("t", None, int(rng.integers(1, 5)), int(rng.integers(60)))] * int(rng.integers(2))
        led = [NamedPartitions("t", None, int(rng.integers(1, 5)), int(rng.integers(60)))] * int(rng.integers(2))
        counts = [named_counts(each, {}) for each in ([*named, *led], named)]
        topics = known_topics(filled(TABLES["topic_snapshots"], captured(seen)), "c", {}, *counts)
        whole = tuple(sorted(rng.choice(60, rng.integers(0, 4), replace=False).tolist()))
        known = Facts(topics, whole_times=whole, named_times={} if topics else {each.topic: each.from_time
                                                                              for each in named})  # fmt: skip
        marks, least = moments(known), int(rng.integers(0, 4))
        answers: dict[tuple[int, int], set[int | str]] = {}
        for time in range(60):
            place = bisect_left(marks, time), bisect_right(marks, time)
            answers.setdefault(place, set()).add(confirmed_count("t", least, time, known, is_by_leader=True))
        assert all(len(each) == 1 for each in answers.values()), (seen, named, led, whole, least)
        num_confirmed += sum(number(each) is not None for of in answers.values() for each in of)
    assert num_confirmed > 100
