"""Segments and warehouses on file systems that only Hadoop knows: the same tables as on local disks."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from schemas.exit_codes import ExitCode
from tests.jobs.ingested import history, ingest, keys, rows, run_ingest
from tests.written_copies import WrittenBatch, compacted, keys_of, random_log, write_copy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PARTITIONS = (3, 11)


@pytest.fixture
def mounted(spark: "SparkSession", tmp_path: Path) -> str:
    """A URI under which the test's folder is seen, by a mount table of its own."""
    cluster = tmp_path.name.replace("_", "-")
    spark.conf.set(f"fs.viewfs.mounttable.{cluster}.link./data", tmp_path.as_uri())
    return f"viewfs://{cluster}/data"


@pytest.fixture
def logs(rng: np.random.Generator) -> dict[int, list[WrittenBatch]]:
    return {partition: random_log(rng, 30) for partition in PARTITIONS}


def write(folder: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator) -> Path:
    for partition, log in logs.items():
        write_copy(folder, partition, log, rng)
    return folder


def test_remote_segments_give_the_tables_of_local_ones(
    tmp_path: Path, mounted: str, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    copies = [{partition: compacted(log, rng, 0.4) for partition, log in logs.items()} for _ in range(2)]
    for number, copy in enumerate(copies):
        write(tmp_path / "copies" / str(number), copy, rng)
    # One partition has but one copy, whose files go their own ways.
    shutil.rmtree(tmp_path / "copies" / "1" / "__consumer_offsets-11")

    local = ingest(tmp_path / "local", "--source", f"segments:{tmp_path / 'copies'}")
    remote = ingest(tmp_path / "remote", "--source", f"segments:{mounted}/copies")
    assert history(tmp_path / "remote") == history(tmp_path / "local")
    counts = ("read", "decoded", "rejected", "already_known", "num_files_read", "reject_reasons")
    assert {name: remote[name] for name in counts} == {name: local[name] for name in counts}
    about = ("offsets_partition", "size_bytes", "modified_time", "num_records", "first_offset", "last_batch_crc")
    facts = [
        sorted(tuple(row[name] for name in about) for row in rows(tmp_path / name, "source_files"))
        for name in ("local", "remote")
    ]
    assert facts[0] == facts[1]
    assert all(row["source_file"].startswith(mounted) for row in rows(tmp_path / "remote", "source_files"))
    assert ingest(tmp_path / "remote", "--source", f"segments:{mounted}/copies")["num_files_read"] == 0


def test_a_remote_file_that_has_grown_is_read_again_and_adds_only_what_is_new(
    tmp_path: Path, mounted: str, rng: np.random.Generator
) -> None:
    log = random_log(rng, 12)
    path = tmp_path / "a" / "__consumer_offsets-3" / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(batch.bytes for batch in log[:5]))
    # By a pattern, too.
    source = f"segments:{mounted}/*/__consumer_offsets-3"
    ingest(tmp_path / "w", "--source", source)
    path.write_bytes(b"".join(batch.bytes for batch in log))
    found = ingest(tmp_path / "w", "--source", source)
    assert (found["read"], found["already_known"]) == (len(keys_of(log)), len(keys_of(log[:5])))
    assert keys(tmp_path / "w") == sorted((3, *key) for key in keys_of(log))


def test_a_uri_of_a_local_file_is_a_local_file(tmp_path: Path, rng: np.random.Generator) -> None:
    log = random_log(rng, 3)
    folder = write_copy(tmp_path / "a b", 3, log, rng)
    ingest(tmp_path / "w", "--source", f"segments:{folder.as_uri()}")
    (first, *_) = rows(tmp_path / "w", "source_files")
    assert first["source_file"].startswith(str(folder))


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("{mounted}/nowhere", "no segment files"),
        ("{mounted}/w", "no segment files"),
        ("nosuchscheme://host/a", "nosuchscheme"),
        ("viewfs://no-such-mount/a", "no-such-mount"),
    ],
)
def test_a_remote_place_without_segments_is_told_in_one_line(
    tmp_path: Path, mounted: str, capsys: pytest.CaptureFixture[str], place: str, told: str
) -> None:
    (tmp_path / "w").mkdir()
    place = place.format(mounted=mounted)
    assert run_ingest(tmp_path / "w", "--source", f"segments:{place}") == ExitCode.UNREADABLE_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert f"segments:{place}: " in line
    assert told in line


def test_a_remote_file_too_large_for_one_array_is_refused_before_anything_is_read(
    tmp_path: Path, mounted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a" / "__consumer_offsets-3" / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(2**31)
    assert run_ingest(tmp_path / "w", "--source", f"segments:{mounted}/a") == ExitCode.UNREADABLE_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "2,147,483,648 bytes, at most 2,147,483,647" in line
