"""Commands that read a warehouse say of one on another storage what they say of the same one on a local disk."""

import os
import shutil

import pytest

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.doctor import run_checks
from jobs.storage import storage_lock
from jobs.storage.kernel_lock import LOCK_FILE
from jobs.storage.places.addresses import place_at, storage_at
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.storage_lock import StorageLock, name_of
from jobs.storage.stored_files import write_once
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import copied_to, elsewhere
from tests.jobs.checks.test_doctor import (
    COMMITS,
    drop_table,
    leave_a_file,
    leave_a_manifest,
    lose_a_file,
    miscount,
    spoil_log,
    swap_bytes,
    write_behind_runs,
    write_null,
)
from tests.make.tables import make
from tests.runs.ingested import ROOT, ingest, rows, run_ingest

# Each takes several audits, so a run draws some of them.
pytestmark = pytest.mark.drawn_together(3)

__all__ = ["elsewhere"]

SAMPLE = ROOT / "data" / "sample"
GROUP, AT = "classic-killed", "2026-11-21T17:36:40"
READERS = (
    ["groups"],
    ["groups", "--at", AT, "--format", "json"],
    ["describe", GROUP],
    ["describe", GROUP, "--members", "--verbose", "--at", AT],
    ["describe", GROUP, "--offsets"],
    ["describe", GROUP, "--state"],
    ["rebalances", GROUP],
    ["why", GROUP, "--at", AT],
    ["owner", "clicks", "2", "--at", AT],
    ["offsets", GROUP, "--at", AT],
    ["diff", GROUP, "--from", AT, "--to", "2026-11-21T18:00:00"],
    ["whatif", GROUP],
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    root = tmp_path_factory.mktemp("sample") / "w"
    # The group that is asked about is in the first of these.
    ingest(root, "--source", f"segments:{SAMPLE}/__consumer_offsets-[03]", "--snapshots", SAMPLE / "snapshots.jsonl")
    for job in ("replay", "assignments"):
        assert cli.main([job, "--warehouse", str(root)]) == 0
    return root


@pytest.fixture(scope="module")
def stored_sample(sample, elsewhere):
    return copied_to(sample, f"{elsewhere}/sample")


@pytest.mark.drawn(6)
@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_readers_print_what_they_print_of_the_local_one(words, sample, stored_sample, capfd):
    printed = []
    for place in (str(sample), stored_sample):
        code = cli.main([*words, "--warehouse", place])
        printed.append((code, *capfd.readouterr()))
    assert printed[0] == printed[1]
    assert printed[1][0] == 0
    assert printed[1][1].count("\n") > 1


def test_the_doctor_finds_the_sample_well(stored_sample, capfd):
    assert cli.main(["doctor", "--warehouse", stored_sample, "--format", "csv"]) == 0
    out, err = capfd.readouterr()
    assert {line.split(",")[0] for line in out.splitlines()[1:]} == {"ok"}
    assert err == ""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rejected = [{"record_offset": 9, "offsets_partition": 1}, {"byte_position": 0, "source_file": "x.log"}]
    runs = {"offset_commits": COMMITS}, {"rejected_records": rejected}
    return make(tmp_path_factory.mktemp("made") / "w", *runs).root.path


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "spoil",
    [
        lose_a_file,
        swap_bytes,
        write_null,
        drop_table,
        spoil_log,
        write_behind_runs,
        leave_a_file,
        leave_a_manifest,
        miscount(read=5, decoded=5),
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_the_doctor_finds_what_it_finds_in_a_local_one(made, elsewhere, tmp_path, spoil):
    shutil.copytree(made, tmp_path / "w")
    spoil(Warehouse(LocalPlace(tmp_path / "w")))
    place = place_at(copied_to(tmp_path / "w", f"{elsewhere}/{tmp_path.name}"), options_of(Settings()))
    here, there = ([result[:3] for result in run_checks(root)] for root in (LocalPlace(tmp_path / "w"), place))
    assert there == here
    assert there[0][0] != "ok"


@pytest.fixture
def stored(made, elsewhere, tmp_path):
    """Beside it a file that a run is just writing, or that a failed one left."""
    shutil.copytree(made, tmp_path / "w")
    (tmp_path / "w" / LOCK_FILE).unlink(missing_ok=True)
    leave_a_file(Warehouse(LocalPlace(tmp_path / "w")))
    return storage_at(copied_to(tmp_path / "w", f"{elsewhere}/{tmp_path.name}"), options_of(Settings()))


def test_a_lock_that_is_held_is_reported_and_what_its_run_writes_is_no_orphan(stored, monkeypatch, capfd):
    monkeypatch.setattr(storage_lock, "BEAT_SECONDS", 1.0)
    with StorageLock(stored, "ingest").hold(0, print):
        result = run_checks(place_at(stored.place, options_of(Settings())))
    results = [(each.check, each.message) for each in result if each.status != "ok"]
    assert [check for check, _ in results] == ["lock"]
    assert results[0][1].startswith(f"held by ingest (process {os.getpid()} on ")
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"groupscope: {stored.place}: ingest (process {os.getpid()} on ")
    assert line.endswith(" holds the lock; waiting up to 12 s for a sign that it is alive")


def test_a_lock_whose_holder_was_killed_is_no_lock(stored, monkeypatch):
    monkeypatch.setattr(storage_lock, "BEAT_SECONDS", 0.05)
    write_once(stored, name_of(1), StorageLock(stored, "ingest").text())
    result = run_checks(place_at(stored.place, options_of(Settings())))
    assert [each.check for each in result if each.status != "ok"] == ["orphans"]


def test_an_ingest_takes_snapshots_from_there(elsewhere, tmp_path, capfd):
    (tmp_path / "in").mkdir()
    shutil.copy(SAMPLE / "snapshots.jsonl", tmp_path / "in" / "a.jsonl")
    place = copied_to(tmp_path / "in", f"{elsewhere}/{tmp_path.name}")
    ingest(tmp_path / "local", "--snapshots", tmp_path / "in" / "a.jsonl")
    ingest(tmp_path / "there", "--snapshots", f"{place}/*.jsonl")
    for table in ("cluster_snapshots", "topic_snapshots"):
        local, there = ([drop_run(row) for row in rows(tmp_path / name, table)] for name in ("local", "there"))
        assert there == local
        assert there
    capfd.readouterr()
    assert run_ingest(tmp_path / "none", "--snapshots", f"{place}/none.jsonl") == ExitCode.UNREADABLE_INPUT
    message = "no such file, or a folder without files; give files of snapshots"
    assert capfd.readouterr().err == f"groupscope: {place}/none.jsonl: {message}\n"


def drop_run(row):
    return {name: value for name, value in row.items() if name != "run_id"}
