"""An audit as of an earlier time says what an audit in a new warehouse says as of that time, whatever audits before it
said of later times; and what it said stays true."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from tests.builders.generated.topics import written
from tests.builders.logs.by_hand import Event, generation, write_log
from tests.make.log import T0
from tests.oracles.pages.documents import detail_of, document_at, rows_of
from tests.runs.ingested import rows

# Seconds. One group commits until `STOPPED`, another as long as the log lasts.
EARLY, STOPPED, LATE = 120, 180, 900
RATE = 10


def commit(group: str, seconds: int) -> Event:
    value = {"offset": RATE * seconds - 5, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + seconds * 1000}
    return seconds, [written(1, {"group": group, "topic": "orders", "partition": 0}, value, 3)]


def snapshot(seconds: int) -> str:
    partition = {"partition": 0, "log_start_offset": 0, "log_end_offset": RATE * seconds}
    return json.dumps({"captured_at": T0 + seconds * 1000, "topics": [{"topic": "orders", "partitions": [partition]}]})


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("inputs")
    members = [generation(group, 1, 1, {"m-1": [0]}, "orders") for group in ("billing", "shipping")]
    commits = [commit("billing", each) for each in range(2, STOPPED, 2)]
    commits += [commit("shipping", each) for each in range(2, LATE, 2)]
    source = write_log(folder / "log", {0: [*members, *commits]})
    (folder / "snapshots.jsonl").write_text("\n".join(map(snapshot, (60, EARLY, 240, LATE))))
    (folder / "groupscope.toml").write_text("[gate]\nmax_source_age_hours = 0\n")
    config = ["--config", str(folder / "groupscope.toml"), "--fail-on", "never"]
    return ["--source", source, "--snapshots", str(folder / "snapshots.jsonl"), *config]


def audit(inputs: list[str], folder: Path, *flags: str) -> None:
    folder.mkdir(exist_ok=True)
    places = ["--warehouse", str(folder / "w"), "--report", str(folder / "r"), "--prometheus", str(folder / "prom")]
    assert cli.main(["audit", *inputs, *places, *flags]) == 0


def said(folder: Path) -> Mapping[str, Any]:
    """By the newest audit, wherever it says it."""
    newest = max(str(row["run_id"]) for row in rows(folder / "w", "gate_runs"))
    findings = [row for row in rows(folder / "w", "findings") if row["run_id"] == newest]
    kept = ("rank", "kind", "severity", "group_id", "topic", "partition", "message", "query")
    exported = re.findall("^groupscope_(?:group|findings).*$", (folder / "prom").read_text(), re.MULTILINE)
    page = document_at(folder / "r" / "index.html")
    details = {group: detail_of(page, group) for group in sorted(page["details"])}
    return {
        "findings": [{name: row[name] for name in kept} for row in findings if "run_id" not in row["query"]],
        "exported": exported,
        "groups": rows_of(page["groups"]),
        **{name: {group: each.get(name) for group, each in details.items()} for name in ("lag", "partitions")},
    }


def answers(folder: Path, findings: list[dict[str, Any]]) -> list[str]:
    statements = [each["query"] for each in findings]
    with DuckDBEngine(str(folder / "w")).scope(statements) as answer:
        return [repr(list(answer(each).rows)) for each in statements]


def test_an_earlier_time_is_judged_as_if_nothing_were_known_of_later_ones(inputs: list[str], tmp_path: Path) -> None:
    early = ("--as-of", str(T0 + EARLY * 1000))
    audit(inputs, tmp_path / "new", *early)
    expected = said(tmp_path / "new")
    audit(inputs, tmp_path / "old")
    late = said(tmp_path / "old")
    kinds = [row["kind"] for row in late["findings"]]
    assert "group_silent" in kinds and "group_silent" not in [row["kind"] for row in expected["findings"]]
    before = answers(tmp_path / "old", late["findings"])
    audit(inputs, tmp_path / "old", *early)
    assert said(tmp_path / "old") == expected
    assert [name for name in expected if late[name] == expected[name]] == []
    assert answers(tmp_path / "old", late["findings"]) == before


def test_a_later_time_does_not_hide_what_is_true_of_an_earlier_one(inputs: list[str], tmp_path: Path) -> None:
    """As when a run was once given the time of another clock."""
    audit(inputs, tmp_path / "new")
    expected = said(tmp_path / "new")
    audit(inputs, tmp_path / "old", "--as-of", str(T0 + 86_400_000))
    assert said(tmp_path / "old")["findings"] != expected["findings"]
    audit(inputs, tmp_path / "old")
    assert said(tmp_path / "old") == expected
