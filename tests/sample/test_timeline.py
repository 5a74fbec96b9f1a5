"""Each event of the sample's story that a group's log shows is one line of `groupscope rebalances`, with its detail."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.sample.story import Event, checked_in, epoch_ms
from tests.terminals.terminals import here_on_terminal

SAMPLE = checked_in()
LOCAL = "127.0.0.1"
Line = dict[str, Any]
Lines = Callable[[str], list[Line]]

# Some hundred milliseconds pass between what clients did and what the coordinator wrote.
LATE_MS = 3_000


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timeline") / "warehouse"
    source = [f"segments:{SAMPLE.folder}", "--snapshots", str(SAMPLE.folder / "snapshots.jsonl"), "--fail-on", "never"]
    assert cli.main(["audit", "--source", *source, "--cluster", "sample", "--warehouse", str(folder)]) == 0
    return folder


@pytest.fixture
def lines(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> Lines:
    def events_of(group: str) -> list[Line]:
        capfd.readouterr()
        assert cli.main(["rebalances", group, "--warehouse", str(warehouse), "--format", "json"]) == 0
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]

    return events_of


def event(name: str) -> Event:
    return SAMPLE.event(name)


def during(lines: list[Line], of: Event) -> list[tuple[str, str | None, str | None]]:
    inside = [line for line in lines if of.from_ms <= epoch_ms(line["time"]) <= of.to_ms + LATE_MS]
    return [(line["kind"], line["trigger"], line["detail"]) for line in inside]


def test_a_static_instance_that_came_back_and_one_that_did_not(lines: Lines) -> None:
    back, gone = event("static-bounce"), event("static-never-returns")
    result = lines("classic-static")
    ids = f"{back['member_id_before']} → {back['member_id_after']}"
    reported = ("static_restart", None, f"instance {back['group_instance_id']} restarted: {ids}")
    assert during(result, back) == [reported]
    expired = f"member {gone['member_id']} ({LOCAL}) did not come back within the session timeout"
    assert during(result, gone) == [("rebalance", "member_left", expired)]


def test_a_killed_member_timed_out(lines: Lines, warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    killed = event("member-killed")
    reported = ("rebalance", "member_left", f"member {killed['member_id']} ({LOCAL}) timed out")
    assert during(lines("classic-killed"), killed) == [reported]
    # At the instant of the kill, long before the coordinator removed it.
    at = str(killed.from_ms)
    assert cli.main(["why", "classic-killed", "--at", at, "--warehouse", str(warehouse), "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["detail"] == reported[2]


def test_another_assignor_is_shown_with_the_previous_one(lines: Lines) -> None:
    before, after = event("rolling-upgrade")["assignors"]
    details = [line["detail"] for line in lines("classic-upgraded") if line["trigger"] == "assignor_changed"]
    assert [text.split("; ")[0] for text in details] == [f"{before} → {after}"]


def test_each_flap_of_a_storm_is_a_join_and_a_departure(lines: Lines) -> None:
    storm = event("rebalance-storm")
    expected = [
        ("rebalance", trigger, f"member {flap['member_id']} ({LOCAL}) {verb}")
        for flap in storm["flaps"]
        for trigger, verb in (("member_joined", "joined"), ("member_left", "left"))
    ]
    assert during(lines("classic-storm"), storm) == expected


def test_partitions_that_were_added_are_counted(lines: Lines) -> None:
    grown = event("partitions-added")
    counts = f"{grown['topic']} {grown['partitions_before']} → {grown['partitions_after']} partitions assigned"
    assert ("rebalance", "metadata_changed", counts) in during(lines("partitions-added"), grown)


def test_a_pattern_names_the_topic_that_came(lines: Lines) -> None:
    regex = event("consumer-group-regex")
    (detail,) = [line["detail"] for line in lines("modern-regex") if line["trigger"] == "regex_resolved"]
    assert detail == f"pattern {regex['regular_expressions'][0]} now matches {regex['topics'][-1]}"


def test_a_static_member_of_a_consumer_group_was_away(lines: Lines) -> None:
    (result,) = [line for line in lines("modern-static") if line["kind"] == "static_restart"]
    last = event("consumer-group-static")["observations"][-1]["members"]
    back = next(member["member_id"] for member in last if member["group_instance_id"] == "two")
    assert result["detail"].startswith("instance two restarted: ")
    assert f" → {back}, away for " in result["detail"]


def test_conversions_stand_once_each_way_before_the_rebalances_that_they_set_off(lines: Lines) -> None:
    rows = [(line["kind"], line["trigger"], line["detail"].split(";")[0]) for line in lines("converted")]
    assert rows[1:] == [
        ("conversion", None, "classic → consumer"),
        ("rebalance", "protocol_migration", "classic → consumer"),
        ("conversion", None, "consumer → classic"),
        ("rebalance", "protocol_migration", "consumer → classic"),
    ]


def test_a_deleted_group_ends_with_its_deletion(lines: Lines) -> None:
    result = lines("group-deleted")
    assert (result[-1]["kind"], [line["kind"] for line in result].count("deletion")) == ("deletion", 1)
    assert during(result, event("group-deleted")) == [("deletion", None, "was Empty at generation 2")]


def test_the_restart_of_the_broker_is_one_failover_of_each_group_that_was_there(lines: Lines) -> None:
    restart = event("broker-restart")
    for group in ("classic-range", "classic-static", "classic-killed", "modern-uniform"):
        (result,) = [line for line in lines(group) if line["kind"] == "coordinator_failover"]
        partition = str(result["evidence_partition"])
        before, after = (restart[f"leader_epochs_{side}"][partition] for side in ("before", "after"))
        assert result["detail"] == f"leader epoch {before} → {after} of __consumer_offsets-{partition}"
        assert epoch_ms(result["time"]) > restart.from_ms
    assert not [line for line in lines("converted") if line["kind"] == "coordinator_failover"]


def test_share_streams_and_connect_groups_have_details_too(lines: Lines) -> None:
    for group in ("shared", "streams-modern", "connect-cluster", "modern-uniform", "modern-range"):
        result = lines(group)
        assert len(result) > 1
        assert [line for line in result if not line["detail"] or line["trigger"] == "unknown"] == []
    assert [line["detail"] for line in lines("shared") if line["trigger"] == "metadata_changed"] == [
        "topic orders share state initialized, 6 partitions"
    ]


def test_every_line_fits_a_terminal(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for group in ("classic-upgraded", "modern-static", "streams-modern"):
        words = ["rebalances", group, "--warehouse", str(warehouse)]
        shown = here_on_terminal(words, warehouse.parent, columns=120).screen
        assert len(shown) > 3
        assert max(map(len, shown)) <= 120
        capfd.readouterr()
        assert cli.main(["rebalances", group, "--wide", "--warehouse", str(warehouse)]) == 0
        assert max(map(len, capfd.readouterr().out.splitlines())) > 120


# Without the column of unread time.
GOLDEN = """\
2026-11-21T17:36:28.594Z  group_created         0 → 1
2026-11-21T17:36:38.095Z  static_restart        1
2026-11-21T17:36:50.897Z  member_left           1 → 2
2026-11-21T17:38:00.156Z  coordinator_failover  2
"""
DETAILS = (
    "members picker-3-df19, picker-1-b0fa, picker-",
    "instance picker-2 restarted: picker-2-a3ca → p",
    "member picker-3-df19 did not come back within",
    "leader epoch 0 → 2 of __consumer_offsets-7",
)


def test_the_timeline_of_a_group_is_read_at_a_glance(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert cli.main(["rebalances", "classic-static", "--warehouse", str(warehouse)]) == 0
    header, _, *shown = capfd.readouterr().out.splitlines()
    assert header.split() == ["TIME", "EVENT", "GENERATION", "UNREAD", "DETAIL"]
    unread, details = header.index("UNREAD"), header.index("DETAIL")
    assert "".join(line[:unread].rstrip() + "\n" for line in shown) == GOLDEN
    assert [line[details : details + len(text)] for line, text in zip(shown, DETAILS, strict=True)] == list(DETAILS)


def test_offsets_of_a_topic_that_was_deleted_since_are_named(
    warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = {}
    for group in ("topic-deleted", "topic-recreated"):
        capfd.readouterr()
        words = ["offsets", group, "--at", "2026-11-21T17:39:06", "--warehouse", str(warehouse)]
        assert cli.main(words) == 0
        result[group] = capfd.readouterr().err
    assert (
        "topic legacy-orders: deleted after that time; brokers refuse to commit offsets for it"
        in result["topic-deleted"]
    )
    assert "deleted since" not in result["topic-recreated"]
