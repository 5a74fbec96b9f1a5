"""A static member that went away and was not back at the end of the log: nobody reads its partitions, and the report
says so, for as long as that lasted at least."""

from typing import Any

import pytest

from jobs import cli
from tests.builders.warehouses.for_reports import LATER, judged, state
from tests.make.tables import NOW, NOW_MS, Rows
from tests.oracles.pages.documents import detail_of, document_at, rows_of, said

LASTED = (LATER - NOW).seconds * 1_000


def stay(group: str, member: str, **columns: Any) -> dict[str, Any]:
    row = {"group_id": group, "member_id": member, "group_instance_id": f"pod-{member}", "from_time": NOW}
    return row | {"from_record_offset": 1, "evidence_last_offset": 9, **columns}


def owned(group: str, member: str, partition: int, **columns: Any) -> dict[str, Any]:
    row = {"group_id": group, "member_id": member, "topic": "orders", "partition": partition, "from_time": NOW}
    return {**row, "from_record_offset": 2, "role": "active", "phase": "held", **columns}


def moved(group: str, unread_ms: int) -> dict[str, Any]:
    row = {
        "group_id": group,
        "assignment_offset": 3,
        "move_offset": 3,
        "topic": "orders",
        "partition": 0,
        "role": "active",
    }
    return {
        **row,
        "kind": "moved",
        "to_member_id": "m",
        "move_time": NOW,
        "unread_low_ms": 1,
        "unread_high_ms": unread_ms,
    }


ENDED = {"to_time": LATER, "to_record_offset": 8}
TABLES: dict[str, Rows] = {
    "history_coverage": [{"offsets_partition": 7, "num_records": 10, "from_time": NOW, "to_time": LATER}],
    "group_state_intervals": [state(each) for each in ("a-read", "b-back", "c-standby", "z-away")],
    "membership_intervals": [
        stay("a-read", "m"), stay("b-back", "m", away_since_time=NOW, leave_kind="static_replaced", **ENDED),
        stay("b-back", "n", from_record_offset=8), stay("c-standby", "m", away_since_time=NOW),
        stay("z-away", "m", away_since_time=NOW), stay("z-away", "n"),
    ],
    "ownership_intervals": [
        owned("a-read", "m", 0), owned("b-back", "m", 0, **ENDED), owned("b-back", "n", 0, from_record_offset=8),
        owned("c-standby", "m", 0, role="standby"),
        owned("z-away", "m", 0), owned("z-away", "m", 1), owned("z-away", "m", 2, **ENDED), owned("z-away", "n", 2),
        owned("z-away", "m", 3, role="standby"),
    ],
    "partition_moves": [moved("a-read", 20_000), moved("z-away", 5_000)],
}  # fmt: skip


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("away")
    judged(folder / "w", TABLES)
    assert cli.main(["report", "--warehouse", str(folder / "w"), "--report", str(folder / "out")]) == 0
    return document_at(folder / "out" / "index.html")


def test_time_without_a_reader_counts_while_it_lasts(document: dict[str, Any]) -> None:
    rows = rows_of(document["groups"])
    # None has a finding: that one comes first, though its name is the last.
    assert [row["id"] for row in rows] == ["z-away", "a-read", "b-back", "c-standby"]
    assert [(row["unread"], row["unread_lasts"], row["unread_since"]) for row in rows] == [
        (LASTED, True, NOW_MS), (20_000, False, None), (None, False, None), (None, False, None),
    ]  # fmt: skip
    (tile,) = (each for each in document["tiles"] if each["name"] == "rebalances")
    assert said(tile["note"]).startswith(f"longest unread at least {LASTED}, z-away")


def test_its_going_is_an_event_and_nobody_reads_until_the_end(document: dict[str, Any]) -> None:
    detail = detail_of(document, "z-away")
    (event,) = [row for row in rows_of(detail["events"]) if row["kind"] == "static_away"]
    assert event["at"] == NOW_MS
    assert event["sentence"] == (
        "static member pod-m is away since then, until the end of the log: m; nobody reads its 2 partitions"
    )
    unread = [row for row in rows_of(detail["owners"]) if row["view"] == "reader" and row["from"] == NOW_MS]
    assert [(row["partition"], row["member"], row["to"]) for row in unread] == [
        (0, -1, NOW_MS + LASTED), (1, -1, NOW_MS + LASTED),
    ]  # fmt: skip
    # The time of the map is longer than that: its last column is small.
    assert {*document["map"]["states"]["z-away"].upper()} == {"N"}
    for group, number in (("a-read", 0), ("b-back", 0), ("c-standby", 1)):
        kinds = detail_of(document, group).get("events", {"kind": []})["kind"]
        assert kinds.count("static_away") == number, group
