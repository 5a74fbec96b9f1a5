"""Rules of [[groups]] that an assignment breaks: which of them make a finding, and what it says."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.configuration.settings import Settings
from jobs.gating.declarations.finding_files import Events
from jobs.gating.declarations.sql_text import parameters
from jobs.gating.findings import Choice, Finding, find, finding_statements
from jobs.queries.engines.duckdb_engine import scope_of
from tests.builders.logs.by_hand import generation, write_log, write_snapshot
from tests.make.tables import NOW, make

PARAMETERS, EVENTS = parameters("a", NOW, NOW, Settings()), Events(None, NOW)
Row = Mapping[str, Any]
STATE = {"state": "Stable", "to_offset": None, "num_members": 2}
CO_PARTITIONED = {"name": "co_partitioned", "is_ok": False, "detail": "a-1 and b-1 have different owners"}
REDUNDANT = {"name": "redundant", "is_ok": False, "detail": "a-0: 2 members must own each, 1 does"}
RACK_LOCAL = {"name": "rack_local", "is_ok": False, "detail": "no replica in the member's rack: a-0"}


def assignment(*checks: Row, **more: Any) -> Row:
    about = {"verdict": "same", "partition_counts_source": "snapshot", "confidence": "certain", "record_time": NOW}
    return {**about, "checks": [{"name": "valid", "is_ok": True}, *checks], **more}


def broken(folder: Path, assignments: Sequence[Row], states: Sequence[Row] = (STATE,)) -> list[Finding]:
    warehouse = make(folder, {"assignment_audit": assignments, "group_state_intervals": states})
    with scope_of(warehouse, finding_statements(PARAMETERS, EVENTS)) as answer:
        found = find(PARAMETERS, EVENTS, Choice(), answer).findings
    return [each for each in found if each.kind == "group_rule_broken"]


@pytest.mark.parametrize(("check", "message"), [
    (CO_PARTITIONED, "copartitioned: a member must have the same partitions of these topics, but a-1 and b-1 have "
                     "different owners"),
    (REDUNDANT, "redundancy: a-0: 2 members must own each, 1 does"),
    (RACK_LOCAL, "is_rack_local: a member with a rack must have only partitions with a replica there, but there is no "
                 "replica in the member's rack: a-0"),
])  # fmt: skip
def test_a_broken_rule_is_said_with_what_was_seen_and_since_when(tmp_path: Path, check: Row, message: str) -> None:
    (finding,) = broken(tmp_path, [assignment(check)])
    assert finding.message == f"{message}, since the assignment of 2026-11-21 03:00:00"
    assert (finding.severity, finding.group_id, finding.at_time) == ("warning", "a", None)


def test_rules_of_a_group_are_one_finding_and_its_statement_lists_each(tmp_path: Path) -> None:
    (finding,) = broken(tmp_path, [assignment(CO_PARTITIONED, REDUNDANT)])
    assert finding.num_rows == 2 and finding.message.endswith("(the worst of 2 like it)")
    with scope_of(make(tmp_path / "again", {"assignment_audit": [assignment(CO_PARTITIONED, REDUNDANT)],
                                            "group_state_intervals": [STATE]}), [finding.query]) as answer:  # fmt: skip
        assert len(list(answer(finding.query).rows)) == 2


@pytest.mark.parametrize(("check", "more", "confidence"), [
    (REDUNDANT, {}, "certain"),
    (RACK_LOCAL, {}, "likely"),
    (REDUNDANT, {"partition_counts_source": "inferred"}, "likely"),
    (REDUNDANT, {"partition_counts_source": None}, "likely"),
    (RACK_LOCAL, {"confidence": "possible"}, "possible"),
])  # fmt: skip
def test_what_no_record_shows_is_not_certain(tmp_path: Path, check: Row, more: Row, confidence: str) -> None:
    (finding,) = broken(tmp_path, [assignment(check, **more)])
    assert finding.confidence == confidence


def test_members_of_a_consumer_group_that_are_on_their_way_count(tmp_path: Path) -> None:
    assert broken(tmp_path, [assignment(REDUNDANT)], [{**STATE, "state": "Reconciling"}])


OLD = {"record_time": NOW - timedelta(days=1), "assignment_offset": 5}


@pytest.mark.parametrize(("assignments", "states"), [
    # What could not be checked, what passed, and other checks.
    ([assignment({**REDUNDANT, "is_ok": None})], [STATE]),
    ([assignment({**REDUNDANT, "is_ok": True})], [STATE]),
    ([assignment({**REDUNDANT, "name": "balanced"})], [STATE]),
    ([assignment(checks=None)], [STATE]),
    # A later assignment meets the rule.
    ([assignment(REDUNDANT, **OLD), assignment(assignment_offset=6)], [STATE]),
    # Of the group's offsets partition, not of one that it wrote to before.
    ([assignment(REDUNDANT), assignment(evidence_partition=1)],
     [{**STATE, "from_time": NOW - timedelta(days=1)}, {**STATE, "from_time": NOW, "evidence_partition": 1}]),
    # The newest one there, though that of another offsets partition has the offset of an earlier one.
    ([assignment(REDUNDANT, evidence_partition=1, **OLD), assignment(assignment_offset=6, evidence_partition=1),
      assignment(assignment_offset=5)], [{**STATE, "evidence_partition": 1}]),
    # Nobody has this assignment any more, or the next one follows.
    ([assignment(REDUNDANT)], []),
    ([assignment(REDUNDANT)], [{**STATE, "state": "Empty", "num_members": 0}]),
    ([assignment(REDUNDANT)], [{**STATE, "to_offset": 9}]),
    ([assignment(REDUNDANT)], [{**STATE, "state": "CompletingRebalance"}]),
    ([assignment(REDUNDANT, {"name": "withheld", "is_ok": True, "detail": "a-0"})], [STATE]),
])  # fmt: skip
def test_what_is_not_proved_of_the_present_assignment_is_no_finding(
    tmp_path: Path, assignments: Sequence[Row], states: Sequence[Row]
) -> None:
    assert broken(tmp_path, assignments, states) == []


def test_assignments_and_states_of_another_cluster_say_nothing(tmp_path: Path) -> None:
    """It may have a group of the same name."""
    theirs = [assignment(cluster="b", assignment_offset=9)], [{**STATE, "cluster": "b", "from_time": NOW}]
    mine = [assignment(REDUNDANT, assignment_offset=5)], [{**STATE, "from_time": NOW - timedelta(days=1)}]
    assert len(broken(tmp_path / "both", mine[0] + theirs[0], mine[1] + theirs[1])) == 1
    assert broken(tmp_path / "state", mine[0], theirs[1]) == []
    assert broken(tmp_path / "theirs", [assignment(REDUNDANT, cluster="b")], theirs[1]) == []


def test_an_audit_shows_a_broken_rule_until_an_assignment_meets_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text('[[groups]]\npattern = "g"\nredundancy = 2\n[gate]\nmax_source_age_hours = 0\n')
    first, then = generation("g", 1, 10, {"m": [0, 1], "n": [1]}), generation("g", 2, 20, {"m": [0, 1], "n": [0, 1]})
    snapshots = str(write_snapshot(tmp_path / "s.jsonl", 5, {"t": 2}))
    for place, events in enumerate(([first], [first, then])):
        source = write_log(tmp_path / f"log{place}", {0: events})
        cli.main(["audit", "--config", str(settings), "--source", source, "--warehouse", str(tmp_path / "w"),
                  "--report", str(tmp_path / "r"), "--snapshots", snapshots])  # fmt: skip
        shown = capfd.readouterr().out
        assert ("g: redundancy: t-0: 2 members must own each, 1 does, since" in shown) is (place == 0)
        assert ("group_rule_broken" in (tmp_path / "r" / "index.html").read_text()) is (place == 0)
