"""A run of any job, by either engine, on any storage, killed at any named step or instant: the next run leaves the
tables that an undisturbed one would."""

import random
import signal
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage.failpoints import FAILPOINTS, VARIABLE
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import Storage
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.s3_server import options_for
from tests.faults.forked_runs import IN_TIME, ForkedRuns, forked_runs
from tests.faults.killed_runs import AUDIT, JOBS, Undisturbed, check_like, put, short_locks

pytestmark = pytest.mark.spark

# Where a run may be killed.
STORAGES = ["local", "s3", "hdfs"]
ENGINES = ["local", "spark"]
ANYWHERE = [(engine, kind) for kind in STORAGES for engine in ENGINES]
# Every step of a first run of the local engine on a local disk is tried by tests of its job.
ELSEWHERE = [(engine, kind) for engine, kind in ANYWHERE if (engine, kind) != ("local", "local")]
# Of each engine, storage and audit, the first and the later one: more than 100 on each storage.
MANY_KILLS = 26
# Other ones in each run of the tests.
SOME_JOBS = 1


@pytest.fixture(scope="module")
def runs():
    with forked_runs() as started:
        yield started


@pytest.fixture
def chance(seed, request):
    """Other numbers for each test."""
    return random.Random(f"{seed} {request.node.name}")


@dataclass(frozen=True)
class Place:
    """`environment`: what a run needs to reach it."""

    storage: Storage
    environment: dict[str, str]


def place_of(kind, request, folder, patch):
    own = uuid.uuid4().hex
    if kind == "local":
        return Place(storage_at(str(folder / "w"), StorageOptions()), {})
    if kind == "hdfs":
        return Place(storage_at(f"{request.getfixturevalue('hdfs')}/{own}/w", StorageOptions()), {})
    options = options_for(request.getfixturevalue("s3"))
    environment = {name.upper(): value for name, value in options.values}
    for name, value in environment.items():
        patch.setenv(name, value)
    return Place(storage_at(f"s3://bucket/{own}/w", options), environment)


@dataclass(frozen=True)
class Killed:
    """Runs of one job and engine on one storage that are killed, one after the other."""

    runs: ForkedRuns
    undisturbed: Undisturbed
    place: Place
    folder: Path
    engine: str
    job: str
    is_later: bool

    def begin(self):
        before = self.undisturbed.before(self.job, is_later=self.is_later)
        if before is not None:
            put(before, self.place.storage, self.folder / "put")

    @property
    def words(self):
        words = [self.job, "--warehouse", self.place.storage.place]
        words += self.undisturbed.words(self.job, is_later=self.is_later)
        return [*words, "--report", str(self.folder / "report")] if self.job == AUDIT else words

    @property
    def has_one_task(self):
        """Of both offsets partitions, only one has groups whose assignments the later run recomputes."""
        return self.job == "assignments" and self.is_later

    def at(self, point, *, many_tasks):
        environment = {**self.place.environment, VARIABLE: point}
        choice = ["--engine", self.engine, *(["--workers", "2"] if many_tasks else [])]
        code = self.runs.run([*self.words, *choice], environment, many_tasks=many_tasks)
        # A task of Spark has a process of its own, and so has each of many tasks.
        is_task = point == "file_written" and (self.engine == "spark" or (many_tasks and not self.has_one_task))
        assert code == (ExitCode.FAILED if is_task else -signal.SIGKILL)

    def at_instants(self, chance, kills):
        """How many were killed. Each run finds what the one before left. One that is done leaves nothing to do for the
        others."""
        longest = 2 * self.undisturbed.seconds[self.is_later] + 1
        choice = ["--engine", self.engine, "--workers", "2"]
        for number in range(kills):
            seconds, many_tasks = chance.uniform(0.2, longest), chance.random() < 0.5
            code = self.runs.run([*self.words, *choice], self.place.environment, seconds, many_tasks=many_tasks)
            if code == ExitCode.CLEAN:
                return number
            assert code == -IN_TIME
        return kills

    def finish(self):
        with short_locks():
            assert cli.main(self.words) == ExitCode.CLEAN
        whole = self.undisturbed.after(self.job, is_later=self.is_later)
        check_like(self.place.storage, self.folder / "copy", whole)


@pytest.fixture
def killed(runs, undisturbed, tmp_path, request, monkeypatch):
    """Of an engine, a kind of storage and a job, and whether it is the later run."""

    def begun(engine, kind, job, *, is_later, name="run"):
        (folder := tmp_path / name).mkdir()
        found = Killed(runs, undisturbed, place_of(kind, request, folder, monkeypatch), folder, engine, job, is_later)
        found.begin()
        return found

    return begun


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("engine", "kind"), ELSEWHERE)
def test_runs_killed_at_some_step_are_finished_by_the_next(killed, undisturbed, engine, kind, chance):
    for job in chance.sample(JOBS, SOME_JOBS):
        is_later, many_tasks = chance.random() < 0.5, engine == "local" and chance.random() < 0.5
        point = chance.choice(undisturbed.points(job, is_later=is_later))
        run = killed(engine, kind, job, is_later=is_later, name=job)
        run.at(point, many_tasks=many_tasks)
        run.finish()


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize(("engine", "kind"), ANYWHERE)
@pytest.mark.parametrize("job", JOBS)
def test_a_run_killed_at_any_step_is_finished_by_the_next(killed, undisturbed, engine, kind, job, is_later, chance):
    points = undisturbed.points(job, is_later=is_later)
    steps = [point for point in points if point in FAILPOINTS]
    for point in (*steps, *chance.sample(points[len(steps) :], 2)):
        run = killed(engine, kind, job, is_later=is_later, name=point)
        run.at(point, many_tasks=engine == "local" and chance.random() < 0.5)
        run.finish()


def test_an_audit_killed_at_some_instants_is_finished_by_the_next(killed, chance):
    run = killed("local", chance.choice(STORAGES), AUDIT, is_later=chance.random() < 0.5)
    run.at_instants(chance, kills=2)
    run.finish()


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize(("engine", "kind"), ANYWHERE)
def test_an_audit_killed_at_many_instants_is_finished_by_the_next(killed, engine, kind, is_later, chance):
    num_killed = number = 0
    while num_killed < MANY_KILLS:
        run = killed(engine, kind, AUDIT, is_later=is_later, name=str(number))
        num_killed += run.at_instants(chance, kills=4)
        run.finish()
        number += 1
