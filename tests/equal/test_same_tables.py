"""Audits of one log leave the same rows in every table, whoever does the tasks, and wherever segments and tables are,
also when the log grows between them: the sample, random logs, and what real brokers wrote."""

from pathlib import Path

import pytest

from jobs.storage.closes import wait_for_closes
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from tests.builders.storages.kinds import fetched
from tests.builders.storages.s3_server import options_for
from tests.kafka.calm import CALM_RELEASES, calm_of
from tests.kafka.capture import capture_of
from tests.kafka.observations import observations_of
from tests.kafka.outages import OUTAGE_RELEASES, outages_of
from tests.kafka.releases import NEWEST, RELEASES
from tests.runs.equal_audits import SNAPSHOTS, assert_every_row_same, audit, grown_in_two, many_tasks, random_parts
from tests.runs.ingested import history
from tests.runs.replayed_logs import ASSIGNMENTS, GATED, HISTORY, MEASURED, assert_same, row_texts
from tests.sample.part import sample_part, write_part

# Each storage takes seconds to start.
pytestmark = [pytest.mark.drawn_parameter("stored", 1), pytest.mark.usefixtures("many_tasks")]

__all__ = ["many_tasks", "sample_part"]

MANY_LOGS = 10
BY_SPARK = ("--engine", "spark")
# Rows of others name places.
STORED_TABLES = (*HISTORY, *ASSIGNMENTS, *MEASURED, *GATED)


def compacted_of(release):
    return capture_of(release).compacted


CAPTURES = [
    pytest.param(make, release, id=f"{make.__name__}-{release.name}")
    for make, releases in (
        (capture_of, RELEASES),
        (compacted_of, RELEASES),
        (observations_of, RELEASES),
        (outages_of, OUTAGE_RELEASES),
        (calm_of, CALM_RELEASES),
    )
    for release in releases.values()
]


@pytest.fixture(params=["local", "s3", pytest.param("hdfs", marks=pytest.mark.spark)])
def stored(request, tmp_path, monkeypatch):
    """Where the other audit reads and writes; None: on the local disk, as the first one."""
    own = tmp_path.name.replace("[", "-").replace("]", "")
    if request.param == "local":
        return None
    if request.param == "hdfs":
        return storage_at(f"{request.getfixturevalue('hdfs')}/{own}", StorageOptions())
    options = options_for(request.getfixturevalue("s3"))
    for name, value in options.values:
        monkeypatch.setenv(name.upper(), value)
    return storage_at(f"s3://bucket/{own}", options)


def same_tables(folder, grow, seed, stored, workers, other, snapshots=SNAPSHOTS):
    """Of audits by so many workers on the local disk, and of others with these flags."""
    here, there, log, known = folder / "here", folder / "there", folder / "log", {}
    for number, _ in enumerate(grow(log, seed)):
        audit(str(here), str(log), "--workers", str(workers), snapshots=snapshots)
        if stored is None:
            audit(str(there), str(log), *other, snapshots=snapshots)
            assert_every_row_same(here, there)
            continue
        place = f"{stored.place}/{folder.name}"
        copy_changed(log, storage_at(f"{place}/log", stored.options), known)
        audit(f"{place}/w", f"{place}/log", *other, snapshots=snapshots)
        copy = fetched(stored, f"{folder.name}/w", folder / f"fetched-{number}")
        assert history(copy) == history(here)
        assert_same(row_texts(here, STORED_TABLES), row_texts(copy, STORED_TABLES), str(copy))


def copy_changed(log, storage, known):
    """A file that is written again is read again, there as here."""
    for path in filter(Path.is_file, log.rglob("*")):
        if known.get(path) != (now := path.stat().st_mtime_ns):
            storage.replace(str(path.relative_to(log)), path.read_bytes())
            known[path] = now
    # A file gets the time of its close: one that changes while it is read is refused.
    wait_for_closes()


def is_by_spark(spark, folder, grow, seed, stored, snapshots=SNAPSHOTS):
    """Whether Spark had tasks: of the smallest logs there is but one, which the driver does itself."""
    before = num_jobs(spark)
    # How far a run must go back depends on how it was cut, and Spark has so many cores here.
    same_tables(folder, grow, seed, stored, spark.sparkContext.defaultParallelism, BY_SPARK, snapshots)
    return num_jobs(spark) > before


def num_jobs(spark):
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup())


@pytest.mark.drawn_together(2)
@pytest.mark.spark
def test_the_sample_by_tasks_of_spark(spark, sample_part, tmp_path, stored, seed):
    assert is_by_spark(spark, tmp_path, grown_in_two(sample_part), seed, stored)


@pytest.mark.drawn_together(2)
@pytest.mark.spark
def test_a_random_log_by_tasks_of_spark(spark, tmp_path, stored, seed):
    seeds = range(seed, seed + MANY_LOGS)
    assert any(is_by_spark(spark, tmp_path / str(each), random_parts, each, stored) for each in seeds)


@pytest.mark.soak
@pytest.mark.spark
def test_many_random_logs_by_tasks_of_spark(spark, tmp_path, stored, seed):
    for each in range(seed, seed + MANY_LOGS):
        is_by_spark(spark, tmp_path / str(each), random_parts, each, stored)


@pytest.mark.drawn_together(2)
@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.drawn(1)
@pytest.mark.parametrize(("make", "release"), CAPTURES)
def test_what_a_broker_wrote_by_tasks_of_spark(spark, tmp_path, stored, seed, make, release):
    captured = make(release)
    snapshots = getattr(captured, "snapshots", None if release.is_modern else SNAPSHOTS)
    assert is_by_spark(spark, tmp_path, grown_in_two(captured.log_dir), seed, stored, snapshots)


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("number", [2, 5])
@pytest.mark.parametrize("log", ["the sample", "a random log", pytest.param("a capture", marks=pytest.mark.broker)])
def test_any_number_of_worker_processes(tmp_path, stored, seed, log, number):
    if log == "a random log":
        grow = random_parts
    elif log == "a capture":
        grow = grown_in_two(capture_of(NEWEST).log_dir)
    else:
        grow = grown_in_two(write_part(tmp_path / "part"))
    snapshots = None if log == "a capture" else SNAPSHOTS
    same_tables(tmp_path, grow, seed, stored, 1, ("--workers", str(number)), snapshots)
