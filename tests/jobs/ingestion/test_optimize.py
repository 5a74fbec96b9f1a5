"""Runs that add little: how many files they leave, and that nothing but files changes when these are rewritten."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import Written, WrittenBatch, commit, random_log, write_copy
from tests.drawn_cases import draw_seed
from tests.runs.ingested import RECORD_TABLES, history, ingest, rows, run_ingest, versions
from tests.runs.refused import check_no_leftovers

# Each takes several audits, so a run draws some of them.
pytestmark = pytest.mark.drawn_together(3)

NUM_RUNS = 11
FILES_OF_AUTO = 5
PARTITIONS = (2, 9)
WRITTEN = ("offset_commits", "rejected_records", "source_files")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    path = tmp_path_factory.mktemp("settings") / "own.toml"
    path.write_text(f"[tables]\nsmall_files = {FILES_OF_AUTO}\n")
    return "--config", str(path)


@pytest.fixture(scope="module")
def logs() -> dict[int, list[WrittenBatch]]:
    """Each batch of which has something of both tables of records."""
    rng = np.random.default_rng(int(draw_seed()))
    return {partition: [with_unknown(each) for each in random_log(rng, NUM_RUNS)] for partition in PARTITIONS}


def with_unknown(batch: WrittenBatch) -> WrittenBatch:
    key, value = commit("group-0", "topic-0", 0, batch.base_offset)
    records = (Written(0, key, value), *batch.records[1:-1], Written(batch.last_delta + 1, b"\x00\x63" + key[2:], None))
    return WrittenBatch(2 * batch.base_offset, batch.leader_epoch, records, batch.last_delta + 1)


def grow(folder: Path, logs: dict[int, list[WrittenBatch]], number: int) -> str:
    """As a broker writes on, partition by partition in turns."""
    partition = PARTITIONS[number % 2]
    path = folder / f"__consumer_offsets-{partition}" / f"{0:020}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(batch.bytes for batch in logs[partition][: number // 2 + 1]))
    return f"segments:{folder}"


def ingest_bit_by_bit(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], mode: str, settings: Sequence[str]
) -> tuple[Path, list[dict[str, int]]]:
    """The warehouse, and how many files each table had after each run."""
    warehouse, num_files = tmp_path / mode, []
    for number in range(NUM_RUNS):
        source = grow(tmp_path / f"log-{mode}", logs, number)
        ingest(warehouse, "--source", source, "--optimize", mode, *settings)
        num_files.append({name: len(files(warehouse, name)) for name in WRITTEN})
    return warehouse, num_files


@pytest.fixture(scope="module")
def kept_few(
    tmp_path_factory: pytest.TempPathFactory, logs: dict[int, list[WrittenBatch]], settings: tuple[str, str]
) -> tuple[Path, list[dict[str, int]]]:
    return ingest_bit_by_bit(tmp_path_factory.mktemp("auto"), logs, "auto", settings)


def files(warehouse: Path, name: str) -> list[str]:
    return list(DeltaTable(warehouse / name, version=versions(warehouse)[name]).file_uris())


def is_healthy(warehouse: Path) -> bool:
    return {finding.status for finding in run_checks(LocalPlace(warehouse))} == {"ok"}


def check_old_versions(warehouse: Path) -> None:
    """What a run named can still be read years later: the rows of this run and of those before it, and no others."""
    runs = sorted(rows(warehouse, "runs"), key=lambda row: str(row["run_id"]))
    of_runs = {name: [row["run_id"] for row in rows(warehouse, name)] for name in WRITTEN}
    for place, run in enumerate(runs):
        until = {each["run_id"] for each in runs[: place + 1]}
        for name in WRITTEN:
            delta = DeltaTable(warehouse / name, version=dict(run["table_versions"])[name])
            held = delta.to_pyarrow_table(columns=["run_id"]).column("run_id").to_pylist()
            assert sorted(held) == sorted(each for each in of_runs[name] if each in until), (name, run["run_id"])


def check_sorted(warehouse: Path) -> None:
    """Files in the order of their table."""
    for name in RECORD_TABLES:
        for path in files(warehouse, name):
            result = pq.read_table(path, columns=["cluster", "offsets_partition", "record_offset"]).to_pylist()
            places = [tuple(row.values()) for row in result if row["record_offset"] is not None]
            assert places == sorted(places), name


def test_auto_keeps_files_few_and_never_lets_them_be(
    tmp_path: Path,
    logs: dict[int, list[WrittenBatch]],
    settings: tuple[str, str],
    kept_few: tuple[Path, list[dict[str, int]]],
) -> None:
    never, of_never = ingest_bit_by_bit(tmp_path, logs, "never", settings)
    assert of_never == [dict.fromkeys(WRITTEN, number) for number in range(1, NUM_RUNS + 1)]
    auto, of_auto = kept_few
    # Those of the run itself are not among them: nobody has seen these yet.
    assert max(number for each in of_auto for number in each.values()) == FILES_OF_AUTO
    assert of_auto[-1]["offset_commits"] < FILES_OF_AUTO < of_never[-1]["offset_commits"]
    assert history(auto) == history(never)
    assert {name: len(rows(auto, name)) for name in WRITTEN} == {name: len(rows(never, name)) for name in WRITTEN}
    for warehouse in (auto, never):
        assert is_healthy(warehouse)
        check_old_versions(warehouse)
        check_sorted(warehouse)
        check_no_leftovers(warehouse)

    # What is known is found in files that were rewritten too.
    again = ingest(auto, "--source", grow(tmp_path / "copied", logs, NUM_RUNS - 1), *settings)
    assert again["already_known"] == again["read"] > 0

    # All at once, with nothing to read.
    before = history(never)
    full = ingest(never, "--optimize", "full")
    assert (full["read"], full["exit_code"]) == (0, ExitCode.CLEAN)
    assert {name: len(files(never, name)) for name in WRITTEN} == dict.fromkeys(WRITTEN, 1)
    assert history(never) == before
    assert is_healthy(never)
    check_old_versions(never)
    check_sorted(never)
    # One file is not rewritten as one file.
    of_full = {name: files(never, name) for name in WRITTEN}
    ingest(never, "--optimize", "full")
    assert {name: files(never, name) for name in WRITTEN} == of_full


def test_followers_of_a_table_do_not_see_rows_again_that_have_only_moved(
    kept_few: tuple[Path, list[dict[str, int]]],
) -> None:
    warehouse, _ = kept_few
    added: list[str] = []
    for path in sorted((warehouse / "offset_commits" / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in path.read_text().splitlines()]
        fresh = [each["add"] for each in actions if "add" in each and each["add"]["dataChange"]]
        removed = [each["remove"] for each in actions if "remove" in each]
        assert all(not each["dataChange"] for each in removed)
        added += [each["path"] for each in fresh]
    seen = sum(pq.read_metadata(warehouse / "offset_commits" / name).num_rows for name in added)
    assert seen == len(rows(warehouse, "offset_commits"))


def test_a_table_of_two_clusters_stays_in_order(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], settings: tuple[str, str]
) -> None:
    for number in range(6):
        source = grow(tmp_path / "log", logs, number)
        for cluster in ("b", "a"):
            ingest(tmp_path / "w", "--source", source, "--cluster", cluster, "--optimize", "never")
    before = history(tmp_path / "w")
    ingest(tmp_path / "w", "--optimize", "full", "--cluster", "a", *settings)
    assert history(tmp_path / "w") == before
    check_sorted(tmp_path / "w")
    assert is_healthy(tmp_path / "w")
    copied = grow(tmp_path / "copied", logs, 4)
    for cluster in ("a", "b"):
        again = ingest(tmp_path / "w", "--source", copied, "--cluster", cluster)
        assert again["already_known"] == again["read"] > 0


def test_a_run_without_news_names_tables_as_others_have_rewritten_them_since(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Else readers would ask for files that those may delete."""
    w = tmp_path / "w"
    for number, part in enumerate((random_log(rng, 8)[:4], random_log(rng, 8, 1000))):
        source = write_copy(tmp_path / str(number), 3, part, rng)
        ingest(w, "--source", f"segments:{source}", "--optimize", "never")
    before = versions(w)
    table = DeltaTable(w / "offset_commits")
    table.optimize.compact()
    ingest(w, "--source", f"segments:{source}")
    assert versions(w) == {**before, "offset_commits": table.version()}
    assert table.version() > before["offset_commits"]
    # The row of `runs` was first written with the versions that the run expected.
    named = {Path(name).name for name in DeltaTable(w / "runs").file_uris()}
    assert {path.name for path in (w / "runs").glob("*.parquet")} == named


def test_optimize_has_three_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_ingest(tmp_path / "w", "--optimize", "more") == ExitCode.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert "--optimize" in line


def test_runs_stay_in_few_files_and_all_of_them_can_be_asked(tmp_path: Path, rng: np.random.Generator) -> None:
    source = f"segments:{write_copy(tmp_path / 'a', 3, random_log(rng, 3), rng)}"
    for _ in range(20):
        ingest(tmp_path / "w", "--source", source)
    result = rows(tmp_path / "w", "runs")
    assert sorted(int(row["run_id"].split("-")[0]) for row in result) == list(range(1, 21))
    assert sum(row["ingest_counts"] != [] for row in result) == 1
    # All before the 17th in one, and those after it.
    assert len(DeltaTable(tmp_path / "w" / "runs").file_uris()) == 5
    assert {finding.status for finding in run_checks(LocalPlace(tmp_path / "w"))} == {"ok"}
