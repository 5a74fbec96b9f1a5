"""A run of any job, by either engine, on any storage, killed at any named step: the next run leaves the tables that an
undisturbed one would."""

import random
import shutil
import signal
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage import storage_lock
from jobs.storage.options import StorageOptions
from jobs.storage.places import storage_at
from jobs.storage.stored_files import Storage
from jobs.warehouses.failpoints import FAILPOINTS, VARIABLE
from jobs.warehouses.lock import LOCK_FILE
from jobs.warehouses.manifest import RUNS_FOLDER
from schemas.contract.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import copied, fetched
from tests.builders.storages.s3_server import options_for
from tests.faults.forked_runs import ForkedRuns, forked_runs
from tests.jobs.ingested import ROOT, history, versions
from tests.jobs.replayed_logs import ASSIGNMENTS, GATED, HISTORY, MEASURED, STATES, assert_same, told

pytestmark = pytest.mark.spark

# Where a run may be killed. A storage of `storages.py` is added by its name.
STORAGES = ["local", "s3", "hdfs"]
ENGINES = ["local", "spark"]
# In the order in which they run.
JOBS = ["ingest", "replay", "assignments", "lag", "gate"]
POINTS = dict.fromkeys(JOBS, FAILPOINTS)
# It has no tasks, which are what passes the first one.
POINTS["gate"] = FAILPOINTS[1:]
# Every step of a run of the local engine on a local disk is tried by tests of its job.
WHERE = [(engine, kind) for kind in STORAGES for engine in ENGINES if (engine, kind) != ("local", "local")]
# Of a step, a job and an engine.
Check = Callable[[str, str, str], None]
SAMPLE = ROOT / "data" / "sample"
# With classic, consumer and share groups.
FOLDERS = ("__consumer_offsets-2", "__consumer_offsets-4")
TABLES_OF_JOBS = (*HISTORY, *STATES, *ASSIGNMENTS, *MEASURED, *GATED)


@pytest.fixture(scope="module")
def runs() -> Iterator[ForkedRuns]:
    with forked_runs() as started:
        yield started


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("log")
    for folder in FOLDERS:
        shutil.copytree(SAMPLE / folder, source / folder)
    return source


@pytest.fixture(scope="module")
def left(log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By job, the warehouse that it and those before it leave."""
    found: dict[str, Path] = {}
    for job in JOBS:
        warehouse = tmp_path_factory.mktemp(job) / "w"
        if found:
            shutil.copytree(found[before(job)], warehouse)
        assert cli.main([job, "--warehouse", str(warehouse), *words_of(job, log)]) == ExitCode.CLEAN
        found[job] = warehouse
    return found


def before(job: str) -> str:
    return JOBS[JOBS.index(job) - 1]


def words_of(job: str, log: Path) -> list[str]:
    snapshots = SAMPLE / "snapshots.jsonl"
    words = {
        "ingest": ["--source", f"segments:{log}", "--snapshots", str(snapshots)],
        # How old the log is would be told by the hour.
        "gate": ["--config", str(ROOT / "conf" / "sample.toml"), "--fail-on", "never"],
    }
    return words.get(job, [])


@dataclass(frozen=True)
class Place:
    """`environment`: what a run needs to reach it."""

    kind: str
    storage: Storage
    environment: dict[str, str]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    own, kind = uuid.uuid4().hex, str(request.param)
    if kind == "local":
        return Place(kind, storage_at(str(tmp_path / "w"), StorageOptions()), {})
    if kind == "hdfs":
        return Place(kind, storage_at(f"{request.getfixturevalue('hdfs')}/{own}/w", StorageOptions()), {})
    options = options_for(request.getfixturevalue("s3"))
    environment = {name.upper(): value for name, value in options.values}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return Place(kind, storage_at(f"s3://bucket/{own}/w", options), environment)


def put(folder: Path, storage: Storage, beside: Path) -> None:
    """Without the lock of local disks, a file, where other storages have a folder."""
    copied(shutil.copytree(folder, beside, ignore=shutil.ignore_patterns(LOCK_FILE)), storage, "")


@pytest.fixture
def check(
    runs: ForkedRuns,
    log: Path,
    left: dict[str, Path],
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Check:
    # The lock of a dead run is taken over after a few of them.
    monkeypatch.setattr(storage_lock, "BEAT_SECONDS", 0.1)

    def check_killed(point: str, job: str, engine: str) -> None:
        if job != JOBS[0]:
            put(left[before(job)], place.storage, tmp_path / "put")
        words = [job, "--warehouse", place.storage.place, *words_of(job, log)]
        code = runs.run([*words, "--engine", engine], {**place.environment, VARIABLE: point})
        # A task of Spark has a process of its own.
        is_task = engine == "spark" and point == "file_written"
        assert code == (ExitCode.FAILED if is_task else -signal.SIGKILL)
        assert cli.main(words) == ExitCode.CLEAN
        check_like(fetched(place.storage, "", tmp_path / "copy"), left[job])

    return check_killed


def check_like(copy: Path, whole: Path) -> None:
    assert cli.main(["doctor", "--warehouse", str(copy)]) == ExitCode.CLEAN
    assert versions(copy).keys() == versions(whole).keys()
    assert history(copy) == history(whole)
    made = [name for name in TABLES_OF_JOBS if (whole / TABLES[name].folder).exists()]
    assert_same(told(whole, made), told(copy, made), str(copy))
    assert [path.name for path in (copy / RUNS_FOLDER).iterdir() if not path.name.endswith("Z.json")] == []


@pytest.mark.parametrize(("engine", "place"), WHERE, indirect=["place"])
@pytest.mark.parametrize("job", JOBS)
def test_a_run_killed_at_some_step_is_finished_by_the_next(
    check: Check, place: Place, engine: str, job: str, seed: int
) -> None:
    point = random.Random(f"{seed} {place.kind} {engine} {job}").choice(POINTS[job])
    check(point, job, engine)


@pytest.mark.soak
@pytest.mark.parametrize(("engine", "place"), WHERE, indirect=["place"])
@pytest.mark.parametrize(("job", "point"), [(job, point) for job in JOBS for point in POINTS[job]])
def test_a_run_killed_at_any_step_is_finished_by_the_next(check: Check, engine: str, job: str, point: str) -> None:
    check(point, job, engine)
