"""Segments and warehouses on file systems that only Hadoop knows: the same tables as on local disks."""

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.failure import Failure
from jobs.warehouses import hadoop_lock
from jobs.warehouses.failpoints import VARIABLE
from jobs.warehouses.hadoop_files import HadoopFiles
from jobs.warehouses.hadoop_lock import HadoopLock
from jobs.warehouses.lock import locked
from schemas.exit_codes import ExitCode
from tests.jobs.ingested import history, ingest, keys, rows, run_ingest, spawned
from tests.written_copies import Written, WrittenBatch, commit, compacted, keys_of, random_log, write_copy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PARTITIONS = (3, 11)
COUNTS = ("read", "decoded", "rejected", "already_known", "num_files_read", "reject_reasons", "rows_added")


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

    assert {name: remote[name] for name in COUNTS} == {name: local[name] for name in COUNTS}
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


@pytest.fixture(scope="module")
def by_spark(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    path = tmp_path_factory.mktemp("conf") / "groupscope.toml"
    path.write_text('[ingest]\nwriter = "spark"\n')
    return "--config", str(path)


@dataclass(frozen=True)
class Story:
    """Copies of one log: one with a damaged batch and a record of an unknown type, a good one, one that goes on under
    another leader, and one of another log."""

    damaged: Path
    good: Path
    other_leader: Path
    other_log: Path


@pytest.fixture
def story(tmp_path: Path, rng: np.random.Generator) -> Story:
    log = [batch for batch in random_log(rng, 40) if batch.base_offset]
    key, value = commit("group", "topic", 0, 17)
    unknown, known = (WrittenBatch(0, 0, (Written(0, each, value),), 0) for each in (b"\x00\x63" + key[2:], key))
    other = WrittenBatch(0, 0, (Written(0, *commit("group", "topic", 0, 18)),), 0)
    later = [replace(batch, leader_epoch=99) for batch in random_log(rng, 10, log[-3].base_offset)]
    damaged = write_copy(tmp_path / "damaged", 3, [unknown, *compacted(log, rng, 0.2)], rng)
    segments = sorted((damaged / "__consumer_offsets-3").iterdir())
    # The first batch after `unknown`, which may fill a segment of its own.
    place = len(unknown.bytes) + 70
    if len(first := bytearray(segments[0].read_bytes())) < place:
        segments, place = segments[1:], 70
        first = bytearray(segments[0].read_bytes())
    first[place] ^= 0xFF
    segments[0].write_bytes(first)
    return Story(
        damaged,
        write_copy(tmp_path / "later" / "good", 3, [known, *log], rng),
        write_copy(tmp_path / "later" / "leader", 3, later, rng),
        write_copy(tmp_path / "log", 3, [other, *log], rng),
    )


def test_both_writers_make_one_history(tmp_path: Path, by_spark: tuple[str, str], story: Story) -> None:
    found: dict[str, list[dict[str, Any]]] = {}
    for name, choice in {"direct": (), "staged": by_spark}.items():
        sources = (story.damaged, story.good.parent)
        found[name] = [ingest(tmp_path / name, "--source", f"segments:{each}", *choice) for each in sources]
    for one, other in zip(found["staged"], found["direct"], strict=True):
        assert {name: one[name] for name in COUNTS} == {name: other[name] for name in COUNTS}
    assert history(tmp_path / "staged") == history(tmp_path / "direct")
    assert found["staged"][0]["reject_reasons"]["bad_crc"] == 1
    assert "bad_crc" not in str(history(tmp_path / "staged"))
    assert found["staged"][1]["already_known"] > 0
    assert found["staged"][1]["num_epoch_conflicts"] == found["direct"][1]["num_epoch_conflicts"] > 0
    assert sorted(tables(tmp_path / "staged")) == sorted(tables(tmp_path / "direct"))
    check_refused(tmp_path / "staged", story, by_spark)


def check_refused(warehouse: Path, story: Story, by_spark: tuple[str, str]) -> None:
    """And nothing of it stays."""
    before = history(warehouse)
    assert run_ingest(warehouse, "--source", f"segments:{story.other_log}", *by_spark) == ExitCode.UNREADABLE_INPUT
    assert history(warehouse) == before
    assert os.listdir(warehouse / "_staging") == []


def tables(warehouse: Path) -> Iterator[tuple[Any, ...]]:
    """All that Delta tells of each table but what is its own."""
    for folder in warehouse.iterdir():
        if not folder.name.startswith("_"):
            table = DeltaTable(folder)
            protocol = table.protocol()
            version = (protocol.min_reader_version, protocol.min_writer_version)
            yield folder.name, table.schema().to_json(), str(sorted(table.metadata().configuration.items())), version


def test_a_remote_warehouse_holds_what_a_local_one_does(
    tmp_path: Path, mounted: str, story: Story, capfd: pytest.CaptureFixture[str]
) -> None:
    for source in (story.damaged, story.good):
        ingest(tmp_path / "local", "--source", f"segments:{source}")
    flags = ["--warehouse", f"{mounted}/remote", "--format", "json"]
    assert cli.main(["ingest", *flags, "--source", f"segments:{mounted}/damaged"]) == ExitCode.REJECTED_SHARE
    assert cli.main(["audit", *flags[:2], "--source", f"segments:{mounted}/later/good"]) == ExitCode.CLEAN
    assert history(tmp_path / "remote") == history(tmp_path / "local")
    left = {name for name in os.listdir(tmp_path / "remote") if name.startswith("_")}
    assert left == {"_runs", "_state", "_warehouse.json"}
    (told,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith("offset_commits ")]
    assert told.split()[1] == f"{len(rows(tmp_path / 'local', 'offset_commits')):,}"

    assert cli.main(["sql", *flags, "SELECT count(*) AS n, max(run_id) AS run FROM offset_commits"]) == ExitCode.CLEAN
    found = json.loads(capfd.readouterr().out)
    assert found["n"] == len(rows(tmp_path / "local", "offset_commits"))
    assert f"{found['run']}.json" in os.listdir(tmp_path / "remote" / "_runs")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["doctor"], "examines files of local disks"),
        (["ingest", "--source", "segments:data", "--config", "{config}"], '"auto" or "spark" was expected'),
    ],
)
def test_what_only_local_disks_allow_is_refused_plainly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], told: str
) -> None:
    (tmp_path / "direct.toml").write_text('[ingest]\nwriter = "direct"\n')
    command = [each.format(config=tmp_path / "direct.toml") for each in command]
    assert cli.main([*command, "--warehouse", "hdfs://nowhere/w"]) == ExitCode.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("groupscope: --warehouse hdfs://nowhere/w: ")
    assert told in line


@pytest.mark.parametrize(
    ("place", "told"),
    [("{mounted}/some", "no _warehouse.json"), ("nosuchscheme://host/a", "nosuchscheme"), ("{mounted}/new", "no _w")],
)
def test_a_remote_place_that_is_no_warehouse_is_told_in_one_line(
    tmp_path: Path, mounted: str, capsys: pytest.CaptureFixture[str], place: str, told: str
) -> None:
    (tmp_path / "some" / "folder").mkdir(parents=True)
    place = place.format(mounted=mounted)
    for words in (["sql", "SELECT 1"], ["replay"]):
        assert cli.main([*words, "--warehouse", place]) == ExitCode.UNUSABLE_WAREHOUSE
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"groupscope: {place}: ")
        assert told in line
    assert {path.name for path in tmp_path.rglob("*")} == {"some", "folder"}


def test_a_run_on_a_remote_warehouse_that_is_killed_is_finished_by_the_next(
    tmp_path: Path,
    mounted: str,
    story: Story,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Spark's settings come as an operator gives them."""
    monkeypatch.setattr(hadoop_lock, "STALE_SECONDS", 1.0)
    ingest(tmp_path / "local", "--source", f"segments:{story.good}")
    (tmp_path / "conf").mkdir()
    link = f"spark.hadoop.fs.viewfs.mounttable.{mounted.split('/')[2]}.link./data {tmp_path.as_uri()}"
    (tmp_path / "conf" / "spark-defaults.conf").write_text(f"{link}\nspark.driver.host 127.0.0.1\n")
    environment = {VARIABLE: "table_committed:offset_commits", "SPARK_CONF_DIR": str(tmp_path / "conf")}
    arguments = ["--source", f"segments:{story.good}"]
    killed = spawned(f"{mounted}/w", *arguments, environment=environment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert {"_lock", "_staging"} <= set(os.listdir(tmp_path / "w"))
    (tmp_path / "w" / "_staging").rename(tmp_path / "elsewhere")
    assert cli.main(["ingest", "--warehouse", f"{mounted}/w", *arguments]) == ExitCode.UNUSABLE_WAREHOUSE
    (*_, line) = capsys.readouterr().err.splitlines()
    assert "rows of offset_commits were expected, which run 00000001-" in line
    (tmp_path / "elsewhere").rename(tmp_path / "w" / "_staging")
    assert cli.main(["ingest", "--warehouse", f"{mounted}/w", *arguments]) == ExitCode.CLEAN
    assert history(tmp_path / "w") == history(tmp_path / "local")
    assert not {"_lock", "_staging"} & set(os.listdir(tmp_path / "w"))
    assert len(rows(tmp_path / "w", "runs")) == 2


def test_the_empty_lock_that_a_local_run_leaves_is_soon_taken_over(
    spark: "SparkSession", mounted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hadoop_lock, "STALE_EMPTY_SECONDS", 1.0)
    (tmp_path / "w").mkdir()
    with locked(tmp_path / "w", 0, "ingest", print):
        pass
    told = list[str]()
    with HadoopLock(HadoopFiles(spark, f"{mounted}/w"), "replay", stale_seconds=1e9).held(20, told.append):
        assert told[-1].endswith("another run has not been heard of, taking its lock over")


def test_a_lock_is_held_while_its_heart_beats_and_taken_over_afterwards(
    tmp_path: Path, mounted: str, spark: "SparkSession"
) -> None:
    (tmp_path / "w").mkdir()
    files, told = HadoopFiles(spark, f"{mounted}/w"), list[str]()
    first, second = (HadoopLock(files, job, beat_seconds=0.1, stale_seconds=2.0) for job in ("first", "second"))
    with first.held(0, told.append):
        with pytest.raises(Failure, match=r"busy with first \(process \d+ on .*\), not free within 4 s"):
            second.wait(4, told.append)
        # Also amid a beat.
        for _ in range(100):
            first.check()
        # A heart that stops for good.
        first.beat_seconds = 1e9
        time.sleep(0.3)
        with second.held(60, told.append):
            second.check()
            with pytest.raises(Failure, match="took the lock over"):
                first.check()
            assert told[-1].endswith("has not been heard of, taking its lock over")
    assert os.listdir(tmp_path / "w") == []
