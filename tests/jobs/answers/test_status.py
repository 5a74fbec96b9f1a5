"""What is wrong now, on one screen: each value is that of the tables, and no group that is not well is lost."""

import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs import cli
from jobs.answers.standing import catching_up
from jobs.answers.table_reader import TableReader, equal
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.warehouses.warehouse import Warehouse
from tests.audited_sample import SAMPLE, audited_sample
from tests.builders.tables.history import at, coverage, evidence, interval, rebalance
from tests.make.tables import make, write_run
from tests.runs.typed_here import typed_here
from udfs.sentences.durations import in_words

__all__ = ["audited_sample"]
Row = dict[str, Any]
Made = Callable[[dict[str, list[Row]]], Warehouse]
Ask = Callable[..., tuple[int, str, str]]
AS_OF = 4_000
# Findings that say that a group is not well, as the newest audit of the only cluster has them.
LASTING = """
  SELECT * FROM findings
  WHERE run_id = (SELECT max(run_id) FROM gate_runs) AND at_time IS NULL AND waived_until_time IS NULL
"""
# Of a group of which one of these is said, some do not read.
NOT_READING = {"group down", "group silent", "member silent", "partition stopped", "partition stuck at one offset"}
BAD = "own_verdict NOT IN ('OK', 'UNKNOWN')"


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(warehouse: Any, *words: str) -> tuple[int, str, str]:
        code = cli.main(["status", *words, "--warehouse", str(warehouse)])
        done = capfd.readouterr()
        return code, done.out, done.err

    return asked


def without_age(line: str) -> str:
    """The first line; the data are old, and it says so."""
    text, age = line.rsplit(", ", 1)
    assert re.fullmatch(r"\d+ d( \d+ h)? ago", age), line
    return text


def document(ask: Ask, warehouse: Any, *words: str) -> Any:
    code, out, _ = ask(warehouse, *words, "--format", "json")
    assert code == 0
    # After the seed, if there is one.
    return json.loads(out.splitlines()[-1])


# -- the sample


@pytest.fixture(scope="module")
def query(audited_sample: Path) -> Callable[[str], list[Row]]:
    return queries_of(audited_sample)


def queries_of(warehouse: Path) -> Callable[[str], list[Row]]:
    engine = DuckDBEngine(str(warehouse))

    def answered(text: str) -> list[Row]:
        (statement,) = engine.statements(text)
        with engine.scope([statement]) as answer:
            names, rows = answer(statement)
            return [dict(zip(names, row, strict=True)) for row in rows]

    return answered


def shown(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds" if value.microsecond % 1_000 else "milliseconds")[:-6] + "Z"
    return value


def same(rows: list[Row], expected: list[Row]) -> None:
    names = list(expected[0]) if expected else []
    assert [[row[name] for name in names] for row in rows] == [
        [shown(each) for each in row.values()] for row in expected
    ]


@pytest.fixture(params=["the end", "a drawn instant"])
def at_an_instant(request: Any, audited_sample: Path, seed: int, tmp_path: Path) -> Path:
    """The sample, audited as of then. The warehouse is named by the seed, so that a failure shows it."""
    if request.param == "the end":
        return audited_sample
    (first, last) = ((2026, 11, 21, 17, 36, 45), (2026, 11, 21, 17, 39, 31))
    span = datetime(*last, tzinfo=UTC) - datetime(*first, tzinfo=UTC)
    instant = datetime(*first, tzinfo=UTC) + span * np.random.default_rng(seed).random()
    source = ["--source", f"segments:{SAMPLE}", "--snapshots", f"{SAMPLE}/snapshots.jsonl", "--cluster", "sample"]
    settings = ["--config", str(SAMPLE.parents[1] / "conf" / "sample.toml"), "--fail-on", "never"]
    done = typed_here(
        ["audit", *source, *settings, "--as-of", instant.isoformat(), "--warehouse", f"seed-{seed}", "--report", "r"],
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    return tmp_path / f"seed-{seed}"


def catches_up(query: Any, each: Row) -> str:
    """By the newest five minutes of each topic. Of a group of which some do not read, the verdicts say how many."""
    if {*each["what"].split(", ")} & NOT_READING:
        (counts,) = query(f"""
          SELECT count_if({BAD}) AS bad, count(*) AS n FROM v_lag_now WHERE group_id = '{each["group_id"]}'
        """)
        is_part = 0 < counts["bad"] < counts["n"]
        return f"not reading {counts['bad']:,} of {counts['n']:,} partitions" if is_part else "not reading"
    (answer,) = query(f"""
      SELECT CASE
          WHEN count(*) = 0 THEN 'not known'
          WHEN bool_or(why = 'not_catching_up') THEN 'never at this rate'
          WHEN bool_or(why = 'not_reading') THEN 'not reading'
          WHEN count(eta) > 0 AND bool_and(why IS NULL OR why = 'nothing_to_read') THEN 'in ' || max(eta)
          WHEN bool_and(why = 'nothing_to_read') THEN 'caught up'
          WHEN bool_and(why IN ('nothing_to_read', 'keeps_up')) THEN 'keeps up'
          ELSE 'not known' END AS text
      FROM (
        SELECT eta_high_ms AS eta, eta_unknown_reason AS why FROM consumption_rates
        WHERE group_id = '{each["group_id"]}' AND bucket_ms = 300000
          AND bucket_time > (SELECT max(as_of_time) FROM v_groups_now) - INTERVAL 15 MINUTE
        QUALIFY row_number() OVER (PARTITION BY topic, topic_id ORDER BY bucket_time DESC) = 1)
    """)
    text: str = answer["text"]
    return f"in {in_words(int(text[3:]) * 1_000)}" if text.startswith("in ") else text


def test_each_column_is_that_of_the_tables(ask: Ask, at_an_instant: Path) -> None:
    audited_sample, query = at_an_instant, queries_of(at_an_instant)
    whole = document(ask, audited_sample)
    found = f"""
      SELECT group_id, min(rank) AS worst, min_by(severity, rank) AS severity, min(since_time) AS since_time
      FROM ({LASTING}) WHERE severity IN ('critical', 'warning') AND group_id IS NOT NULL GROUP BY group_id
    """
    same(whole["not_well"], query(f"""
      SELECT g.group_id, g.group_type, g.state, g.num_members, f.severity, g.own_verdict AS verdict, g.rule,
        CASE WHEN {BAD} THEN least(g.since_time, f.since_time) ELSE f.since_time END AS since_time,
        g.lag AS messages_waiting, g.time_lag_ms
      FROM v_groups_now AS g LEFT JOIN ({found}) AS f ON f.group_id = g.group_id
      WHERE {BAD} OR f.group_id IS NOT NULL ORDER BY f.worst NULLS LAST, g.rank
    """))  # fmt: skip
    # A group that is not well is counted as that alone.
    (counts,) = query(f"""
      SELECT count(*) AS n, count_if(own_verdict = 'UNKNOWN' AND f.group_id IS NULL) AS unknown
      FROM v_groups_now AS g LEFT JOIN ({found}) AS f ON f.group_id = g.group_id
    """)
    assert [whole[f"num_{name}"] for name in ("groups", "not_well", "unknown")] == [
        counts["n"], len(whole["not_well"]), counts["unknown"]
    ]  # fmt: skip
    for each in whole["not_well"]:
        group = each["group_id"]
        owners = query(f"""
          SELECT owner_client_id AS client_id, owner_client_host AS client_host, count(*) AS num_partitions
          FROM v_lag_now
          WHERE group_id = '{group}' AND owner_member_id IS NOT NULL AND ({BAD} OR NOT EXISTS (
            SELECT 1 FROM v_lag_now WHERE group_id = '{group}' AND {BAD}))
          GROUP BY ALL ORDER BY 3 DESC, 1, 2
        """)
        assert each["owners"] == owners
        since = (
            "(SELECT max(as_of_time) FROM v_groups_now)" if each["since_time"] is None else f"'{each['since_time']}'"
        )
        before = query(f"""
          SELECT start_time, trigger, trigger_detail FROM rebalances
          WHERE group_id = '{group}' AND start_time <= CAST({since} AS TIMESTAMPTZ) ORDER BY start_time DESC LIMIT 1
        """)
        last = [each[f"last_change_{name}"] for name in ("time", "trigger", "detail")]
        assert last == ([shown(value) for value in before[0].values()] if before else [None] * 3), group
        assert each["catches_up"] == catches_up(query, each), group
    same(whole["storms"], query("""
      SELECT rank, kind, severity, group_id, message, at_time, since_time, waived_until_time FROM v_findings
      WHERE kind = 'rebalance_storm' ORDER BY rank
    """))  # fmt: skip
    same(whole["resets"], query("""
      SELECT at_time, group_id, topic, kind, actor, num_partitions, messages_reread, messages_skipped
      FROM offset_resets WHERE at_time > (SELECT max(as_of_time) FROM v_groups_now) - INTERVAL 1 DAY
      ORDER BY coalesce(messages_reread, 0) + coalesce(messages_skipped, 0) DESC, group_id, topic, at_time
    """))  # fmt: skip
    same([whole["quality"]], query("""
      SELECT sum(num_expectations)::INT AS num_expectations, sum(num_failed)::INT AS num_failed,
        (SELECT count(*) FROM rejected_records) AS num_rejected FROM gate_runs
    """))  # fmt: skip
    same([whole["coverage"]], query("""
      SELECT count(DISTINCT offsets_partition) AS num_partitions_read, sum(num_records)::INT AS num_records,
        max(to_time) AS newest_record_time FROM history_coverage
    """))  # fmt: skip


def test_the_screen_names_every_group_that_is_not_well_and_the_last_changes(ask: Ask, audited_sample: Path) -> None:
    code, out, err = ask(audited_sample)
    first, _, *lines = out.splitlines()
    assert (code, err, without_age(first)) == (
        0,
        "",
        "5 of 26 groups are not well; of 1 it is unknown, as of 2026-11-21T17:39:31.689Z",
    )
    assert lines[0] == "critical  modern-static: group down since 17:39:03 (28 s); 3,120 messages wait"
    assert lines[3].split("; ") == [
        "          owner: ledger-1 at 127.0.0.1", "catches up: not reading 2 of 4 partitions",
        "last change: 17:36:28 member ledger-1-f9ce (127.0.0.1) joined",
    ]  # fmt: skip
    moved = "offsets of 4 partitions of inventory moved to the beginning of the log, probably by an admin tool"
    again = "messages read again: 2,227, skipped: 0"
    assert f"Resets       17:39:18 reset-to-earliest: {moved}; {again}" in lines
    assert any(line.startswith("Storms       classic-storm: 17 rebalances") for line in lines)
    assert lines[-1] == "Next         groupscope why modern-static; groupscope status modern-static"


def test_the_screen_of_a_drawn_group_has_its_partitions(
    ask: Ask, audited_sample: Path, query: Any, rng: np.random.Generator
) -> None:
    groups = [row["group_id"] for row in query("SELECT group_id FROM v_groups_now WHERE num_partitions > 0 ORDER BY 1")]
    group = groups[rng.integers(len(groups))]
    _, out, _ = ask(audited_sample, group)
    expected = query(f"SELECT * FROM v_lag_now WHERE group_id = '{group}' ORDER BY topic, partition")
    lines = [line.split() for line in out.splitlines()]
    for row in expected:
        lag = "-" if row["lag"] is None else str(row["lag"])
        mine = [line for line in lines if line[:3] == [row["topic"], str(row["partition"]), row["own_verdict"]]]
        assert [line[4] for line in mine] == [lag], row
        owner = row["owner_client_id"]
        assert mine[0][-1 if owner is None else -3] == (owner or "-")
    events = document(ask, audited_sample, group)["last_events"]
    newest = query(f"SELECT max(start_time) AS t FROM rebalances WHERE group_id = '{group}'")[0]["t"]
    assert newest is None or shown(newest) in [event["time"] for event in events]


def test_the_exit_code_says_whether_anything_critical_lasts(ask: Ask, audited_sample: Path) -> None:
    assert ask(audited_sample, "--exit-code")[0] == 20
    assert ask(audited_sample, "ledger", "--exit-code")[0] == 20
    # Of this one there are warnings alone.
    assert ask(audited_sample, "transactional", "--exit-code")[0] == 0


# -- tables made by hand


def verdict(group: str, own: str, partition: int | None = None, lag: int | None = 0, **more: Any) -> Row:
    place = {"group_id": group, "topic": None if partition is None else "orders", "partition": partition}
    about = {"as_of_time": at(AS_OF), "own_verdict": own, "rule": "caught_up", "reason": "r", "lag": lag}
    return {**place, **about, **evidence(1, 9), **more}


def finding(rank: int, group: str | None, severity: str, kind: str, **more: Any) -> Row:
    return {"run_id": "run", "rank": rank, "group_id": group, "severity": severity, "kind": kind, **more}


def audited(groups: list[str], **more: list[Row]) -> dict[str, list[Row]]:
    """Of groups that are well, unless `more` says otherwise."""
    return {
        "group_state_intervals": [{**interval(0, None, 0), "group_id": group, "num_members": 1} for group in groups],
        "group_verdicts": [verdict(group, "OK") for group in groups],
        "gate_runs": [{"run_id": "run", "suite": "s", "verdict": "passed", "num_expectations": 3}],
        "history_coverage": [coverage(0, 9, 0, AS_OF)],
        "topic_snapshots": [{"captured_time": at(AS_OF), "topic": "orders", "partition": 0, "log_end_offset": 9}],
        **more,
    }


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """As the gate leaves it."""

    def one(rows: dict[str, list[Row]]) -> Warehouse:
        warehouse = make(tmp_path / "w")
        write_run(warehouse, "run", rows, about={"job": "gate"})
        return warehouse

    return one


def test_all_groups_are_well(ask: Ask, made: Made) -> None:
    warehouse = made(audited(["a", "b", "c"]))
    code, out, err = ask(warehouse.root, "--exit-code")
    first, *rest = out.splitlines()
    assert (code, err, without_age(first)) == (0, "", "all 3 groups are well, as of 2026-11-21T04:06:40.000Z")
    assert [line.split()[0] for line in rest if line] == ["Quality", "Coverage", "Audit"]
    assert document(ask, warehouse.root)["not_well"] == []


def test_a_bad_verdict_without_a_finding_is_not_lost_and_a_waived_one_does_not_count(ask: Ask, made: Made) -> None:
    verdicts = [
        verdict("found", "WARN", lag=5, since_time=at(3_900), time_lag_ms=61_000),
        verdict("found", "WARN", 0, 5, rule="falls_behind"),
        verdict("lost", "STOP", lag=7, since_time=at(1_000)), verdict("lost", "STOP", 0, 7, rule="silent"),
        verdict("waived", "DOWN"), verdict("unknown", "UNKNOWN"),
    ]  # fmt: skip
    findings = [
        finding(1, "found", "warning", "falling_behind", message="grows"),
        finding(2, "found", "warning", "offsets_reset", at_time=at(3_950)),
        finding(3, "waived", "critical", "group_down", waived_until_time=at(9_000)),
        finding(4, "unknown", "info", "nobody_reads"),
    ]
    owned = {"group_id": "lost", "topic": "orders", "partition": 0, "client_id": "c", "client_host": "/h"}
    more = {
        "ownership_intervals": [{**interval(0, None, 0), **owned, "member_id": "m", "phase": "assigned"}],
        "rebalances": [rebalance("lost", each, second, second + 1, trigger_detail=f"m{each} left")
                       for each, second in ((1, 900), (2, 950), (3, 3_000))],
        "marks": [{"mark_time": at(920), "text": "lost 2.0", "recorded_time": at(0)}],
    }  # fmt: skip
    groups = ["found", "lost", "waived", "unknown"]
    code, out, _ = ask(made(audited(groups, group_verdicts=verdicts, findings=findings, **more)).root, "--exit-code")
    first, *rest = out.splitlines()
    assert (code, [without_age(first), *rest[:6]]) == (
        0,
        [
            "2 of 4 groups are not well; of 1 it is unknown, as of 2026-11-21T04:06:40.000Z",
            "",
            "warning   found: falling behind since 04:05:00 (1 min 40 s); 5 messages wait, the oldest for 1 min 1 s",
            "          owner: none; catches up: not known; last change: no rebalance is known",
            "-         lost: partition stopped since 03:16:40 (50 min); 7 messages wait",
            "          owner: c at h; catches up: not reading; last change: 03:15:50 m2 left, 30 s after the mark "
            '"lost 2.0"',
            "",
        ],
    )
    assert "Waived       1 finding, not counted here" in out


def test_a_critical_finding_without_a_group_counts(ask: Ask, made: Made) -> None:
    findings = [finding(1, None, "critical", "source_not_advancing", message="nothing new")]
    code, out, _ = ask(made(audited(["a"], findings=findings)).root, "--exit-code")
    assert code == 20
    assert out.splitlines()[2] == "Also         critical: nothing new"


def test_without_end_offsets_lag_is_not_known_and_says_what_gets_them(ask: Ask, made: Made) -> None:
    verdicts = [verdict("a", "UNKNOWN", lag=None, rule="no_end_offsets", reason="no end")]
    rows = audited(
        ["a"],
        group_verdicts=verdicts,
        topic_snapshots=[],
        history_coverage=[coverage(0, 9, 0, AS_OF + 60), coverage(20, 30, 0, 9)],
    )
    _, out, _ = ask(made(rows).root)
    label = "lag needs end offsets, and no snapshot has any: groupscope capture --source kafka:HOST:PORT takes one"
    assert out.startswith("0 of 1 group is well; of 1 it is unknown, as of ")
    assert f"Lag          {label}" in out
    assert "records are missing in 1 range" in out
    assert "records after 2026-11-21T04:06:40.000Z are not judged yet; groupscope audit does it" in out


def test_of_very_many_groups_the_worst_twenty_are_shown_soon(ask: Ask, made: Made) -> None:
    groups = [f"g{number:05}" for number in range(10_000)]
    verdicts = [verdict(group, "DOWN", lag=lag, rule="group_down") for lag, group in enumerate(groups)]
    warehouse = made(audited(groups, group_verdicts=verdicts))
    begun = time.process_time()
    _, out, _ = ask(warehouse.root)
    assert time.process_time() - begun < 5
    lines = out.splitlines()
    assert lines[0].startswith("10,000 of 10,000 groups are not well")
    assert [line.split()[1] for line in lines if line.startswith("- ")] == [
        f"g{9_999 - each:05}:" for each in range(20)
    ]
    assert "          and 9,980 more; SQL has all of them: SELECT * FROM v_groups_now" in lines


def test_bad_input_gets_one_line(ask: Ask, made: Made, tmp_path: Path) -> None:
    code, _, err = ask(tmp_path / "none")
    assert (code, "no such folder" in err) == (23, True)
    bare = audited(["billing"], group_verdicts=[], gate_runs=[])
    warehouse = make(tmp_path / "bare", bare)
    line = f"groupscope: {warehouse.root}: no audit of cluster a has ended yet; run `groupscope audit`\n"
    assert ask(warehouse.root) == (23, "", line)
    code, out, err = ask(made(audited(["billing"])).root, "billng")
    assert (code, out, 'no group "billng"; did you mean "billing"?' in err) == (2, "", True)


def test_a_group_that_is_gone_is_not_called_well(ask: Ask, made: Made) -> None:
    gone = {**interval(0, 3_000, 0, "deleted"), "group_id": "gone", "num_members": 0}
    code, out, err = ask(made(audited(["a"], group_state_intervals=[gone])).root, "gone")
    assert (code, out, "it was deleted at 2026-11-21T03:50:00.000Z" in err) == (2, "", True)


@pytest.mark.parametrize(
    ("rates", "text"),
    [
        ([], "not known"),
        ([(60_000, None)], "in 1 min"),
        ([(60_000, None), (90_000, None), (None, "nothing_to_read")], "in 1 min 30 s"),
        ([(60_000, None), (None, "not_catching_up")], "never at this rate"),
        ([(60_000, None), (None, "no_snapshots")], "not known"),
        ([(None, "nothing_to_read")], "caught up"),
    ],
)
def test_whether_a_group_catches_up_is_that_of_its_slowest_topic(rates: list[Any], text: str) -> None:
    assert catching_up([{"eta_high_ms": eta, "eta_unknown_reason": reason} for eta, reason in rates]) == text


def test_times_of_the_newest_audit_are_read_from_few_files(made: Made, tmp_path: Path) -> None:
    runs = [{"group_verdicts": [verdict("a", "OK", as_of_time=at(AS_OF + each) + timedelta(microseconds=each))]}
            for each in range(5)]  # fmt: skip
    warehouse = make(tmp_path / "runs", *runs)
    reader = TableReader(warehouse, warehouse.versions())
    newest = at(AS_OF + 4) + timedelta(microseconds=4)
    for path in {*reader.files("group_verdicts", [])} - {
        *reader.files("group_verdicts", [equal("as_of_time", newest)])
    }:
        path.delete()
    assert reader.newest("group_verdicts", "as_of_time") == newest
    assert len(reader.rows("group_verdicts", ["group_id"], equal("as_of_time", newest))) == 1
