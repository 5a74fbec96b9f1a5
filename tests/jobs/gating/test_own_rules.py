"""Metrics, suites and waivers of users: the examples of docs/operations.md, put beside a settings file and judged."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.make.tables import BY_HAND, NOW, make
from tests.runs.ingested import ROOT, rows

PAGE = (ROOT / "docs" / "operations.md").read_text()
(METRIC,) = re.findall(r"```\n(-- Offsets of the billing groups\..+?)```", PAGE, flags=re.DOTALL)
(SUITE,) = re.findall(r'```json\n(\{\n  "name": "billing".+?)```', PAGE, flags=re.DOTALL)
(WAIVER,) = re.findall(r"```toml\n(\[\[waivers\]\].+?)```", PAGE, flags=re.DOTALL)
BACK = {"topic": "orders", "committed_offset": 5, "previous_offset": 5_000, "delta": -4_995, "num_commits": 1,
        "commit_time": NOW, "last_commit_time": NOW}  # fmt: skip
RESET = {"kind": "shift", "topic": "orders", "at_time": NOW, "evidence_first_offset": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A group of billing whose offset went back by a reset, and one of another team."""
    make(tmp_path / "w", {
        "history_coverage": [{"last_offset": 9, "num_records": 10, "from_time": NOW - timedelta(days=1),
                              "to_time": NOW}],
        "topic_snapshots": [{"captured_time": NOW}],
        "offset_commits": [{"is_transactional": False, "record_time": NOW}],
        "offset_history": [{**BACK, "group_id": name} for name in ("billing-eu", "orders")],
        "offset_resets": [{**RESET, "group_id": name} for name in ("billing-eu", "orders")],
    }, run_id=BY_HAND)  # fmt: skip
    (tmp_path / "groupscope.toml").write_text("[gate]\nmax_source_age_hours = 0\n")
    for name in ("metrics", "expectations"):
        (tmp_path / name).mkdir()
    (tmp_path / "metrics" / "billing.sql").write_text(METRIC)
    (tmp_path / "expectations" / "billing.json").write_text(SUITE)
    (tmp_path / "waivers.toml").write_text(WAIVER.replace("2026-12-01", "2999-12-01"))
    return tmp_path


def gate(folder: Path) -> int:
    return cli.main(["gate", "--warehouse", str(folder / "w"), "--config", str(folder / "groupscope.toml")])


def test_what_the_page_shows_is_measured_judged_and_waived(folder: Path) -> None:
    gate(folder)
    measured = {row["metric"]: row["value"] for row in rows(folder / "w", "gate_metrics")
                if row["table_name"] == "billing"}  # fmt: skip
    assert measured == {"num_rows": 1, "rows_failing_far_back": 1}
    verdicts = {row["suite"]: row["verdict"] for row in rows(folder / "w", "gate_runs")}
    assert verdicts["billing"] == "warned"
    result = rows(folder / "w", "findings")
    messages = [row["message"] for row in result if row["message"].startswith("suite billing: ")]
    assert messages == ["suite billing: rows_failing_far_back is 1, expected 0 or less"]
    resets = {row["group_id"]: row["waiver"] for row in result if row["kind"] == "offsets_reset"}
    assert resets == {"billing-eu": "planned reset (ada)", "orders": None}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("FROM offset_history", "FROM offset_histor", 'billing.sql: Catalog Error: Table with name offset_histor '),
        ("delta < -1000", "deltas < -1000", 'billing.sql: Binder Error: Referenced column "deltas" not found'),
        ("count(*) AS num_rows", "count(* AS num_rows", "billing.sql: Parser Error: syntax error at or near "),
        (":cluster", ":clusters", "billing.sql: unknown parameter :clusters; use one of :as_of_time"),
    ],
)  # fmt: skip
def test_a_metric_that_cannot_be_measured_is_one_line(
    folder: Path, capfd: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    before = len(rows(folder / "w", "runs"))
    (folder / "metrics" / "billing.sql").write_text(METRIC.replace(old, new))
    capfd.readouterr()
    assert gate(folder) == ExitCode.USAGE
    out, said = capfd.readouterr()
    assert (out, said.count("\n"), message in said) == ("", 1, True), said
    assert len(rows(folder / "w", "runs")) == before
