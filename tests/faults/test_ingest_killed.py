"""Runs that are ended the hard way: whatever the instant, the run after it leaves what an undisturbed one would."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.storage.failpoints import FAILPOINTS, VARIABLE
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.manifest import RUNS_FOLDER, unfinished_manifests
from schemas.tables import TABLES
from tests.builders.logs.copies import WrittenBatch, random_log, write_copy
from tests.runs.ingested import ROOT, history, ingest, rows, spawned, versions

PARTITIONS = (1, 4)
OF_TABLES = {"file_written", "table_committed"}
WRITTEN = ("offset_commits", "rejected_records", "source_files")


@pytest.fixture
def parts(tmp_path, rng):
    """Two parts of a log, the second of which the killed run reads."""
    found = []
    logs = {partition: random_log(rng, 30) for partition in PARTITIONS}
    # So that a rejected row goes while the run is killed.
    for number, (start, stop) in enumerate(((0, 20), (15, 30))):
        for partition, log in logs.items():
            write_copy(tmp_path / f"part-{number}", partition, damaged(log[start:stop], number), rng)
        found.append(tmp_path / f"part-{number}")
    return found


def damaged(log, number):
    return log if number else [*log[:-1], Damaged(**vars(log[-1]))]


class Damaged(WrittenBatch):
    @property
    def bytes(self):
        raw = bytearray(super().bytes)
        raw[-1] ^= 0xFF
        return bytes(raw)


@pytest.fixture
def undisturbed(tmp_path, parts):
    for part in parts:
        ingest(tmp_path / "undisturbed", "--source", f"segments:{part}")
    return history(tmp_path / "undisturbed")


def points():
    """Every instant that `make test` tries: all of them for tables that are written to, one for a table that is not."""
    for name in FAILPOINTS:
        if name not in OF_TABLES:
            yield name
        elif name == "file_written":
            yield f"{name}:offset_commits"
        else:
            yield from (f"{name}:{table}" for table in (*WRITTEN, "topic_snapshots"))


def all_points():
    """Of the first run and of a later one, which opens no table that it leaves as it is."""
    tables = [name for name, table in TABLES.items() if table.job == "ingest"]
    return [(f"table_committed:{table}", first) for first in (0, 1) for table in tables]


def check_killed_at(point, tmp_path, parts, undisturbed, first):
    warehouse = tmp_path / "killed"
    for part in parts[:first]:
        ingest(warehouse, "--source", f"segments:{part}")
    killed = spawned(warehouse, "--source", f"segments:{parts[first]}", environment={VARIABLE: point})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    for part in parts[first:]:
        ingest(warehouse, "--source", f"segments:{part}")
    check_like_undisturbed(warehouse, undisturbed)


def check_like_undisturbed(warehouse, undisturbed):
    assert history(warehouse) == undisturbed
    assert unfinished_manifests(LocalPlace(warehouse)) == []
    found = rows(warehouse, "runs")
    assert len({row["run_id"] for row in found}) == len(found)
    assert set(versions(warehouse)) == {name for name, table in TABLES.items() if table.job == "ingest"}
    counted = sum(count["decoded"] for row in found for count in row["ingest_counts"])
    assert counted == sum(len(rows) for name, rows in undisturbed.items() if name != "rejected_records")
    named = {row["source_file"] for row in rows(warehouse, "source_files")}
    assert {Path(name).exists() for name in named} == {True}
    assert list((warehouse / RUNS_FOLDER).glob("*.begun")) == []


@pytest.mark.drawn(3)
@pytest.mark.parametrize("point", list(points()))
def test_a_run_killed_at_a_named_step(tmp_path, parts, undisturbed, point):
    # Tables are made by the first run alone.
    first = 0 if point in ("manifest_written", f"table_committed:{WRITTEN[0]}") else 1
    check_killed_at(point, tmp_path, parts, undisturbed, first)


@pytest.mark.soak
@pytest.mark.parametrize(("point", "first"), all_points())
def test_a_run_killed_at_any_step_of_any_table(tmp_path, parts, undisturbed, point, first):
    check_killed_at(point, tmp_path, parts, undisturbed, first)


def check_killed_at_random(tmp_path, parts, undisturbed, seed, kills):
    """The same run again and again, ended at another instant each time, until it is let be."""
    chance = random.Random(seed)
    warehouse = tmp_path / "killed"
    ingest(warehouse, "--source", f"segments:{parts[0]}")
    command = [sys.executable, "-m", "jobs.cli", "ingest", "--warehouse", str(warehouse)]
    command += ["--source", f"segments:{parts[1]}"]
    begun = time.monotonic()
    ingest(tmp_path / "timed", "--source", f"segments:{parts[1]}")
    # Python itself starts first; a killed run that was done leaves nothing to do for the others.
    longest = time.monotonic() - begun + 1.0
    for _ in range(kills):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(chance.uniform(0.2, longest))
            process.kill()
    ingest(warehouse, "--source", f"segments:{parts[1]}")
    check_like_undisturbed(warehouse, undisturbed)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("share", range(3))
def test_a_run_killed_at_random(tmp_path, parts, undisturbed, seed, share):
    check_killed_at_random(tmp_path, parts, undisturbed, seed + share, kills=6)


@pytest.mark.soak
@pytest.mark.parametrize("share", range(20))
def test_a_run_killed_at_random_many_times(tmp_path, parts, undisturbed, seed, share):
    check_killed_at_random(tmp_path, parts, undisturbed, seed + share, kills=10)


def test_what_a_task_wrote_twice_goes_though_its_run_was_killed(tmp_path, parts):
    warehouse = tmp_path / "w"
    killed = spawned(warehouse, "--source", f"segments:{parts[0]}", environment={VARIABLE: "manifest_written"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (written,) = (warehouse / "offset_commits").glob("part-*.parquet")
    again = written.with_name(written.name[: len("part-00000001-20261121T030000Z-")] + "again.parquet")
    again.write_bytes(written.read_bytes())
    ingest(warehouse, "--source", f"segments:{parts[0]}")
    assert written.exists()
    assert not again.exists()
