"""Both views of an owner: what the coordinator's records say, and who read the partition."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.builders.tables.history import at, coverage, interval
from tests.make.tables import make

PLACE = {"topic": "orders", "partition": 1}
PAY = {**PLACE, "group_id": "pay"}


def stay(begin: float, end: float | None, first: int, member: str, **more: Any) -> dict[str, Any]:
    times = {name: at(value) for name, value in more.items() if name.endswith("_time")}
    return {
        **interval(begin, end, first), **PAY, "member_id": member, "client_id": member, "client_host": "/10.0.0.1",
        "phase": "assigned", **more, **times,
    }  # fmt: skip


def moved(second: float, offset: int, before: str | None, after: str | None, low: int | None, high: int | None) -> Any:
    return {
        **PAY, "group_type": "classic", "assignment_offset": offset, "move_offset": offset, "move_time": at(second),
        "kind": "moved", "from_member_id": before, "to_member_id": after, "unread_low_ms": low, "unread_high_ms": high,
    }  # fmt: skip


ROWS: dict[str, list[dict[str, Any]]] = {
    "group_state_intervals": [
        {**interval(0, None, 1), "group_id": each, "state": "Stable", "num_members": 1}
        for each in ("pay", "else", "gone", "new")
    ],
    # p1 is killed after second 34 and removed at 42; p2 has the partition from 45 on, and may get it half a second
    # later. It leaves at 70; static p3 comes at 75, restarts, and has been away since 90.
    "ownership_intervals": [
        stay(10, 42, 2, "p1", reader_certain_until_time=32, reader_doubt_from_time=34),
        stay(45, 70, 12, "p2", reader_certain_until_time=68),
        stay(75, 90, 20, "p3", reader_certain_until_time=90),
        stay(90, None, 30, "p3", phase="held", reader_doubt_from_time=90),
        # Restores the state that p2 has.
        stay(45, 75, 12, "p4", role="standby"),
        {**stay(10, None, 3, "g1"), "group_id": "else"},
        {**stay(5, 20, 1, "n1"), "group_id": "new"},
        # Left for good, and had perhaps stopped before.
        {**stay(10, 40, 4, "g2", reader_certain_until_time=30, reader_doubt_from_time=31), "group_id": "gone"},
    ],
    "partition_moves": [
        {**moved(5, 1, None, "n1", 2_000, 5_000), "group_id": "new"},
        moved(42, 11, "p1", None, None, None),
        moved(45, 12, None, "p2", 6_000, 11_500),
        moved(70, 19, "p2", None, None, None),
        moved(75, 20, None, "p3", 5_000, 5_500),
    ],
    "offset_history": [
        {**interval(20, 50, 5, "commit"), **PAY, "committed_offset": 1, "last_commit_time": at(32)},
        {**interval(11, None, 6), **PLACE, "group_id": "else", "committed_offset": 2, "last_commit_time": at(80)},
    ],
    "history_coverage": [coverage(0, 99, 0, 100)],
}

Ask = Callable[..., tuple[str, str]]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("readers") / "warehouse", ROWS).root.path


@pytest.fixture
def ask(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(second: float, *words: str) -> tuple[str, str]:
        when = ["--at", at(second).isoformat()]
        assert cli.main(["owner", "orders", "1", *when, *words, "--warehouse", str(warehouse)]) == 0
        result = capfd.readouterr()
        return result.out, result.err

    return asked


@pytest.mark.parametrize(
    ("second", "group", "reading", "words"),
    [
        (30, "pay", "certain", "certain until 03:00:32.000, likely after"),
        (32, "pay", "certain", "certain until 03:00:32.000, likely after"),
        (33, "pay", "likely", "likely since 03:00:32.000"),
        (34, "pay", "possible", "possible since 03:00:34.000, nobody from 03:00:39.000"),
        # It is owned until 42 by what the coordinator wrote.
        (39, "pay", "nobody", "nobody from 03:00:39.000, perhaps from 03:00:34.000, to 03:00:45.000"),
        (45, "pay", "possible", "nobody until it has got the partition, by 03:00:45.500"),
        (45.5, "pay", "certain", "certain until 03:01:08.000, likely after"),
        (69.4, "pay", "likely", "likely since 03:01:08.000"),
        (69.9, "pay", "possible", "possible since 03:01:09.500, nobody from 03:01:10.000"),
        (76, "pay", "certain", "certain until 03:01:30.000, likely after"),
        (95, "pay", "nobody", "nobody while it is away"),
        # It goes on: its newest commit shows it.
        (79, "else", "certain", "certain until 03:01:20.000, likely after"),
        (81, "else", "likely", "likely since 03:01:20.000"),
        (35, "gone", "possible", "possible since 03:00:31.000"),
    ],
)
def test_the_reader_is_not_always_the_owner(ask: Ask, second: float, group: str, reading: str, words: str) -> None:
    (row,) = (
        row
        for row in map(json.loads, ask(second, "--group", group, "--format", "json")[0].splitlines())
        if row["role"] is None
    )
    assert (row["reading"], row["confidence"]) == (reading, "certain")
    assert ask(second, "--group", group)[0].splitlines()[3].endswith(f"  certain     {words}")


def test_a_standby_task_reads_nothing_for_the_group(ask: Ask) -> None:
    rows = [json.loads(line) for line in ask(50, "--group", "pay", "--format", "json")[0].splitlines()]
    assert {row["member_id"]: row["reading"] for row in rows} == {"p2": "certain", "p4": None}


@pytest.mark.parametrize(
    ("second", "group", "words"),
    [
        (43, "pay", "p1 of group pay, client p1 at 10.0.0.1, until 2026-11-21T03:00:42.000Z; nobody read it from "
         "03:00:39.000, perhaps from 03:00:34.000, to 03:00:45.000, perhaps to 03:00:45.500"),
        (41, "gone", "g2 of group gone, client g2 at 10.0.0.1, until 2026-11-21T03:00:40.000Z; perhaps nobody read it "
         "since 03:00:31.000; nobody has it since then"),
    ],
)  # fmt: skip
def test_without_an_owner_it_is_said_for_how_long(ask: Ask, second: float, group: str, words: str) -> None:
    out, err = ask(second, "--group", group, "--format", "csv")
    at_time = at(second).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert out.count("\n") == 1
    assert err.endswith(f"orders-1 had no owner in group {group} at {at_time}; the last one was {words}\n")


def test_a_group_that_soon_has_an_owner_is_named_beside_those_that_have_one(ask: Ask) -> None:
    """Not the one that has lost it for good."""
    out, err = ask(43)
    assert [line.split()[0] for line in out.splitlines()[3:]] == ["else"]
    assert "no owner in group pay at" in err
    assert "gone" not in err
    assert "group new" not in err


def test_a_new_partition_had_no_owner_before(ask: Ask) -> None:
    """Its topic grew when a snapshot had shown the old number of partitions."""
    assert ask(1, "--group", "new")[1].endswith(
        "orders-1 had no owner in group new at 2026-11-21T03:00:01.000Z; no member of group new had it before; nobody "
        "read it from 03:00:03.000, perhaps from 03:00:00.000, to 03:00:05.000\n"
    )
