"""A warehouse elsewhere holds what a local one does, is changed by one run at a time, outlives a run that dies."""

import signal
from pathlib import Path

import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.output.failure import Failure
from jobs.storage import storage_lock
from jobs.storage.failpoints import VARIABLE
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.local_place import LocalPlace
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.storage_lock import StorageLock, name_of
from jobs.storage.stored_files import write_once
from jobs.warehouses import any_warehouse
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import random_log, write_copy
from tests.builders.storages.kinds import fetched
from tests.builders.storages.s3_server import SECRET, free_port, options_for
from tests.runs.ingested import history, ingest, spawned

# Each storage takes seconds to start.
pytestmark = pytest.mark.drawn_parameter("stored", 1)


@pytest.fixture
def environment(s3, monkeypatch):
    """As people set it for any tool of S3."""
    values = {name.upper(): value for name, value in options_for(s3).values}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


@pytest.fixture(params=["s3", pytest.param("hdfs", marks=pytest.mark.spark)])
def stored(request, tmp_path):
    if request.param == "s3":
        request.getfixturevalue("environment")
        return storage_at(f"s3://bucket/{tmp_path.name}/w", options_for(request.getfixturevalue("s3")))
    own = tmp_path.name.replace("[", "-").replace("]", "")
    return storage_at(f"{request.getfixturevalue('hdfs')}/{own}/w", StorageOptions())


@pytest.fixture
def place(stored):
    return stored.place


def sources(folder, rng):
    log = random_log(rng, 40)
    parts = enumerate((log[:25], log[15:]))
    return [f"segments:{write_copy(folder / str(number), 3, part, rng)}" for number, part in parts]


def run(place, source, *flags):
    return cli.main(["ingest", "--warehouse", place, "--source", source, *flags])


@pytest.mark.drawn(1)
def test_ingests_make_the_tables_of_local_ones(tmp_path, place, stored, rng, capsys):
    # The second overlaps the first, so what the bucket holds is compared with.
    for source in sources(tmp_path, rng):
        ingest(tmp_path / "local", "--source", source)
        assert run(place, source) == ExitCode.CLEAN
    assert run(place, f"segments:{tmp_path}/1", "--optimize", "full") == ExitCode.CLEAN
    copy = fetched(stored, "", tmp_path / "copy")
    assert history(copy) == history(tmp_path / "local")
    left = {path.name for path in copy.iterdir() if path.name.startswith("_")}
    assert left == {"_lock", "_runs", "_warehouse.json"}
    held = any_warehouse.reading(place).rows("offset_commits")
    local = any_warehouse.reading(str(tmp_path / "local")).rows("offset_commits")
    assert held is not None
    assert local is not None
    assert held.column("record_offset").sort().equals(local.column("record_offset").sort())
    assert SECRET not in "".join(path.read_text(errors="replace") for path in copy.rglob("*.json"))
    assert SECRET not in "".join(capsys.readouterr())


@pytest.mark.drawn(2)
@pytest.mark.parametrize("point", ["files_written", "manifest_written", "table_committed", "runs_committed"])
def test_a_run_that_was_killed_is_finished_by_the_next(tmp_path, place, stored, rng, point, monkeypatch):
    source, _ = sources(tmp_path, rng)
    killed = spawned(place, "--source", source, environment={VARIABLE: point})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    monkeypatch.setattr(storage_lock, "BEAT_SECONDS", 0.1)
    assert run(place, source) == ExitCode.CLEAN
    ingest(tmp_path / "local", "--source", source)
    copy = fetched(stored, "", tmp_path / "copy")
    assert history(copy) == history(tmp_path / "local")
    assert not list((copy / "_runs").glob("*.manifest.json"))
    # What the killed run wrote and nobody names is gone.
    for folder in (path.parent for path in copy.glob("*/_delta_log")):
        named = {Path(name).name for name in DeltaTable(folder).file_uris()}
        assert {path.name for path in folder.glob("*.parquet")} == named


def test_a_run_whose_lock_was_taken_over_commits_nothing(tmp_path, place, stored, rng, capsys):
    first, second = sources(tmp_path, rng)
    assert run(place, first) == ExitCode.CLEAN
    before = history(fetched(stored, "", tmp_path / "before"))
    options = stored.options
    with pytest.raises(Failure) as lost, any_warehouse.writing(place, "ingest", 0, print, options) as result:
        assert isinstance(result.lock, StorageLock)
        write_once(stored, name_of(result.lock.number + 1), b"")
        result.check_lock()
    assert lost.value.code == ExitCode.UNUSABLE_WAREHOUSE
    assert "another run took over the lock" in str(lost.value)
    assert history(fetched(stored, "", tmp_path / "after")) == before
    capsys.readouterr()
    assert run(place, second, "--lock-wait", "0") == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"groupscope: {place}: busy with another run, not free within 0 s (--lock-wait)"


def test_a_bucket_that_cannot_be_used_is_reported_in_one_line(tmp_path, environment, rng, capsys, monkeypatch):
    source, _ = sources(tmp_path, rng)
    assert run("s3://nosuchbucket/w", source) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    message = "no such bucket or container; give one that is there"
    assert line == f"groupscope: s3://nosuchbucket/w: {message}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    config = tmp_path / "short.toml"
    config.write_text("[storage]\nretry_seconds = 1\n")
    assert run("s3://bucket/w", source, "--config", str(config)) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("groupscope: s3://bucket/w")
    assert "no answer from the server, tried for 1 s: check the endpoint" in line


@pytest.mark.spark
def test_a_spark_application_reaches_it_by_what_hadoops_clients_were_given(tmp_path, s3, rng):
    given = dict(options_for(s3).values)
    conf = {
        "fs.s3a.endpoint": given["aws_endpoint_url"],
        "fs.s3a.access.key": given["aws_access_key_id"],
        "fs.s3a.secret.key": given["aws_secret_access_key"],
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.path.style.access": "true",
    }
    (tmp_path / "conf").mkdir()
    lines = "".join(f"spark.hadoop.{name} {value}\n" for name, value in conf.items())
    (tmp_path / "conf" / "spark-defaults.conf").write_text(f"{lines}spark.driver.host 127.0.0.1\n")
    source, _ = sources(tmp_path, rng)
    place = f"s3://bucket/{tmp_path.name}/w"
    ended = spawned(
        place, "--source", source, "--engine", "spark", environment={"SPARK_CONF_DIR": str(tmp_path / "conf")}
    )
    assert ended.returncode == ExitCode.CLEAN, ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    ingest(tmp_path / "local", "--source", source)
    stored = storage_at(place, options_for(s3))
    assert history(fetched(stored, "", tmp_path / "copy")) == history(tmp_path / "local")


def test_a_folder_of_something_else_is_left_alone(tmp_path, place, stored, rng, capsys):
    write_once(stored, "letters/a.txt", b"mine")
    source, _ = sources(tmp_path, rng)
    assert run(place, source) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"groupscope: {place}: no _warehouse.json in it")
    assert [file.name for file in stored.list()] == ["letters/a.txt"]


def test_a_folder_is_deleted_with_all_in_it_and_nothing_beside(stored, tmp_path):
    local = storage_at(str(tmp_path / "w"), options_for("http://unused"))
    for storage in (stored, local):
        for name in ("a/b/c", "a/d", "ab"):
            write_once(storage, name, b"1")
    RemotePlace(stored, "a").delete_folder()
    LocalPlace(tmp_path / "w" / "a").delete_folder()
    assert [[file.name for file in storage.list()] for storage in (stored, local)] == [["ab"], ["ab"]]
    assert not (tmp_path / "w" / "a").exists()
