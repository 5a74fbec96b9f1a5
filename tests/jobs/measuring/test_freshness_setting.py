"""`[[groups]] freshness_objective_s`: from the settings to verdicts, to the view and to a finding, on the sample."""

from pathlib import Path

import pytest

from jobs import cli
from tests.runs.ingested import ROOT, rows
from tests.sample.story import checked_in, epoch_ms

SAMPLE = ROOT / "data" / "sample"
SETTINGS = """\
[gate]
max_source_age_hours = 0

[[groups]]
pattern = "ledger"
freshness_objective_s = 100

[[groups]]
pattern = "standalone"
freshness_objective_s = 100

[[groups]]
pattern = "ledge"
freshness_objective_s = 1
"""


def test_a_group_that_is_later_than_asked_is_a_finding_and_one_that_is_not_is_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of ledger a partition stopped for 165 s, by the story: its oldest message is older than 100 s then. The group
    standalone reads on all the time."""
    stopped = checked_in().event("partition-stopped")
    assert epoch_ms(stopped["to_time"]) - epoch_ms(stopped["from_time"]) > 160_000
    config = tmp_path / "groupscope.toml"
    config.write_text(SETTINGS)
    words = ["--source", f"segments:{SAMPLE}", "--snapshots", str(SAMPLE / "snapshots.jsonl"), "--config", str(config)]
    cli.main(["audit", *words, "--warehouse", str(tmp_path / "w")])
    assert "; from this follows: freshness objective missed\n" in capfd.readouterr().out
    found = rows(tmp_path / "w", "findings")
    # It is late because that partition stopped, so it is no finding of its own.
    (stop,) = (row for row in found if row["kind"] == "partition_stopped")
    assert (stop["group_id"], stop["topic"], stop["num_rows"]) == ("ledger", "payments", 2)
    assert cli.main(["sql", stop["query"], "--warehouse", str(tmp_path / "w"), "--format", "csv"]) == 0
    late = next(line for line in capfd.readouterr().out.splitlines() if line.startswith("freshness_missed,"))
    assert late.startswith("freshness_missed,ledger,payments,")
    assert "payments: its oldest unread message was older than 100 s in " in late
    assert [row for row in found if row["kind"] == "freshness_missed"] == []
    asked = {row["group_id"]: row["freshness_objective_ms"] for row in rows(tmp_path / "w", "group_verdicts")}
    assert {group: ms for group, ms in asked.items() if ms is not None} == {"ledger": 100_000, "standalone": 100_000}
