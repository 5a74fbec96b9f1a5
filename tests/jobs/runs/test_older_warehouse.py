"""A warehouse of an older release: tables and columns that came since are not in it. Each command works, or says in one
line which table it is and what repairs it; what `doctor` says then repairs it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from jobs.cli import main
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_commits import create
from jobs.warehouses.delta_tables import IS_PROVISIONAL, Change, partitioning, sequence_of
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES, Table, folder_of
from tests.audited_sample import SAMPLE, audited_sample
from tests.make.tables import NOW_MS
from tests.runs.ingested import ROOT
from tests.runs.progress_lines import beside_progress
from udfs.arrays.arrow_schema import table_schema

__all__ = ["audited_sample"]
NEW_TABLES = ("lag_days", "lag_minutes")
# Of tables that readers, SQL and the report show.
NEW_COLUMNS = {
    "rebalances": ("trigger_detail", "longest_unread_high_ms"),
    "partition_moves": ("unread_basis",),
    "membership_intervals": ("away_since_time",),
    "group_verdicts": ("freshness_objective_ms",),
    "findings": ("is_new",),
    "gate_runs": ("narrowed_by",),
}
STATE_COLUMN = {"replayed_partitions": ("whole_run_id",)}


def aged(audited: Path, place: Path, columns: Mapping[str, Sequence[str]], tables: Sequence[str] = ()) -> Path:
    """The warehouse without them, and `runs` as if they had never been."""
    shutil.copytree(audited, place)
    delta = DeltaTable(str(place / "runs"))
    runs = delta.to_pyarrow_table()
    newest = dict(max(runs.to_pylist(), key=lambda row: row["run_id"])["table_versions"])
    for name, left_out in columns.items():
        rows = DeltaTable(str(place / folder_of(name)), version=newest[folder_of(name)]).to_pyarrow_table()
        kept = tuple(column for column in TABLES[name].columns if column.name not in left_out)
        made_anew(place / folder_of(name), replace(TABLES[name], columns=kept), rows, 1)
    for name in tables:
        shutil.rmtree(place / folder_of(name))
    made, gone = ({folder_of(name) for name in names} for names in (columns, tables))
    versions = [
        [(folder, 0 if folder in made else number) for folder, number in of_run if folder not in gone]
        for of_run in runs.column("table_versions").to_pylist()
    ]
    at, field = runs.column_names.index("table_versions"), runs.schema.field("table_versions")
    runs = runs.set_column(at, field, pa.array(versions, field.type))
    made_anew(place / "runs", TABLES["runs"], runs, sequence_of(LocalPlace(place / "runs"), delta))
    return place


def made_anew(folder: Path, table: Table, rows: pa.Table, sequence: int) -> None:
    shutil.rmtree(folder)
    files = []
    for is_provisional in (True, False) if partitioning(table) else (None,):
        file = TableFile(LocalPlace(folder), table, f"older-{is_provisional}")
        some = rows if is_provisional is None else rows.filter(pc.equal(rows.column(IS_PROVISIONAL), is_provisional))
        file.write(some.select([column.name for column in table.columns]).cast(table_schema(table)))
        if (done := file.close()) is not None:
            files.append(replace(done, is_provisional=is_provisional))
    create(LocalPlace(folder), table, Change(tuple(files)), sequence, NOW_MS)


@pytest.fixture(scope="module")
def old(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return aged(audited_sample, tmp_path_factory.mktemp("old") / "w", NEW_COLUMNS, NEW_TABLES)


READERS: list[tuple[str, ...]] = [
    ("groups",),
    ("describe", "classic-killed", "--members", "--verbose"),
    ("rebalances", "classic-killed", "--wide"),
    ("why", "classic-killed", "--at", "2026-11-21T17:36:38"),
    ("why", "classic-killed", "--at", "2026-11-21T17:36:38", "--format", "json"),
    ("owner", "clicks", "2"),
    ("diff", "classic-killed", "--from", "2026-11-21T17:36:40", "--to", "2026-11-21T17:36:50"),
    ("offsets", "classic-killed"),
    ("whatif", "classic-killed"),
    ("sql", "SELECT trigger_detail, longest_unread_high_ms FROM rebalances WHERE longest_unread_high_ms IS NULL"),
    ("sql", "SELECT * FROM v_rebalances"),
    ("sql", "SELECT is_new, narrowed_by FROM v_findings"),
]


@pytest.mark.drawn(5)
@pytest.mark.parametrize("words", READERS, ids=lambda words: " ".join(words)[:40])
def test_readers_take_what_an_older_release_did_not_write_for_unknown(
    old: Path, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    code = main([*words, "--warehouse", str(old)])
    output = capfd.readouterr()
    assert (code, "internal error" in output.err) == (0, False), output.err
    assert output.out


def test_a_report_is_written_of_an_older_warehouse(old: Path, tmp_path: Path) -> None:
    assert main(["report", "--warehouse", str(old), "--report", str(tmp_path / "report")]) == 0


def test_the_gate_adds_its_columns_and_knows_what_an_older_release_reported(
    audited_sample: Path, tmp_path: Path
) -> None:
    place = aged(audited_sample, tmp_path / "w", {name: NEW_COLUMNS[name] for name in ("findings", "gate_runs")})
    before = DeltaTable(str(place / "findings")).to_pyarrow_table().to_pylist()
    config = ["--config", str(ROOT / "conf" / "sample.toml"), "--as-of", "2026-11-21T17:40"]
    assert main(["gate", "--warehouse", str(place), *config, "--fail-on", "warning-new"]) == 0
    rows = DeltaTable(str(place / "findings")).to_pyarrow_table().to_pylist()
    newest = max(row["run_id"] for row in rows)
    assert {row["is_new"] for row in rows if row["run_id"] != newest} == {None}
    known = {(row["kind"], row["subject"]) for row in before}
    assert known >= {(row["kind"], row["subject"]) for row in rows if row["run_id"] == newest and not row["is_new"]}
    assert main(["doctor", "--warehouse", str(place)]) == 0


def test_sql_says_of_a_table_that_is_not_there_yet_who_writes_it(old: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "SELECT count(*) FROM v_lag_daily", "--warehouse", str(old)]) == 0
    assert capfd.readouterr().err == "groupscope: lag_days does not exist yet; run `groupscope lag` to write it\n"
    assert main(["sql", "SELECT count(*) FROM topics, gate_spans", "--warehouse", str(old)]) == 0
    assert capfd.readouterr().err == ""


def missing_line(place: Path, what: str) -> str:
    repair = "`groupscope doctor` says how to repair it"
    return f"groupscope: {place}: was written by an older release and lacks {what}; {repair}"


def test_a_job_that_would_write_a_column_more_says_so_and_leaves_the_warehouse_as_it_was(
    old: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = shutil.copytree(old, tmp_path / "w")
    runs = DeltaTable(str(place / "runs")).version()
    assert main(["lag", "--full", "--warehouse", str(place)]) == 23
    line = missing_line(place / "group_verdicts", "the column freshness_objective_ms")
    assert beside_progress(capfd.readouterr().err) == [line]
    assert DeltaTable(str(place / "runs")).version() == runs
    assert not list((place / "_runs").glob("*.manifest*"))


def test_a_job_that_needs_the_column_says_so_and_what_doctor_says_repairs_it(
    audited_sample: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = aged(audited_sample, tmp_path / "w", STATE_COLUMN)
    source = ["--source", f"segments:{SAMPLE}", "--snapshots", f"{SAMPLE}/snapshots.jsonl"]
    assert main(["lag", "--warehouse", str(place)]) == 23
    (line,) = beside_progress(capfd.readouterr().err)
    assert "replayed_partitions" in line and "lacks the column whole_run_id; `groupscope doctor`" in line
    assert main(["doctor", "--warehouse", str(place), "--format", "csv"]) == 23
    folder = place / "_state" / "replayed_partitions"
    mend = f"delete the folder {folder}, then: groupscope replay --full --warehouse {place}"
    assert mend in capfd.readouterr().out
    shutil.rmtree(folder)
    assert main(["replay", "--full", "--warehouse", str(place)]) == 0
    assert main(["audit", *source, "--warehouse", str(place), "--report", str(tmp_path), "--fail-on", "never"]) == 0
    assert main(["doctor", "--warehouse", str(place)]) == 0
