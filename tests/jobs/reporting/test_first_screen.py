"""The report's first screen, on warehouses by hand: verdict, sentence, findings, groups, tiles, and what is missing."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.builders.tables.history import rebalance
from tests.builders.warehouses.for_reports import FINDING, GATE_RUN, LATER, STEPS, judged, state
from tests.make.tables import NOW, NOW_MS, Rows, make, write_run
from tests.oracles.pages.documents import document_at, rows_of, said, without_script

COVERAGE: Sequence[dict[str, Any]] = (
    {"offsets_partition": 7, "first_offset": 0, "last_offset": 9, "num_records": 10, "from_time": NOW, "to_time": NOW},
    {"offsets_partition": 7, "first_offset": 15, "last_offset": 19, "num_records": 5, "to_time": LATER},
    {"offsets_partition": 2, "num_records": 7, "damaged_records": 3, "from_time": NOW - timedelta(days=2)},
)
# Of a rebalance in which every member kept what it had.
STOPPED_NOTHING = {"num_moved": 0, "num_returned": 0, "num_unowned": 0}
DAY = 86_400_000


def lag(group: str, partition: int, floor: int | None) -> dict[str, Any]:
    return {"group_id": group, "topic": "orders", "partition": partition, "snapshot_time": NOW, "lag": floor}


def moved(group: str, offset: int, to: str | None, unread_ms: int | None) -> dict[str, Any]:
    bounds = {"unread_low_ms": unread_ms, "unread_high_ms": unread_ms}
    row = {"group_id": group, "assignment_offset": offset, "move_offset": offset, "to_member_id": to, **bounds}
    return {**row, "topic": "orders", "partition": 0, "kind": "moved", "move_time": NOW}


MODERN = {"group_type": "consumer", "assignor": None}
ASSIGNORS = "org.apache.kafka.coordinator.group.assignor.RangeAssignor,uniform"
GROUPS = [
    *(state(each) for each in ("a-fine", "b-unknown", "c-stopped", "d-partly", "calm", "first", "long", "short")),
    *(state(each) for each in ("pay-eu", "pay-us", "freight")),
    state("1-default", **MODERN), state("2-chosen", **MODERN | {"assignor": "uniform"}),
    state("3-classic", assignor="sticky"), state("4-empty", assignor="sticky", state="Empty", num_members=0),
    state("5-simple", group_type=None, state="Empty"),
]  # fmt: skip
# As the gate lists them, but for the first one, which is waived: the gate has it beside the other waived one.
FINDINGS = [
    FINDING | {"message": "waived", "waived_until_time": LATER},
    FINDING | {"group_id": "bill.ing", "message": "orders-3: no commit for 2 min", "is_new": True, "since_time": NOW,
               "messages_waiting": 1_318},
    FINDING | {"group_id": "c-stopped", "kind": "long_unread", "message": "`<b>`", "at_time": NOW},
    *(FINDING | {"group_id": each, "message": each, "severity": "info"} for each in ("pay-eu", "pay-us", "freight")),
    FINDING | {"group_id": "a-fine", "message": "waived too", "waived_until_time": LATER},
]  # fmt: skip
TABLES: dict[str, Rows] = {
    "history_coverage": COVERAGE,
    "findings": [row | {"rank": place} for place, row in enumerate(FINDINGS, 1)],
    "source_files": [{"offsets_partition": 7, "source_file": "/var/kafka logs/__consumer_offsets-7/0.log"}],
    "group_state_intervals": GROUPS,
    "lag_points": [
        lag("a-fine", 0, 0), lag("c-stopped", 0, 40), lag("c-stopped", 1, 2), lag("d-partly", 0, 3),
        lag("d-partly", 1, None), lag("b-unknown", 0, None),
        lag("a-fine", 0, 900) | {"snapshot_time": NOW - timedelta(days=1)},
    ],
    "group_verdicts": [
        {"group_id": group, "own_verdict": word, "as_of_time": NOW}
        for group, word in (("a-fine", "OK"), ("c-stopped", "STOP"), ("d-partly", "WARN"))
    ],
    "membership_intervals": [
        {"group_id": "calm", "member_id": "m-9", "client_id": "shop", "client_host": "/10.0.0.7",
         "group_instance_id": "pod-3", "from_time": NOW, "from_record_offset": 1},
    ],
    "rebalances": [
        rebalance("first", 6, 1, 2, trigger="group_created", longest_unread_high_ms=None) | STOPPED_NOTHING,
        rebalance("long", 7, 1, 2, longest_unread_high_ms=None),
        rebalance("short", 8, 1, 2, longest_unread_high_ms=14_048),
        # Its partitions had no owner for a time.
        rebalance("short", 9, 3, 3, outcome="emptied", num_unowned=1),
    ],
    "partition_moves": [
        moved("short", 8, "m", 14_048), moved("short", 9, None, None), moved("short", 10, "n", 9_000),
        moved("4-empty", 8, "m", 7_000), moved("4-empty", 9, None, None),
    ],
    "offset_resets": [{"group_id": "calm", "topic": "orders", "kind": "to_earliest", "at_time": NOW}],
    "marks": [{"mark_time": NOW, "text": "billing 2.4.1", "group_pattern": "^pay", "recorded_time": NOW},
              {"mark_time": LATER, "text": "kernel", "recorded_time": LATER}],
    "cluster_snapshots": [{"captured_time": NOW, "settings": [("group.consumer.assignors", ASSIGNORS)]},
                          {"captured_time": LATER, "settings": None}],
}  # fmt: skip


def written(folder: Path, *flags: str) -> dict[str, Any]:
    words = ["report", "--warehouse", str(folder / "w"), "--report", str(folder / "out"), *flags]
    assert cli.main(words) == 0
    return document_at(folder / "out" / "index.html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with something of everything."""
    folder = tmp_path_factory.mktemp("rich")
    judged(folder / "w", TABLES)
    return folder


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    return written(folder)


def groups_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """In the order of the page."""
    return {row["id"]: row for row in rows_of(document["groups"])}


def tile(document: dict[str, Any], name: str) -> tuple[str, str]:
    (found,) = (each for each in document["tiles"] if each["name"] == name)
    return said(found["value"]), said(found["note"])


def test_one_sentence_says_what_is_wrong_since_when_and_how_much_waits(document: dict[str, Any]) -> None:
    assert said(document["sentence"]) == (
        f"2 critical: bill.ing partition stopped since {NOW_MS}, 1318 messages wait; "
        f"c-stopped partitions unread for long at {NOW_MS}; 3 info"
    )
    about = document["about"]
    assert (about["verdict"], about["exit_code"], about["as_of"]) == ("Findings", 20, NOW_MS)
    assert (about["since"], about["until"]) == (NOW_MS - 2 * DAY, NOW_MS + 60_000)


def test_tiles_have_numbers_that_can_be_counted(document: dict[str, Any]) -> None:
    assert tile(document, "groups") == ("17", "1 STOP, 1 WARN, 14 UNKNOWN, 1 OK")
    value, note = tile(document, "lag")
    peak = re.fullmatch(r"c-stopped, orders-0; highest 900, a-fine, about (\d+); 2 partitions unknown", note)
    # The time of its column of the map.
    assert value == "42 messages" and peak and 0 <= NOW_MS - DAY - int(peak[1]) < DAY // 100
    assert tile(document, "rebalances")[0] == "4"
    assert tile(document, "findings") == ("1 of 5", "2 critical, 3 info; 2 waived")
    value, note = tile(document, "coverage")
    assert value == "2" and note.endswith("; 1 hole")
    assert [len(each["past"]) for each in document["tiles"]][1:3] == [240, 60]


def test_a_finding_names_its_records_and_what_to_run_next(document: dict[str, Any], folder: Path) -> None:
    first, second, *_ = rows_of(document["findings"])
    assert (first["heading"], first["kind"], first["is_new"], first["group"]) == (
        "partition stopped", "partition_stopped", True, "bill.ing",
    )  # fmt: skip
    assert (first["confidence"], first["evidence"]) == ("likely", "__consumer_offsets-7, records 5 to 111")
    assert first["dump"] == (
        "groupscope dump --group '^bill\\.ing$' --from-offset 5 '/var/kafka logs/__consumer_offsets-7'/*.log"
    )
    assert first["query"] == FINDING["query"] and first["message"] == "orders-3: no commit for 2 min"
    assert first["next"] == f"groupscope status --warehouse {folder}/w bill.ing"
    assert second["next"] == f"groupscope why --warehouse {folder}/w --at 2026-11-21T03:00:00.000Z c-stopped"
    for each in (first, second):
        with pytest.raises(SystemExit) as ended:
            cli.main([*each["next"].split()[1:], "--help"])
        assert ended.value.code == 0


def test_waived_findings_come_last_and_say_until_when(document: dict[str, Any]) -> None:
    rows = rows_of(document["findings"])
    assert [row["message"] for row in rows] == [*(row["message"] for row in FINDINGS[1:-1]), "waived", "waived too"]
    assert [row["is_new"] for row in rows] == [True, *[False] * 6]
    assert [row["waived_until"] for row in rows] == [*[None] * 5, NOW_MS + 60_000, NOW_MS + 60_000]


def test_groups_come_worst_first_and_an_unknown_lag_is_no_number(document: dict[str, Any]) -> None:
    groups = groups_of(document)
    assert list(groups)[:2] == ["c-stopped", "bill.ing"]
    shown = [(name, row["verdict"], row["lag"], row["lag_unknown"], row["severity"]) for name, row in groups.items()]
    assert [each for each in shown if each[0][:2] in ("a-", "b-", "c-", "d-")] == [
        ("c-stopped", "STOP", 42, 0, "critical"),
        ("d-partly", "WARN", 3, 1, None),
        ("b-unknown", "UNKNOWN", None, 1, None),
        ("a-fine", "OK", 0, 0, None),
    ]
    assert [row["rank"] for row in groups.values()] == list(range(len(GROUPS) + 1))


def test_a_group_says_how_long_it_was_unread_only_where_that_is_known(document: dict[str, Any]) -> None:
    groups = groups_of(document)
    names = ("unread", "unread_since", "unread_unknown")
    shown = {name: tuple(row[each] for each in names) for name, row in groups.items()}
    assert {name: each for name, each in shown.items() if each != (None, None, 0)} == {
        "short": (14_048, None, 0), "4-empty": (7_000, NOW_MS, 0), "long": (None, None, 1),
    }  # fmt: skip


def test_a_group_whose_members_chose_no_assignor_has_the_one_that_the_broker_takes(
    document: dict[str, Any], tmp_path: Path
) -> None:
    groups = groups_of(document)
    assert [groups[row["group_id"]]["assignor"] for row in GROUPS[-5:]] == [
        "range",
        "uniform",
        "sticky",
        "none",
        "none",
    ]
    judged(tmp_path / "w", {"group_state_intervals": [state("default", **MODERN)]})
    assert groups_of(written(tmp_path))["default"]["assignor"] == "uniform"


def test_a_group_is_found_by_its_members_clients_hosts_and_instances(document: dict[str, Any]) -> None:
    words = groups_of(document)["calm"]["words"].split()
    assert sorted(words) == ["/10.0.0.7", "m-9", "pod-3", "shop"]


def test_resets_and_marks_of_deployments_are_on_the_map(document: dict[str, Any]) -> None:
    shown = {(row["kind"], row["group"], row["text"], row["at"]) for row in rows_of(document["marks"])}
    assert shown == {
        ("reset", "calm", "to earliest of orders", NOW_MS), ("deployment", "pay-eu", "billing 2.4.1", NOW_MS),
        ("deployment", "pay-us", "billing 2.4.1", NOW_MS), ("deployment", None, "kernel", NOW_MS + 60_000),
    }  # fmt: skip
    states = document["map"]["states"]
    assert {len(each) for each in states.values()} == {document["map"]["columns"]}
    # Small: a minute in a column of twelve.
    assert {*states["calm"].strip(".")} == {"s"} and {*states["4-empty"].strip(".")} == {"e"}


def test_a_mark_of_an_upgrade_says_which_way_it_went(tmp_path: Path) -> None:
    """After the way back a group has two, both finished."""
    there, back = "classic_to_consumer", "consumer_to_classic"
    upgrades = [
        {"group_id": "calm", "migration": way, "phase": "finished", "started_time": NOW + timedelta(seconds=at)}
        for at, way in enumerate((there, back))
    ]
    judged(tmp_path / "w", {"group_state_intervals": [state("calm")], "assignor_upgrades": upgrades})
    marks = [(row["kind"], row["text"]) for row in rows_of(written(tmp_path)["marks"])]
    assert marks == [("upgrade", "classic to consumer, finished"), ("upgrade", "consumer to classic, finished")]


def test_of_marks_that_lie_on_each_other_the_map_has_the_first_one_and_how_many_there_are(tmp_path: Path) -> None:
    """No topic of another one is taken for that of the first."""
    resets = [
        {"group_id": group, "topic": topic, "partition": 0, "kind": "to_latest", "at_time": NOW + timedelta(seconds=at)}
        for group, number in (("many", 1_000), ("few", 40))
        for at in range(number)
        for topic in [None if at % 2 == 0 else "orders"]
    ]
    groups = [state(each) for each in ("many", "few")]
    whole = [{"offsets_partition": 7, "num_records": 9, "from_time": NOW, "to_time": NOW + timedelta(seconds=999)}]
    judged(tmp_path / "w", {"group_state_intervals": groups, "offset_resets": resets, "history_coverage": whole})
    marks: dict[str, list[dict[str, Any]]] = {"many": [], "few": []}
    for row in rows_of(written(tmp_path)["marks"]):
        marks[row["group"]].append(row)
    assert [row["text"] for row in marks["few"]] == ["to latest", "to latest of orders"] * 20
    assert [row["at"] for row in marks["few"]] == [NOW_MS + 1_000 * at for at in range(40)]
    counts = [re.fullmatch(r"to latest(?: of orders)? and (\d+) more", row["text"]) for row in marks["many"]]
    assert len(counts) == 40 and sum(1 + int(each[1]) for each in counts if each) == 1_000
    for row in marks["many"]:
        assert (" of orders" in row["text"]) == ((row["at"] - NOW_MS) // 1_000 % 2 == 1)


def test_patterns_narrow_groups_and_findings_and_the_page_says_so(folder: Path) -> None:
    document = written(folder, "--group", "^pay", "--exclude-group", "us$")
    assert list(groups_of(document)) == ["pay-eu"] == list(document["details"])
    assert [row["message"] for row in rows_of(document["findings"])] == ["pay-eu", "waived"]
    assert "freight" not in (folder / "out" / "index.html").read_text()
    notices = [said(each) for each in document["notices"]]
    assert any("This report shows: groups that match ^pay, without groups that match us$." in each for each in notices)


def test_without_a_script_there_are_verdict_findings_and_groups(folder: Path) -> None:
    written(folder)
    text = without_script((folder / "out" / "index.html").read_text())
    assert "2 critical: bill.ing partition stopped since 2026-11-21T03:00:00.000Z, 1,318 messages wait" in text
    assert "orders-3: no commit for 2 min" in text and "c-stopped" in text and "`<b>`" in text


def test_too_many_rejected_records_win_over_findings(tmp_path: Path) -> None:
    judged(tmp_path / "w", {}, ingest_code=22)
    about = written(tmp_path)["about"]
    assert (about["verdict"], about["exit_code"]) == ("Records rejected", 22)


def test_a_wrong_pattern_ends_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--warehouse", str(tmp_path), "--group", "("]) == 2
    assert capsys.readouterr().err.startswith("groupscope: --group '(': missing )")


def test_a_folder_that_cannot_be_written_ends_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path / "w", {})
    (tmp_path / "file").write_text("")
    assert cli.main(["report", "--warehouse", str(tmp_path / "w"), "--report", str(tmp_path / "file")]) == 2
    expected = f"groupscope: --report {tmp_path / 'file'}: "
    assert capsys.readouterr().err.startswith(expected)


def test_a_warehouse_that_was_only_ingested_says_what_has_not_run_and_what_brings_it(tmp_path: Path) -> None:
    make(tmp_path / "w", {})
    document = written(tmp_path)
    assert said(document["sentence"]) == "no result: groupscope gate has not run"
    notices = " ".join(map(said, document["notices"]))
    assert re.findall(r"groupscope (\w+) has not run", notices) == [*STEPS[1:], "gate"]
    assert f"Run: groupscope lag --warehouse {tmp_path}/w" in notices
    assert f"One line brings them: groupscope capture --warehouse {tmp_path}/w" in notices
    assert document["map"] is None and tile(document, "lag")[0] == "unknown"


def test_findings_of_which_none_is_new_are_not_called_clean(tmp_path: Path) -> None:
    known = {"history_coverage": [{"num_records": 1}], "findings": [FINDING | {"rank": 1, "is_new": False}]}
    judged(tmp_path / "w", known, exit_code=0)
    document = written(tmp_path)
    assert document["about"]["verdict"] == "Findings" and tile(document, "findings")[0] == "0 of 1"


def test_a_history_without_groups_and_one_with_nothing_wrong_say_so(tmp_path: Path) -> None:
    judged(tmp_path / "w", {}, exit_code=0)
    document = written(tmp_path)
    assert said(document["sentence"]) == "no result: no record of this cluster has been read yet"
    assert document["about"]["verdict"] == "No verdict"
    assert "The history holds no group." in map(said, document["notices"])
    judged(tmp_path / "one" / "w", {"history_coverage": [{"num_records": 1}], "group_state_intervals": [state("a")]}, 0)
    assert said(written(tmp_path / "one")["sentence"]) == "nothing is wrong in 1 group"


def test_findings_that_are_infos_alone_are_named(tmp_path: Path) -> None:
    infos = [FINDING | {"rank": rank, "severity": "info", "group_id": f"g{rank}"} for rank in (1, 2, 3)]
    judged(tmp_path / "w", {"history_coverage": [{"num_records": 1}], "findings": infos}, exit_code=0)
    sentence = said(written(tmp_path)["sentence"])
    assert sentence.startswith("nothing critical, no warning; 3 infos: g1 ") and sentence.endswith("; 1 more")


def test_records_read_after_the_verdict_are_pointed_out(tmp_path: Path) -> None:
    warehouse = judged(tmp_path / "w", {})
    assert not any("after the verdict" in said(each) for each in written(tmp_path)["notices"])
    write_run(warehouse, "00000009-ingest", {})
    document = written(tmp_path)
    assert document["about"]["run_id"] == GATE_RUN
    assert any(
        f"after the verdict. Run again: groupscope gate --warehouse {tmp_path}/w" in said(each)
        for each in document["notices"]
    )
