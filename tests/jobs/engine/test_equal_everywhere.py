"""One log gives equal rows in every table, whichever engine runs the tasks and wherever segments and tables lie."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import Storage
from tests.builders.logs.short_logs import short_log
from tests.builders.storages.kinds import copied, fetched
from tests.builders.storages.s3_server import options_for
from tests.kafka.capture import capture_of
from tests.kafka.releases import RELEASES
from tests.runs.equal_audits import audit
from tests.runs.ingested import ROOT, history
from tests.runs.replayed_logs import ASSIGNMENTS, GATED, HISTORY, MEASURED, assert_same, growing, row_texts, write_part
from tests.runs.warehouse_runs import write
from tests.sample.part import sample_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["sample_part"]

# Each storage takes seconds to start.
pytestmark = pytest.mark.drawn_parameter("stored", 1)

TABLES = (*HISTORY, *ASSIGNMENTS, *MEASURED, *GATED)


@pytest.fixture(params=["s3", pytest.param("hdfs", marks=pytest.mark.spark)])
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Storage:
    own = tmp_path.name.replace("[", "-").replace("]", "")
    if request.param == "hdfs":
        return storage_at(f"{request.getfixturevalue('hdfs')}/{own}", StorageOptions())
    options = options_for(request.getfixturevalue("s3"))
    for name, value in options.values:
        monkeypatch.setenv(name.upper(), value)
    return storage_at(f"s3://bucket/{own}", options)


def sample(folder: Path, seed: int) -> Path:
    return ROOT / "data" / "sample"


def random_logs(folder: Path, seed: int) -> Path:
    """The parts of one log, as copies that overlap."""
    for number, part in enumerate(short_log(seed, most_operations=200).parts):
        write(part, folder / f"copy-{number}")
    return folder


def broker_capture(folder: Path, seed: int) -> Path:
    return capture_of(RELEASES["4.3.1"]).log_dir


# Of the sample the short form is the test of executors below.
LOGS = [
    pytest.param(sample, marks=pytest.mark.soak),
    random_logs,
    pytest.param(broker_capture, marks=pytest.mark.broker),
]


Local = Callable[[Path], Path]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    """The warehouse on a local disk of the log in a folder, which tests only read: made once for all storages."""

    @cache
    def audited(source: Path) -> Path:
        warehouse = tmp_path_factory.mktemp("local") / "w"
        audit(str(warehouse), str(source))
        return warehouse

    return audited


def check_equal(one: Path, other: Path) -> None:
    assert history(other) == history(one)
    assert_same(row_texts(one, TABLES), row_texts(other, TABLES), str(other))


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("log", LOGS)
def test_tables_elsewhere_are_those_of_a_local_disk(
    tmp_path: Path, stored: Storage, local: Local, log: Callable[[Path, int], Path], seed: int
) -> None:
    source = log(tmp_path / "log", seed)
    place = copied(source, stored, "log")
    audit(f"{stored.place}/w", place)
    check_equal(local(source), fetched(stored, "w", tmp_path / "fetched"))


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
def test_runs_that_go_on_leave_there_what_they_leave_here(
    tmp_path: Path, stored: Storage, rng: np.random.Generator
) -> None:
    whole, source = tmp_path / "whole", tmp_path / "log"
    for name in ("__consumer_offsets-2", "__consumer_offsets-4"):
        shutil.copytree(ROOT / "data" / "sample" / name, whole / name)
    for share in growing(whole, rng, 2):
        # A log without a batch is none.
        write_part(whole, source, {name: max(1, number) for name, number in share.items()})
        audit(str(tmp_path / "local"), str(source))
        audit(f"{stored.place}/w", copied(source, stored, "log"))
    check_equal(tmp_path / "local", fetched(stored, "w", tmp_path / "fetched"))


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.spark
def test_executors_write_there_what_local_workers_write_here(
    tmp_path: Path, stored: Storage, local: Local, sample_part: Path, spark: "SparkSession"
) -> None:
    audit(f"{stored.place}/w", copied(sample_part, stored, "log"), "--engine", "spark")
    check_equal(local(sample_part), fetched(stored, "w", tmp_path / "fetched"))
