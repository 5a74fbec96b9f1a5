"""What an older release could not decode a newer one takes up: from the rejected records, or from a copy of the log."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.archives import archived, lines
from tests.runs.ingested import RECORD_TABLES, ROOT, history, ingest, keys, rows
from tests.runs.refused import check_no_leftovers

# Each takes several audits, so a run draws some of them.
pytestmark = pytest.mark.drawn_together(4)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE = ROOT / "data" / "sample"
# The release before types 16 to 23, and before the fourth version of a committed offset.
OLDER = """
from dataclasses import replace

REGISTRY = {number: record for number, record in REGISTRY.items() if number < 16}
COMMIT = REGISTRY[1]
SHAPES = tuple(replace(shape, last=min(shape.last, 3)) for shape in COMMIT.value.shapes if shape.first <= 3)
REGISTRY[1] = replace(COMMIT, value=replace(COMMIT.value, shapes=SHAPES))
"""


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it was before."""
    root = tmp_path_factory.mktemp("older")
    for package in ("jobs", "schemas", "udfs"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    with (root / "schemas" / "records.py").open("a") as file:
        file.write(OLDER)
    return root


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("direct") / "w"
    ingest(warehouse, "--source", f"segments:{SAMPLE}")
    return warehouse


def ingest_by(older: Path, warehouse: Path, source: str, cluster: str = "default", *, is_known: bool = False) -> None:
    command = [sys.executable, "-m", "jobs.cli", "ingest", "--warehouse", str(warehouse), "--source", source]
    command += ["--cluster", cluster]
    environment = {**os.environ, "PYTHONPATH": str(older)}
    done = subprocess.run(command, cwd=older, env=environment, capture_output=True, text=True, check=False, timeout=120)
    # What is only unknown is no reason to fail.
    assert done.returncode == ExitCode.CLEAN, done.stderr
    is_told = "of types or versions that this release does not know: kept, not decoded" in done.stderr
    assert is_told is not is_known


@pytest.fixture(scope="module")
def read_by_older(tmp_path_factory: pytest.TempPathFactory, older: Path) -> Path:
    """The sample, in two runs."""
    warehouse = tmp_path_factory.mktemp("read_by_older") / "w"
    for part in ("[0-3]", "[4-7]"):
        ingest_by(older, warehouse, f"segments:{SAMPLE}/__consumer_offsets-{part}")
    return warehouse


@pytest.fixture
def warehouse(tmp_path: Path, read_by_older: Path) -> Path:
    return Path(shutil.copytree(read_by_older, tmp_path / "w"))


def check_like_direct(warehouse: Path, direct: Path) -> None:
    assert history(warehouse) == direct_history(direct)
    assert keys(warehouse) == direct_keys(direct)
    assert batches(warehouse) == direct_batches(direct)
    assert rows(warehouse, "rejected_records") == []
    counts = [count for row in rows(warehouse, "runs") for count in row["ingest_counts"]]
    assert all(count["read"] == count["decoded"] + count["rejected"] + count["already_known"] for count in counts)
    assert sum(count["decoded"] for count in counts) == len(direct_keys(direct))
    assert {finding.status for finding in run_checks(LocalPlace(warehouse))} == {"ok"}
    check_no_leftovers(warehouse)


def batches(warehouse: Path) -> dict[str, dict[tuple[object, object], object]]:
    return {
        name: {place(row): (row["batch_first_offset"], row["batch_bytes"]) for row in rows(warehouse, name)}
        for name in RECORD_TABLES
    }


# Of the warehouse that no test changes: read once.
direct_history, direct_keys, direct_batches = cache(history), cache(keys), cache(batches)


def place(row: dict[str, object]) -> tuple[object, object]:
    return row["offsets_partition"], row["record_offset"]


def test_rejected_records_are_taken_up(warehouse: Path, direct: Path) -> None:
    rejected = rows(warehouse, "rejected_records")
    reasons = {row["reason"] for row in rejected}
    assert reasons == {"unknown_record_type", "unknown_value_version"}
    # Nothing is lost meanwhile.
    assert keys(warehouse) == direct_keys(direct)
    run = ingest(warehouse, "--retry-rejected")
    assert (run["read"], run["decoded"], run["rejected"]) == (len(rejected), len(rejected), 0)
    check_like_direct(warehouse, direct)
    check_sorted(warehouse)
    again = ingest(warehouse, "--retry-rejected")
    assert (again["read"], again["num_files_read"]) == (0, 0)


def check_sorted(warehouse: Path) -> None:
    """Each file in the order of the log, which a later run relies on when it looks for what is known."""
    for name in RECORD_TABLES:
        delta = Warehouse(LocalPlace(warehouse)).open(name)
        assert delta is not None
        for fragment in delta.to_pyarrow_dataset().get_fragments():
            result = fragment.to_table(columns=["offsets_partition", "record_offset"])
            places = list(zip(*(column.to_pylist() for column in result.columns), strict=True))
            assert places == sorted(places), name


def test_a_later_run_knows_what_was_taken_up(tmp_path: Path, warehouse: Path, direct: Path) -> None:
    ingest(warehouse, "--retry-rejected")
    shutil.copytree(SAMPLE, tmp_path / "copied", copy_function=shutil.copyfile)
    run = ingest(warehouse, "--source", f"segments:{tmp_path / 'copied'}")
    assert run["already_known"] == run["read"] == len(direct_keys(direct))
    check_like_direct(warehouse, direct)


def test_a_copy_takes_them_up_as_well(tmp_path: Path, warehouse: Path, direct: Path) -> None:
    num_rejected = len(rows(warehouse, "rejected_records"))
    shutil.copytree(SAMPLE, tmp_path / "copied", copy_function=shutil.copyfile)
    run = ingest(warehouse, "--source", f"segments:{tmp_path / 'copied'}")
    assert (run["decoded"], run["already_known"]) == (num_rejected, len(direct_keys(direct)) - num_rejected)
    check_like_direct(warehouse, direct)


def test_both_at_once(tmp_path: Path, warehouse: Path, direct: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "copied", copy_function=shutil.copyfile)
    run = ingest(warehouse, "--retry-rejected", "--source", f"segments:{tmp_path / 'copied'}")
    assert run["already_known"] == run["read"] == len(direct_keys(direct))
    check_like_direct(warehouse, direct)


def test_files_that_have_not_changed_are_not_read_for_it(warehouse: Path, direct: Path) -> None:
    run = ingest(warehouse, "--retry-rejected", "--source", f"segments:{SAMPLE}")
    assert (run["read"], run["num_files_read"]) == (0, 0)
    check_like_direct(warehouse, direct)


def test_rejected_records_of_another_cluster_wait_for_a_run_of_that_cluster(tmp_path: Path, older: Path) -> None:
    """Also where one file has the records of both, as `maintain` leaves them."""
    warehouse = tmp_path / "w"
    for cluster in ("ours", "theirs"):
        ingest_by(older, warehouse, f"segments:{SAMPLE}/__consumer_offsets-0", cluster)
    Warehouse(LocalPlace(warehouse)).open("rejected_records").optimize.compact()
    theirs = [row for row in rows_now(warehouse) if row["cluster"] == "theirs"]
    run = ingest(warehouse, "--retry-rejected", "--cluster", "ours")
    assert run["decoded"] == len(theirs) > 0
    assert rows_now(warehouse) == theirs


def rows_now(warehouse: Path) -> list[dict[str, object]]:
    found = DeltaTable(warehouse / "rejected_records").to_pyarrow_table().to_pylist()
    return sorted(found, key=lambda row: (row["cluster"], row["offsets_partition"], row["record_offset"]))


@pytest.mark.drawn(1)
@pytest.mark.parametrize("order", [sorted, lambda paths: sorted(paths, reverse=True)])
def test_rejected_records_of_several_files_are_taken_up_in_the_order_of_the_log(
    tmp_path: Path, older: Path, direct: Path, order: Callable[[list[Path]], list[Path]]
) -> None:
    """Whichever order the runs came in that rejected them."""
    folder = SAMPLE / "__consumer_offsets-0"
    paths = order(list(folder.glob("*.log")))
    assert len(paths) > 1
    for number, path in enumerate(paths):
        part = tmp_path / str(number) / folder.name
        part.mkdir(parents=True)
        shutil.copy(path, part)
        ingest_by(older, tmp_path / "w", f"segments:{part}")
    ingest(tmp_path / "w", "--retry-rejected")
    check_sorted(tmp_path / "w")
    run = ingest(tmp_path / "w", "--source", f"segments:{folder}")
    assert run["already_known"] == run["read"] > 0


# Beside an archive without leader epochs


@pytest.fixture
def archive(tmp_path: Path, spark: "SparkSession") -> str:
    """Of the sample, as Spark's Kafka source gives it. The runs take the session."""
    assert spark
    (tmp_path / "archive.jsonl").write_text(lines(archived(SAMPLE), ("leader_epoch",)))
    return f"records:{tmp_path / 'archive.jsonl'}"


@pytest.mark.spark
def test_what_a_copy_had_rejected_replaces_the_records_of_an_archive(
    warehouse: Path, archive: str, direct: Path
) -> None:
    """The archive's records were decoded, but lack leader epochs."""
    rejected = len(rows(warehouse, "rejected_records"))
    ingest(warehouse, "--source", archive)
    assert sum(map(len, history(warehouse).values())) == len(direct_keys(direct)) + rejected
    run = ingest(warehouse, "--retry-rejected")
    assert (run["read"], run["decoded"], run["already_known"]) == (rejected, 0, rejected)
    check_like_direct(warehouse, direct)


@pytest.mark.spark
def test_other_records_of_an_archive_stay_when_rejected_ones_between_them_are_decoded(
    tmp_path: Path, older: Path, archive: str
) -> None:
    """Of this copy, the warehouse has only what the older release could not decode."""
    records = archived(SAMPLE)
    unknown = [row for row in records if row["key"] and not row["is_control"] and row["key"][:2] >= b"\x00\x10"]
    (tmp_path / "copy.jsonl").write_text(lines(unknown))
    ingest_by(older, tmp_path / "w", f"records:{tmp_path / 'copy.jsonl'}")
    assert len(rows(tmp_path / "w", "rejected_records")) == len(unknown) > 0
    ingest(tmp_path / "w", "--source", archive)
    ingest(tmp_path / "w", "--retry-rejected")
    has_epoch = {(row["partition"], row["offset"]) for row in unknown}
    places = [(row["partition"], row["offset"]) for row in records]
    found = [
        ((row["offsets_partition"], row["record_offset"]), row["partition_leader_epoch"] is not None)
        for name in history(tmp_path / "w")
        for row in rows(tmp_path / "w", name)
    ]
    assert sorted(found) == sorted((place, place in has_epoch) for place in places)


@pytest.mark.spark
@pytest.mark.parametrize("is_retried", [False, True])
def test_a_copy_takes_up_what_an_archive_had_rejected(
    tmp_path: Path, older: Path, archive: str, direct: Path, is_retried: bool
) -> None:
    warehouse = tmp_path / "w"
    ingest_by(older, warehouse, archive)
    if is_retried:
        ingest(warehouse, "--retry-rejected")
    run = ingest(warehouse, "--source", f"segments:{SAMPLE}")
    assert run["rejected"] == 0
    check_like_direct(warehouse, direct)


@pytest.mark.spark
def test_a_record_that_was_rejected_with_an_epoch_and_without_is_taken_up_once(
    tmp_path: Path, older: Path, archive: str, direct: Path
) -> None:
    warehouse = tmp_path / "w"
    ingest_by(older, warehouse, archive)
    ingest_by(older, warehouse, f"segments:{SAMPLE}", is_known=True)
    assert keys(warehouse) == direct_keys(direct)
    ingest(warehouse, "--retry-rejected")
    check_like_direct(warehouse, direct)
