"""The name node of an HDFS ends before files of a run are closed, and starts again: it does not know how long they are.
Whoever comes next finds them whole again."""

import random
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hdfs_native import Client

from jobs import cli
from jobs.storage import cut_files
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import Storage
from jobs.warehouses import any_warehouse
from jobs.warehouses.failpoints import FAILPOINTS, VARIABLE
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.mini_hdfs import MiniHdfs, mini_hdfs
from tests.faults.forked_runs import WITHOUT_SPARK, ForkedRuns, forked_runs
from tests.faults.killed_runs import JOBS, Undisturbed, check_like, put, short_locks

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniHdfs]:
    """Of this file alone."""
    with mini_hdfs(tmp_path_factory.mktemp("ends") / "cluster") as started:
        yield started


@pytest.fixture(scope="module")
def runs() -> Iterator[ForkedRuns]:
    with forked_runs(WITHOUT_SPARK) as started:
        yield started


def killed(
    runs: ForkedRuns, undisturbed: Undisturbed, place: str, folder: Path, job: str, point: str, *, is_later: bool
) -> Storage:
    """The writer is dead, and what it wrote last is not closed."""
    storage = storage_at(place, StorageOptions())
    folder.mkdir()
    if (before := undisturbed.before(job, is_later=is_later)) is not None:
        put(before, storage, folder / "put")
    words = [job, "--warehouse", place, *undisturbed.words(job, is_later=is_later)]
    assert runs.run(words, {VARIABLE: point}) == -signal.SIGKILL
    return storage


def num_rows(place: str) -> dict[str, int]:
    """By table, as Delta's logs have it."""
    return any_warehouse.reading(place).num_rows()


def check_restored(
    cluster: MiniHdfs,
    runs: ForkedRuns,
    undisturbed: Undisturbed,
    tmp_path: Path,
    cases: list[tuple[str, str, bool]],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Each of a job, a step and whether it is the later run; all of them before the name node ends once."""
    left = []
    for number, (job, point, is_later) in enumerate(cases):
        folder, place = tmp_path / str(number), f"{cluster.uri}/{uuid.uuid4().hex}/w"
        left.append(killed(runs, undisturbed, place, folder, job, point, is_later=is_later))
    cluster.kill()
    cluster.start()
    cut = [list(cut_files.cut_files(Client(cluster.uri), storage.place.removeprefix(cluster.uri))) for storage in left]
    assert any(cut)
    for number, ((job, point, is_later), storage) in enumerate(zip(cases, left, strict=True)):
        whole = undisturbed.after(job, is_later=is_later)
        if point == "runs_committed" and is_later:
            # To a reader that has no run before it, too.
            assert num_rows(storage.place) == num_rows(str(whole))
        words = [job, "--warehouse", storage.place, *undisturbed.words(job, is_later=is_later)]
        with short_locks():
            assert cli.main(words) == ExitCode.CLEAN, capfd.readouterr().err
        check_like(storage, tmp_path / str(number) / "copy", whole)
        assert not list(cut_files.cut_files(Client(cluster.uri), storage.place.removeprefix(cluster.uri)))


def test_the_next_run_finds_the_files_whole(
    cluster: MiniHdfs,
    runs: ForkedRuns,
    undisturbed: Undisturbed,
    tmp_path: Path,
    seed: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(seed)
    # A manifest that is lost, and commits that readers see already.
    cases = [(chance.choice(JOBS[:-1]), "manifest_written", chance.random() < 0.5), ("replay", "runs_committed", True)]
    check_restored(cluster, runs, undisturbed, tmp_path, cases, capfd)


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("point", FAILPOINTS)
def test_the_next_run_finds_the_files_of_any_step_whole(
    cluster: MiniHdfs,
    runs: ForkedRuns,
    undisturbed: Undisturbed,
    tmp_path: Path,
    point: str,
    is_later: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    # The gate has no tasks, which are what passes the first one.
    jobs = JOBS[:-1] if point == FAILPOINTS[0] else JOBS
    check_restored(cluster, runs, undisturbed, tmp_path, [(job, point, is_later) for job in jobs], capfd)
