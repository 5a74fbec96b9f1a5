"""The gate as users run it lists what the cases list, and Spark gives the same rows as DuckDB."""

import random
import re
from datetime import timedelta
from pathlib import Path

import pytest

from jobs import cli
from jobs.configuration.settings import Gate, Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.metric_files import metric_files
from jobs.gating.declarations.sql_text import parameters
from jobs.queries.engines.duckdb_engine import DuckDBEngine, scope_of
from jobs.queries.engines.spark_engine import SparkEngine
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from tests.builders.logs.by_hand import generation, write_log, write_snapshot
from tests.findings.cases import findings
from tests.findings.test_cases import CASES, OF_SUITES
from tests.make.tables import BY_HAND, NOW, Row, make
from tests.runs.ingested import rows

LIMITS = {"needless_commits_per_day": 10, "record_limit_bytes": 1_000, "offsets_partition_limit_bytes": 9,
          "max_source_age_hours": 0}  # fmt: skip
COLUMNS = (
    "group_id, topic, partition, message, at_time, evidence_partition, evidence_first_offset, evidence_last_offset, "
    "confidence, severity, harm"
)
DIFFERING = {"run_id", "rank", "query"}
OF_RUNS = {"runs", "findings"}


def everything(*left_out: str) -> dict[str, list[Row]]:
    """The rows of all cases that give findings now, in one cluster: the groups of each have names of their own.
    `left_out`: kinds whose cases do not count."""
    tables: dict[str, list[Row]] = {}
    for number, case in enumerate(case for case in CASES.values() if case.wanted):
        if case.asked.keys() <= LIMITS.keys() and not {row["kind"] for row in case.wanted} & set(left_out):
            # What runs write is left to them.
            for table, some in case.tables().items():
                if table in OF_RUNS:
                    continue
                has_groups = any(column.name == "group_id" for column in TABLES[table].columns)
                named = [{"group_id": f"{row.get('group_id', 'a')} {number}"} if has_groups else {} for row in some]
                tables.setdefault(table, []).extend(row | each for row, each in zip(some, named, strict=True))
    return tables


@pytest.mark.drawn_together(2)
def test_the_command_lists_the_rows_that_the_cases_list(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Besides these, suites may find that the rows do not fit together."""
    # What a command says of clocks depends on when it runs.
    tables, config = everything("clock_ahead"), tmp_path / "own.toml"
    tables["offset_resets"] += [{"group_id": f"console-consumer-{number}", "kind": "shift"} for number in range(3)]
    warehouse = make(tmp_path / "w", tables, run_id=BY_HAND)
    config.write_text("[gate]\n" + "".join(f"{name} = {number}\n" for name, number in LIMITS.items()))
    words = ("gate", "--warehouse", str(tmp_path / "w"), "--config", str(config), "--as-of", NOW.isoformat())
    assert cli.main(words) == 20
    assert ", 3 left out by settings (tool_groups, exclude_groups)" in capfd.readouterr().out
    written = sorted(rows(tmp_path / "w", "findings"), key=lambda row: row["rank"])
    of_kinds = [row for row in written if row["kind"] not in OF_SUITES]
    statements = [file.rows(parameters("a", NOW, NOW, Settings()), Events(None, NOW)) for file in finding_files()]
    with scope_of(warehouse, statements) as answer:
        expected = findings(answer, "a", since=NOW - timedelta(days=7), **LIMITS)
    names = written[0].keys() - DIFFERING
    assert [{name: row[name] for name in names} for row in of_kinds] == [
        {name: row[name] for name in names} for row in expected
    ]
    never = OF_SUITES | {"source_not_advancing", "report_failed", "no_snapshots", "clock_ahead"}
    assert {row["kind"] for row in of_kinds} == {kind.value for kind in FindingKind} - never


# Spark plans a statement for seconds where DuckDB needs none: it writes a part out wherever the part is named.
KINDS_A_RUN = 8


@pytest.mark.drawn_together(2)
@pytest.mark.spark
@pytest.mark.parametrize(
    "num_kinds", [pytest.param(KINDS_A_RUN, id="some"), pytest.param(None, id="all", marks=pytest.mark.soak)]
)
def test_both_engines_give_the_same_findings_and_take_all_metrics(
    tmp_path: Path, seed: int, num_kinds: int | None
) -> None:
    """One statement for all kinds."""
    tables, filled = everything(), parameters("a", NOW, NOW, Settings(gate=Gate(**LIMITS)))
    # Of 70 snapshots the first five twice.
    times = [NOW + timedelta(seconds=number % 70) for number in range(75)]
    points = [{"lag_raw": 1, "snapshot_time": each, "group_id": "points"} for each in times]
    make(tmp_path, {**tables, "lag_points": [*tables["lag_points"], *points]})
    files = list(finding_files())
    chosen = files if num_kinds is None else random.Random(seed).sample(files, num_kinds)
    statement = "\nUNION ALL\n".join(
        f"SELECT {COLUMNS} FROM (\n{file.rows(filled, Events(None, NOW))}\n) AS listed_{file.kind.value}"
        for file in chosen
    )
    counting = metric_files(tmp_path)["lag_points"].statement(filled)
    # The one word that differs.
    metrics = [each.statement(filled).replace(" unnest(", " explode(") for each in metric_files(tmp_path).values()]
    with DuckDBEngine(str(tmp_path)).scope([statement, counting]) as answer:
        expected = sorted(tuple(map(str, row)) for row in answer(statement).rows)
        counted = list(answer(counting).rows)
    assert len(expected) > (250 if num_kinds is None else 0)
    assert counted[0][:2] == (len(tables["lag_points"]) + len(points), 5)
    with SparkEngine(str(tmp_path), is_debug=False).scope([statement, *metrics]) as answer:
        result = sorted(tuple(map(str, row)) for row in answer(statement).rows)
        assert list(answer(counting).rows) == counted
        plans = [next(iter(answer(f"EXPLAIN {each}").rows))[0] for each in metrics]
    # Engines print times differently.
    assert [row[:4] + row[5:] for row in result] == [row[:4] + row[5:] for row in expected]
    assert [plan for plan in plans if "Error occurred" in plan] == []


@pytest.mark.drawn_together(2)
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


@pytest.mark.drawn_together(2)
def test_a_third_owner_of_two_that_are_declared_is_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text('[[groups]]\npattern = "g"\nredundancy = 2\n[gate]\nmax_source_age_hours = 0\n')
    two = generation("g", 1, 10, {"l": [], "m": [0], "n": [0]}, protocol="ours")
    one = generation("g", 2, 15, {"l": [], "m": [0], "n": []}, protocol="ours")
    three = generation("g", 3, 20, {"l": [0], "m": [0], "n": [0]}, protocol="ours")
    for place, events in enumerate(([two], [two, one], [two, one, three])):
        source = write_log(tmp_path / f"log{place}", {0: events})
        code = cli.main(["audit", "--config", str(settings), "--source", source, "--warehouse", str(tmp_path / "w"),
                         "--report", str(tmp_path / "r"), "--verbose"])  # fmt: skip
        shown = capfd.readouterr().out
        assert (code, "two_owners" in shown) == (*[(ExitCode.CLEAN, False)] * 2, (ExitCode.FINDINGS, True))[place], (
            shown
        )
        assert re.findall(r"2 members must own each, (. do\w*)", shown) == [[], ["1 does"], ["3 do"]][place], shown
        # One cause, one line.
        assert len(re.findall(r"^ *(?:critical|warning) .*", shown, re.M)) == (0, 1, 1)[place], shown
    # Without the rule, two owners are one too many.
    source = write_log(tmp_path / "other", {0: [two]})
    words = ["audit", "--source", source, "--warehouse", str(tmp_path / "o"), "--report", str(tmp_path / "r")]
    assert cli.main(words) == ExitCode.FINDINGS
    assert "two_owners" in capfd.readouterr().out
