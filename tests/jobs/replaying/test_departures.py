"""How members left if the log does not show it: by the time between their last commit and the round without them.

What a coordinator does: it drops a member a session timeout after its last heartbeat or commit, and the others join by
their next heartbeats. Sessions here take 10 s, so that a silence of 9 to 18.3 s fits: a second for clocks that differ;
5 s from commit to commit and a third of a session from heartbeat to heartbeat.
"""

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

from tests.builders.generated.classic import assignment, subscription
from tests.builders.generated.modern import CONSUMER, Modern, ModernMember
from tests.builders.generated.topics import KeyValue, written
from tests.make.log import T0, Kept, LoggedBatch, write
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import HISTORY, assert_same, replay, row_texts

LEFT, UNCLEAR = "left", "left_or_timed_out"
TIMED_OUT, STATIC = "session_timeout_likely", "static_expired_likely"
GOES: Final = 60.0
TOPIC_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"[:21] + "Q"
Event = tuple[float, KeyValue]


@dataclass(frozen=True)
class Case:
    """`commits`: by partition, when; the member that goes has 0 and 1 from second 1 on, of another group 2."""

    commits: dict[int, Sequence[float]]
    kind: str
    rebalance_timeout: float = 300
    instance: str | None = None
    is_alone: bool = False
    # Partition 1 is the other member's until then.
    gets_more: float = 0
    deletes: float | None = None


CASES: Final = {
    "closed": Case({0: [50, 55, 59.9], 1: [59.9]}, LEFT),
    "killed": Case({0: [40, 47.5], 1: [47.5], 2: [47, 59]}, TIMED_OUT),
    "earliest": Case({0: [51]}, TIMED_OUT),
    "too-early": Case({0: [51.01]}, LEFT),
    "latest": Case({0: [41.67]}, TIMED_OUT),
    "too-late": Case({0: [41.66]}, UNCLEAR),
    "silent-in-part": Case({0: [48], 1: [59]}, LEFT),
    "never-heard": Case({2: [48]}, UNCLEAR),
    "heard-of-the-owner-before": Case({0: [10], 1: [48]}, UNCLEAR, gets_more=49),
    "heard-since-it-owns": Case({0: [10], 1: [44, 48]}, TIMED_OUT, gets_more=47),
    "polled-no-more": Case({0: [48]}, UNCLEAR, rebalance_timeout=12),
    "polls-for-long": Case({0: [48]}, TIMED_OUT, rebalance_timeout=12.01),
    "of-old": Case({0: [48]}, TIMED_OUT, rebalance_timeout=10),
    "static": Case({0: [48]}, STATIC, instance="i"),
    "last-one": Case({0: [48], 1: [47]}, TIMED_OUT, is_alone=True),
    "offset-deleted": Case({0: [48]}, TIMED_OUT, deletes=50),
}


def events(group: str, case: Case) -> list[Event]:
    def member(name: str, *partitions: int) -> dict[str, object]:
        return {
            "member_id": name, "group_instance_id": case.instance if name == "gone" else None, "client_id": "c",
            "client_host": "/h", "rebalance_timeout": round(case.rebalance_timeout * 1000), "session_timeout": 10_000,
            "subscription": subscription(("t",), frozenset(), -1),
            "assignment": assignment(frozenset(("t", each) for each in partitions)),
        }  # fmt: skip

    def value(generation: int, seconds: float, *members: dict[str, object]) -> Event:
        reported = {"protocol_type": "consumer", "generation": generation, "protocol": "range" if members else None,
                "leader": members[0]["member_id"] if members else None,
                "current_state_timestamp": T0 + round(seconds * 1000), "members": list(members)}  # fmt: skip
        # The assignment takes the leader a while.
        return seconds + 0.4, written(2, {"group": group}, reported, 3)

    both, one = ((0, 1), (2,)), ((0,), (1, 2))
    result = []
    for generation, seconds in enumerate(sorted({1.0, case.gets_more or 1.0}), start=1):
        gone, stays = one if seconds < case.gets_more else both
        others = () if case.is_alone else (member("stays", *stays),)
        result.append(value(generation, seconds, *others, member("gone", *gone)))
    result.append(value(len(result) + 1, GOES, *(() if case.is_alone else (member("stays", 0, 1, 2),))))
    for partition, times in case.commits.items():
        key = {"group": group, "topic": "t", "partition": partition}
        for seconds in times:
            time = T0 + round(seconds * 1000)
            offset = {"offset": time, "leader_epoch": -1, "metadata": "", "commit_timestamp": time}
            result.append((seconds, written(1, key, offset, 3)))
        result += [] if case.deletes is None else [(case.deletes, written(1, key, None))]
    # Of whoever has them then.
    last = {"offset": 0, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + 61_000}
    return [*result, (61, written(1, {"group": group, "topic": "t", "partition": 0}, last, 3))]


def batches(some: Sequence[Event]) -> list[LoggedBatch]:
    result = []
    for offset, (seconds, pair) in enumerate(sorted(some, key=lambda event: event[0])):
        result.append(LoggedBatch(offset, offset, (Kept(offset, T0 + round(seconds * 1000), *pair),)))
    return result


def history(folder: Path, *logs: Sequence[LoggedBatch]) -> Path:
    """Of a log that grows."""
    for log in logs:
        shutil.rmtree(folder / "log", ignore_errors=True)
        write(folder / "log", 3, log)
        ingest(folder / "w", "--source", f"segments:{folder / 'log'}")
        replay(folder / "w")
    return folder / "w"


def kinds(warehouse: Path) -> dict[str, tuple[str, str]]:
    result = {}
    for row in rows(warehouse, "membership_intervals"):
        if row["member_id"] == "gone":
            assert (row["ended_by"], row["to_time"].timestamp()) == (row["leave_kind"], T0 / 1000 + GOES)
            result[row["group_id"]] = (row["leave_kind"], row["confidence"])
    return result


@pytest.fixture(scope="module")
def log() -> list[LoggedBatch]:
    return batches([event for group, case in CASES.items() for event in events(group, case)])


@pytest.fixture(scope="module")
def whole(log: list[LoggedBatch], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return history(tmp_path_factory.mktemp("whole"), log)


def test_a_member_of_which_nothing_was_heard_for_a_session_likely_timed_out(whole: Path) -> None:
    expected = {
        group: (case.kind, "certain" if case.kind in (LEFT, UNCLEAR) else "likely") for group, case in CASES.items()
    }
    assert kinds(whole) == expected


def test_the_rows_are_the_same_where_commit_and_round_came_in_two_runs(
    whole: Path, log: list[LoggedBatch], tmp_path: Path
) -> None:
    times = [(batch.records[0].time - T0) / 1000 for batch in log]
    ends = [sum(time < until for time in times) for until in (49.5, GOES)]
    grown = history(tmp_path, *(log[:end] for end in (*ends, len(log))))
    assert_same(row_texts(whole, HISTORY), row_texts(grown, HISTORY), "grown")


def test_nothing_is_claimed_where_a_later_commit_may_be_missing(tmp_path: Path) -> None:
    """As the cleaner leaves a log: what stood between the last commit that is left and the round is gone."""
    made = batches([event for group in ("killed", "closed") for event in events(group, CASES[group])])
    cleaned = [batch for batch in made if not T0 + 48_000 < batch.records[0].time < T0 + 60_000]
    assert len(cleaned) < len(made)
    assert kinds(history(tmp_path, cleaned)) == dict.fromkeys(("killed", "closed"), (UNCLEAR, "certain"))


# -- details of rebalances, which in other groups may come later than the departure


def consumer_group(group: str, last_commit: float) -> list[Event]:
    """Two members with a partition each. The first goes at second 60; at 62 the other gets its partition."""
    of = Modern(CONSUMER, group, {"t": (TOPIC_ID, 2)}, random.Random(0))
    result: list[Event] = []

    def add(seconds: float, pairs: Sequence[KeyValue]) -> None:
        result.extend((seconds, pair) for pair in pairs)

    for seconds, name in ((0.0, "gone"), (1.0, "stays")):
        add(seconds, [*of.join_as(ModernMember(name, None, "c", ("t",)), 0), *of.retarget(0)])
    gone, stays = of.members
    for seconds, member in ((2.0, gone), (3.0, stays)):
        add(seconds, of.advance(member))
    (partition,) = (partition for _, partition in gone.owned)
    at = T0 + round(last_commit * 1000)
    commit = {"offset": 1, "leader_epoch": -1, "metadata": "", "commit_timestamp": at, "topic_id": TOPIC_ID}
    add(last_commit, [written(1, {"group": group, "topic": "t", "partition": partition}, commit)])
    add(GOES, of.leave(0, gone))
    add(62, of.retarget(0))
    add(64, of.advance(stays))
    return result


def operations(some: Sequence[Event]) -> list[LoggedBatch]:
    """Each of the events of one time is one write."""
    result, offset = [], 0
    for seconds, events_then in groupby(sorted(some, key=lambda event: event[0]), key=lambda event: event[0]):
        kept = [Kept(offset + at, T0 + round(seconds * 1000), *pair) for at, (_, pair) in enumerate(events_then)]
        result.append(LoggedBatch(offset, kept[-1].offset, tuple(kept)))
        offset += len(kept)
    return result


@pytest.mark.parametrize(("last_commit", "kind", "verb"), [(12.0, TIMED_OUT, "timed out"), (59.9, LEFT, "left")])
def test_the_detail_of_a_rebalance_says_how_the_member_went_wherever_runs_end(
    tmp_path: Path, last_commit: float, kind: str, verb: str
) -> None:
    log = operations(consumer_group("g", last_commit))
    whole = history(tmp_path / "whole", log)
    assert kinds(whole)["g"][0] == kind
    details = {row["trigger_detail"] for row in rows(whole, "rebalances") if row["trigger"] == "member_left"}
    assert details == {f"member gone (c, 10.0.0.1) {verb}"}
    times = [batch.records[0].time for batch in log]
    for until in (61, 63):
        end = sum(time < T0 + until * 1000 for time in times)
        grown = history(tmp_path / str(until), log[:end], log)
        assert_same(row_texts(whole, HISTORY), row_texts(grown, HISTORY), f"cut at {until}")
    # The target may be there when the departure is answered, and its rebalance over when runs end once more.
    ends = [sum(time < T0 + until * 1000 for time in times) for until in (50, 63)]
    assert_same(
        row_texts(whole, HISTORY),
        row_texts(history(tmp_path / "three", *(log[:end] for end in ends), log), HISTORY),
        "",
    )
