"""What readers say of instants in a stretch of the log that was not seen, and of groups behind it of which only commits
tell, over tables made by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.builders.tables.history import at, coverage, interval, rebalance
from tests.make.tables import make

BILLING, OTHER = {"group_id": "billing"}, {"group_id": "other", "evidence_partition": 4}
UNKNOWN = {"group_type": None, "state": None, "num_members": None, "confidence": "possible"}
ONE = {"member_id": "one", "client_id": "c1", "client_host": "/10.0.0.1"}
OWNED = {**ONE, "topic": "orders", "partition": 0, "phase": "assigned"}
COMMIT = {"topic": "orders", "partition": 0, "via": "plain", "num_commits": 1}
# Of partition 3 seconds 40 to 70 were not seen, and nothing before second 10.
OF_THREE: dict[str, list[dict[str, Any]]] = {
    "history_coverage": [{**coverage(5, 30, 10, 40), "is_provisional": False}, coverage(50, 60, 70, 90)],
    "group_state_intervals": [
        {**interval(10, 40, 5, "coverage_hole"), **BILLING, "state": "Stable", "generation_or_epoch": 2}
        | {"num_members": 1},
        {**interval(70, 80, 50), **BILLING, **UNKNOWN},
        {**interval(80, None, 55), **BILLING, "state": "Stable", "generation_or_epoch": 9, "num_members": 2},
        {**interval(70, None, 51), "group_id": "late", **UNKNOWN},
        {**interval(75, None, 52), "group_id": "part", **UNKNOWN, "group_type": "consumer", "state": "Stable"},
    ],
    "membership_intervals": [{**interval(10, 40, 5, "coverage_hole"), **BILLING, **ONE}],
    "ownership_intervals": [{**interval(10, 40, 5, "coverage_hole"), **BILLING, **OWNED}],
    "rebalances": [
        rebalance("billing", 5, 9, 10, to_generation=2),
        rebalance("billing", 55, 80, 80, from_generation=None, to_generation=9),
    ],
    "offset_history": [
        {**interval(20, 40, 8, "coverage_hole"), **BILLING, **COMMIT, "committed_offset": 7},
        {**interval(70, None, 50), **BILLING, **COMMIT, "committed_offset": 9},
        # Not before second 80; and deleted behind the hole, which is known.
        {**interval(21, 40, 9, "coverage_hole"), **BILLING, **COMMIT, "committed_offset": 8, "partition": 1},
        {**interval(80, None, 54), **BILLING, **COMMIT, "committed_offset": 8, "partition": 1},
        {**interval(22, 40, 10, "coverage_hole"), **BILLING, **COMMIT, "committed_offset": 6, "partition": 2},
        {**interval(70, 75, 53, "deleted"), **BILLING, **COMMIT, "committed_offset": 6, "partition": 2},
    ],
}
WITH_FOUR = {
    **OF_THREE,
    "history_coverage": [*OF_THREE["history_coverage"], {**coverage(0, 9, 30, 90), "offsets_partition": 4}],
    "group_state_intervals": [
        *OF_THREE["group_state_intervals"],
        {**interval(30, None, 0), **OTHER, "state": "Empty", "num_members": 0},
    ],
}

Ask = Callable[..., tuple[int, str, str]]


def time(second: float) -> str:
    return at(second).isoformat()


def stamp(second: float) -> str:
    return at(second).strftime("%Y-%m-%dT%H:%M:%S.000Z")


HOLE = f"records of __consumer_offsets-3 after {stamp(40)} and before {stamp(70)} are missing from the warehouse"


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("unseen")
    return {name: make(folder / name, rows).root.path for name, rows in (("three", OF_THREE), ("with four", WITH_FOUR))}


@pytest.fixture
def ask(warehouses: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(warehouse: str, *words: str) -> tuple[int, str, str]:
        code = cli.main([*words, "--format", "csv", "--warehouse", str(warehouses[warehouse])])
        done = capfd.readouterr()
        return code, done.out, done.err

    return asked


@pytest.mark.parametrize("words", [("groups",), ("groups", "--state", "Empty"), ("owner", "orders", "0")])
def test_where_nothing_was_seen_there_is_no_answer(ask: Ask, words: tuple[str, ...]) -> None:
    # Intervals end at the last time that is known, so that the hole begins with it.
    for second in (40, 69.5):
        code, out, err = ask("three", *words, "--at", time(second))
        (line,) = err.splitlines()
        assert (code, out) == (2, "")
        assert line.endswith(f"records of that time are missing from the warehouse; the next ones are of {stamp(70)}")
    assert [ask("three", *words, "--at", time(second))[0] for second in (39.5, 70)] == [0, 0]


@pytest.mark.parametrize("words", [("groups",), ("owner", "orders", "0")])
def test_offsets_partitions_that_were_not_seen_are_named(ask: Ask, words: tuple[str, ...]) -> None:
    # Partition 4 begins with its first record: nothing was in it before.
    for second, is_seen in ((10, True), (39.5, True), (40, False), (69.5, False), (70, True)):
        code, _, err = ask("with four", *words, "--at", time(second))
        assert code == 0
        assert ("records of partitions 3 at" in err) is not is_seen, second
    assert (
        "orders-0 had no owner in any group whose records are in the warehouse"
        in ask("with four", "owner", "orders", "0", "--at", time(50))[2]
    )
    assert "orders-0 had no owner in any group at" in ask("with four", "owner", "orders", "0", "--at", time(75))[2]


def test_the_owner_in_one_group_is_only_as_known_as_the_group(ask: Ask) -> None:
    asked = ("owner", "orders", "0", "--group", "billing", "--at")
    assert ask("with four", *asked, time(39.5))[1].count("\n") == 2
    code, out, err = ask("with four", *asked, time(50))
    assert (code, out, "missing from the warehouse" in err) == (2, "", True)
    code, out, err = ask("with four", *asked, time(75))
    assert (code, out.count("\n")) == (0, 1)
    assert f"there may be more owners at {stamp(75)}: records of the group are missing from the warehouse" in err
    assert f"orders-0 had no owner that is known in group billing at {stamp(75)}" in err
    assert f"orders-0 had no owner in group billing at {stamp(85)}" in ask("with four", *asked, time(85))[2]
    # The offsets partition of another group is not asked for.
    assert ask("with four", "owner", "orders", "0", "--group", "other", "--at", time(50))[0] == 0


def test_groups_that_only_commits_show_are_listed_without_type_and_state(ask: Ask) -> None:
    _, out, err = ask("with four", "groups", "--at", time(75))
    assert [",".join(line.split(",")[:4]) for line in out.splitlines()] == [
        "GROUP,TYPE,STATE,PROTOCOL",
        "billing,,,",
        "late,,,",
        'other,Classic,Empty,""',
        "part,Consumer,Stable,consumer",
    ]
    words = "groups with unknown TYPE or STATE, because records are missing"
    assert err == f"groupscope: at {stamp(75)}\ngroupscope: {words}: 2\n"
    _, out, err = ask("with four", "groups", "--type", "classic", "--at", time(75))
    assert (out.splitlines()[1:], err) == (
        ['other,Classic,Empty,"",,,,'],
        f"groupscope: at {stamp(75)}\n"
        f"groupscope: {words}: 2; they are left out, since --type and --state cannot be compared\n",
    )
    assert words not in ask("with four", "groups", "--at", time(39))[2]


def test_what_only_commits_show_has_no_state_and_no_members(ask: Ask) -> None:
    for shown in ("--offsets", "--members", "--state"):
        code, out, err = ask("three", "describe", "billing", shown, "--verbose", "--at", time(75))
        assert code == 0
        assert "'billing': state and members are unknown: records of the group are missing from the warehouse." in err
        assert "no active members" not in err
    assert set(out.splitlines()[1].removeprefix("billing")) == {","}
    _, out, err = ask("three", "describe", "part", "--state", "--at", time(75))
    assert set(out.splitlines()[1].removeprefix("part,,uniform,Stable")) == {","}
    told_part = "there may be more members: records of the group are missing from the warehouse."
    assert err == f"groupscope: at {stamp(75)}\ngroupscope: Consumer group 'part': {told_part}\n"
    assert "are unknown" not in ask("three", "describe", "billing", "--at", time(85))[2]


def test_members_that_may_still_be_there_have_not_gone(ask: Ask) -> None:
    for first, last in ((39, 75), (75, 85)):
        code, out, err = ask("three", "diff", "billing", "--from", time(first), "--to", time(last))
        assert code == 0
        assert f"state, members and owners at {stamp(75)} are unknown" in err
        assert {line.split(",")[0] for line in out.splitlines()[1:]} == {"offset"}
    _, out, err = ask("three", "diff", "billing", "--from", time(39), "--to", time(85))
    assert ("are unknown" in err, out.splitlines()[1]) == (False, "generation_or_epoch,,,,2,9,")


def test_why_shows_that_rebalances_may_have_been_missed(ask: Ask) -> None:
    missed = f"groupscope: {HOLE}; the group may have rebalanced in that time\n"
    # The rebalance of second 9 ends at 10. Later ones may be nearer, before or after the time.
    for second, expected in ((10, ""), (39, missed), (40, missed), (60, missed), (75, missed), (80, "")):
        code, _, err = ask("three", "why", "billing", "--at", time(second))
        assert (code, err) == (0, f"groupscope: at {stamp(second)}\n{expected}"), second
    code, _, err = ask("three", "why", "late", "--at", time(75))
    assert (code, err) == (2, f"groupscope: group late: the data has no rebalance, restart or failover; {HOLE}\n")


@pytest.mark.parametrize("words", [("offsets",), ("describe",)])
def test_offsets_that_were_not_seen_since_are_named(ask: Ask, words: tuple[str, ...]) -> None:
    what = f"group billing: committed offsets of orders-1 at {stamp(75)} are unknown"
    for second, is_told in ((39, False), (75, True), (80, False)):
        code, _, err = ask("three", *words, "billing", "--at", time(second))
        assert (code, what in err) == (0, is_told), second
    assert what in ask("three", "diff", "billing", "--from", time(75), "--to", time(75))[2]
