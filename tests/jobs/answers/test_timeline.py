"""`rebalances` and `why` over tables made by hand: each event of a group once, in order, and the one of an instant."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.answers.events.timeline import COLUMNS
from tests.builders.tables.history import at, coverage, interval, rebalance
from tests.make.tables import make

BOUNCING = {"group_id": "bouncing", "group_type": "classic"}
BORN = {"group_id": "born", "group_type": "classic"}
KILLED = {"group_id": "killed", "group_type": "consumer"}
BLUE = {"group_instance_id": "blue", "client_id": "c", "client_host": "/10.0.0.1"}
GONE = {"member_id": "gone", "client_id": "c2", "client_host": "/10.0.0.2"}


def stay(begin: float, end: float, first: int, last: int, member: str) -> dict[str, Any]:
    return {
        **interval(begin, end, first, "static_replaced"),
        **BOUNCING,
        **BLUE,
        "member_id": member,
        "to_record_offset": last,
        "leave_kind": "static_replaced",
        "left_generation": 1,
    }


def epoch(target: int, offset: int, begin: float, end: float, **more: Any) -> dict[str, Any]:
    numbers = {"from_generation": target - 1, "to_generation": target}
    return rebalance("killed", offset, begin, end, **numbers, **more) | {"group_type": "consumer"}


ROWS: dict[str, list[dict[str, Any]]] = {
    "group_state_intervals": [
        {**interval(10, 50, 100), **BOUNCING, "state": "Stable", "generation_or_epoch": 2, "num_members": 1}
        | {"ended_by": "converted", "to_record_offset": 115},
        {**interval(50, 70, 115, "deleted"), **BOUNCING, "group_type": "consumer", "state": "Empty"}
        | {"generation_or_epoch": 4, "num_members": 0, "to_record_offset": 120},
        # Its first record is the first of a new leader.
        {**interval(40, None, 112), **BORN, "state": "Empty", "generation_or_epoch": 0, "num_members": 0},
        # There before any leader is known to have changed; gone before the second one.
        {**interval(5, None, 200), **KILLED, "state": "Stable", "generation_or_epoch": 7, "num_members": 2},
    ],
    "membership_intervals": [
        stay(10, 20, 100, 105, "blue-1"),
        stay(20, 30, 105, 110, "blue-2"),
        {**interval(30, None, 110), **BOUNCING, **BLUE, "member_id": "blue-3"},
        {**interval(10, 75, 200), **KILLED, **GONE, "leave_kind": "left_or_timed_out"},
    ],
    "rebalances": [
        rebalance("bouncing", 100, 10, 10, from_generation=None, trigger="group_created"),
        rebalance("bouncing", 110, 30, 30, from_generation=1, to_generation=2, trigger="static_restart")
        | {"trigger_detail": "instance blue restarted: blue-2 → blue-3"},
        rebalance("bouncing", 114, 50, 51, from_generation=2, to_generation=3, trigger="protocol_migration")
        | {"trigger_detail": "classic → consumer"},
        epoch(7, 210, 62, 63, trigger="metadata_changed"),
        epoch(8, 220, 75, 76, trigger="member_left", members_departed=["gone"])
        | {"unread_partition_low_ms": 8_000, "unread_partition_high_ms": 24_000, "longest_unread_high_ms": 12_000},
    ],
    "ownership_intervals": [
        {**interval(20, 76, 201), **KILLED, **GONE, "topic": "orders", "partition": each, "to_record_offset": 220}
        | {"phase": "assigned", "reader_doubt_from_time": at(64)}
        for each in (1, 2)
    ],
    "partition_moves": [
        {
            **KILLED,
            "assignment_offset": 220,
            "topic": "orders",
            "partition": each,
            "kind": "moved",
            "idle_ms": 90,
            "to_member_id": "new",
        }
        | {"move_time": at(76), "move_offset": 220, "unread_low_ms": 4_000, "unread_high_ms": 12_000}
        for each in (1, 2)
    ],
    "generation_members": [{**BOUNCING, "assignment_offset": 110, "member_id": "blue-3", "change": "restarted"}],
    "coordinator_epochs": [
        {"offsets_partition": 3, "partition_leader_epoch": number, "first_offset": first, "last_offset": first}
        | {"from_time": at(second), "is_provisional": False}
        # The first is none; the last one wrote when the group was gone.
        for number, first, second in ((1, 0, 0), (3, 112, 40), (4, 130, 80))
    ],
    "current_member_assignments": [
        {**KILLED, "offsets_partition": 3, "record_offset": 205, "record_time": at(12), "member_id": "gone"}
        | {"member_epoch": 7, "previous_member_epoch": 6, "member_state": "STABLE"},
        {**KILLED, "offsets_partition": 3, "record_offset": 219, "record_time": at(75), "member_id": "gone"}
        | {"is_tombstone": True, "member_epoch": None},
    ],
    "group_member_metadata": [
        {**KILLED, "offsets_partition": 3, "record_offset": 204, "record_time": at(12), "member_id": "gone"}
        | {"subscribed_topic_names": ["orders"], "server_assignor": "range"},
    ],
    "history_coverage": [coverage(0, 300, 0, 90)],
}

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("timeline") / "warehouse", ROWS).root.path


@pytest.fixture
def ask(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> str:
        assert cli.main([*words, "--warehouse", str(warehouse)]) == 0
        return capfd.readouterr().out

    return asked


def second(number: float) -> str:
    return at(number).isoformat()


def shown(number: float) -> str:
    return at(number).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rows(ask: Ask, *words: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(ask(*words, "--format", "csv"))))


def test_why_prefers_the_removal_during_which_nobody_read_to_a_nearer_rebalance(ask: Ask) -> None:
    """A member is killed at second 64; a rebalance ended at 63, and its session timeout is over at 75."""
    assert " to 8, " in ask("why", "killed", "--at", second(64))
    assert " to 7, " in ask("why", "killed", "--at", second(63))


def test_events_of_a_group_are_listed_once_in_their_order(ask: Ask) -> None:
    result = [dict(zip(COLUMNS, row, strict=True)) for row in rows(ask, "rebalances", "bouncing")[1:]]
    assert [(row["time"][17:23], row["kind"], row["trigger"], row["detail"]) for row in result] == [
        ("10.000", "rebalance", "group_created", ""),
        ("20.000", "static_restart", "", "instance blue restarted: blue-1 → blue-2"),
        # That of second 30 came with a rebalance, which names it.
        ("30.000", "rebalance", "static_restart", "instance blue restarted: blue-2 → blue-3"),
        ("40.000", "coordinator_failover", "", "leader epoch 1 → 3 of __consumer_offsets-3"),
        ("50.000", "conversion", "", "classic → consumer"),
        ("50.000", "rebalance", "protocol_migration", "classic → consumer"),
        ("10.000", "deletion", "", "was Empty at epoch 4"),
    ]
    narrow = ask("rebalances", "bouncing", "--from", second(25), "--to", second(45)).splitlines()
    assert narrow[0] == f"Events from {shown(25)} to {shown(45)}"
    assert [line.split()[1] for line in narrow[3:]] == ["static_restart", "coordinator_failover"]
    assert narrow[3].split()[-4:] == ["restarted:", "blue-2", "→", "blue-3"]


def test_the_leader_that_wrote_the_first_record_of_a_group_is_no_failover_of_it(ask: Ask) -> None:
    """The leader after that is one."""
    (event,) = rows(ask, "rebalances", "born")[1:]
    assert dict(zip(COLUMNS, event, strict=True))["detail"] == "leader epoch 3 → 4 of __consumer_offsets-3"


def test_a_static_restart_has_its_own_answer_with_both_member_ids(ask: Ask) -> None:
    document = json.loads(ask("why", "bouncing", "--at", second(20.5), "--format", "json"))
    assert (document["kind"], [(row["change"], row["member_id"]) for row in document["members"]]) == (
        "static_restart",
        [("left", "blue-1"), ("joined", "blue-2")],
    )
    assert (document["before"]["trigger"], document["after"]["trigger"]) == ("group_created", "static_restart")


def test_members_of_a_consumer_group_have_its_fields(ask: Ask) -> None:
    modern = json.loads(ask("why", "killed", "--at", second(64), "--format", "json"))
    (gone,) = modern["members"]
    assert (gone["change"], gone["member_epoch"], gone["server_assignor"]) == ("left", 7, "range")
    assert not {"generation", "session_timeout_ms", "process_id"} & gone.keys()


def test_unread_time_is_that_of_the_worst_partition_and_the_sum(ask: Ask) -> None:
    for flags, expected in (((), ("UNREAD", "4.0 s to 12.0 s")), (("--wide",), ("UNREAD-SUM", "8.0 s to 24.0 s"))):
        header, *lines = ask("rebalances", "killed", *flags).splitlines()
        (line,) = [line for line in lines if "member_left" in line]
        start = header.index(f" {expected[0]} ") + 1
        assert line[start : start + len(expected[1])] == expected[1]
    assert "2 partitions were unread for 4.0 to 12.0 s each" in ask("why", "killed", "--at", second(80))
