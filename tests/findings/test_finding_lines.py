"""Findings on the run page: by kind, worst first, one line each whatever the names contain."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobs.pages.run_pages import finding_lines, new_finding_lines, summary, summary_with_new, verdict_line
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse

DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)


def finding(kind: str, severity: str, group: str | None = "g", message: str = "what", **more: Any) -> dict[str, Any]:
    about = {"kind": kind, "severity": severity, "group_id": group, "message": message, "run_id": "00000001-r"}
    evidence = {"evidence_partition": 3, "evidence_first_offset": 1_000, "evidence_last_offset": 2_000}
    return {**about, **evidence, "confidence": "likely", "is_new": True, "waived_until_time": None, **more}


def test_kinds_stand_together_where_the_worst_of_them_stands() -> None:
    rows = [
        finding("stopped", "critical", "one"),
        finding("offsets_reset", "warning", "two", confidence="certain"),
        finding("stopped", "critical", "three", evidence_last_offset=1_000),
        finding("often", "info", evidence_first_offset=None, evidence_last_offset=None),
        finding("source", "info", None, evidence_partition=None, confidence="certain"),
    ]
    assert list(finding_lines(rows)) == [
        "critical  stopped: 2",
        "          one: what",
        "            likely; __consumer_offsets-3, records 1,000 to 2,000",
        "          three: what",
        "            likely; __consumer_offsets-3, record 1,000",
        "warning   offsets reset (offsets_reset): 1",
        "          two: what",
        "            __consumer_offsets-3, records 1,000 to 2,000",
        "info      often: 1",
        "          g: what",
        "            likely; __consumer_offsets-3",
        "info      source: 1",
        "          what",
        "all       groupscope sql \"SELECT * FROM findings WHERE run_id = '00000001-r' ORDER BY rank\"",
    ]
    assert summary_with_new(rows) == "2 critical, 1 warning, 2 info (5 new)"


def test_those_that_are_new_come_first_in_their_kind_and_are_counted() -> None:
    known = [finding("stopped", "critical", f"g{number}", is_new=False) for number in range(3)]
    # An older release did not say which are new.
    rows = [*known, finding("stopped", "critical", "late"), finding("often", "info", is_new=None)]
    lines = list(finding_lines(rows))
    assert lines[0] == "critical  stopped: 4, 1 new"
    names = [line.strip() for line in lines if line.endswith(": what")]
    assert names == ["late: what", "g0: what", "g1: what", "g: what"]
    assert "info      often: 1" in lines
    assert summary_with_new(rows) == "4 critical, 1 info (1 new)"
    assert summary_with_new(known) == "3 critical (none new)"


def test_an_audit_in_which_nothing_is_new_is_not_called_clean(tmp_path: Path) -> None:
    result = {"exit_code": 0, "verdict": "findings", "cluster": "c"}
    known = [finding("stopped", "critical", is_new=False)]
    line = verdict_line(Warehouse(LocalPlace(tmp_path)), result, known, ended_with=0)
    assert line == "FINDINGS, exit code 0 because none is new: 1 critical"


def test_many_are_counted_and_waived_ones_do_not_count() -> None:
    rows = [finding("stopped", "critical", f"g{number}") for number in range(1_005)]
    lines = list(finding_lines([*rows, finding("stopped", "critical", waived_until_time=DECEMBER)]))
    assert lines[0] == "critical  stopped: 1,005"
    assert [line.strip() for line in lines if line.startswith("          g")][:3] == [
        "g0: what",
        "g1: what",
        "g2: what",
    ]
    assert "          and 1,002 more" in lines
    assert lines[-3:-1] == ["waived    1", "          g: what: stopped, waived until 2026-12-01"]
    assert summary([finding("stopped", "critical", waived_until_time=DECEMBER)]) == "no findings"
    kinds = [finding(f"kind_{number}", "info") for number in range(12)]
    assert list(finding_lines(kinds))[-2] == "          and kind_10 (1), kind_11 (1)"


def test_of_new_findings_the_worst_are_shown_and_known_ones_are_counted() -> None:
    rows = [finding("stopped", "critical", f"g{number}", is_new=number not in (0, 12)) for number in range(14)]
    rows += [finding("often", "info", is_new=None), finding("often", "info", waived_until_time=DECEMBER)]
    lines = list(new_finding_lines(rows))
    assert lines[:2] == [
        "critical  stopped: g1: what",
        "            likely; __consumer_offsets-3, records 1,000 to 2,000",
    ]
    assert [line for line in lines if line.startswith("critical")] == [
        f"critical  stopped: g{number}: what" for number in range(1, 11)
    ]
    assert lines[20:] == [
        "          and 2 more new ones: 2 critical; --verbose lists them",
        "known     3 since before: 2 critical, 1 info; --verbose lists them",
        "waived    1",
    ]
    assert list(new_finding_lines(rows[1:2])) == lines[:2]


def test_no_name_draws_a_line_of_its_own() -> None:
    hostile = "a\nCLEAN, exit code 0\x1b[2J\u2028b"
    lines = list(finding_lines([finding("stopped", "critical", hostile, f"member {hostile}")]))
    assert len(lines) == 4
    assert all(line.isprintable() for line in lines)
