"""The name node of an HDFS ends while a run works, and stays away or is soon there again: the run ends with one line or
goes on, and the tables are those that an undisturbed one leaves, at the latest after the next run.

Minutes each, so only in `make soak`."""

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.warehouses.failpoints import FAILPOINTS, VARIABLE
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.mini_hdfs import MiniHdfs, mini_hdfs
from tests.faults.forked_runs import WITHOUT_SPARK, ForkedRuns, forked_runs
from tests.faults.killed_runs import JOBS, Undisturbed, check_like, impatient, put

pytestmark = pytest.mark.spark

# hdfs-native 0.14 may wait for ever for an answer that the name node has not given when it ends: a run must not.
ANSWER_SECONDS, MOST_SECONDS = 20, 300
WORDS = ("the server closed the connection", "no answer from the server", "the name node is in safe mode")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[MiniHdfs]:
    """Of one test: processes remember an HDFS by its address, and this one's has been another's."""
    with mini_hdfs(tmp_path / "cluster") as started:
        yield started


@pytest.fixture(scope="module")
def runs() -> Iterator[ForkedRuns]:
    with forked_runs(WITHOUT_SPARK) as started:
        yield started


@contextmanager
def started_again(cluster: MiniHdfs, *, at_once: bool) -> Iterator[int]:
    """The process of the name node, which may end meanwhile."""
    process = cluster.process
    assert process is not None

    def start() -> None:
        process.wait()
        cluster.start()

    again = threading.Thread(target=start)
    if at_once:
        again.start()
    yield process.pid
    # Else the run has not come to the failpoint.
    process.wait(60)
    if not at_once:
        again.start()
    again.join()


def check(
    cluster: MiniHdfs,
    runs: ForkedRuns,
    undisturbed: Undisturbed,
    folder: Path,
    case: tuple[str, str, bool],
    *,
    comes_back: bool,
) -> None:
    """`case`: a job, a step, and whether it is the later run."""
    job, point, is_later = case
    about, place, result = f"{case} {comes_back}", f"{cluster.uri}/{uuid.uuid4().hex}/w", folder / "result.json"
    folder.mkdir()
    if (before := undisturbed.before(job, is_later=is_later)) is not None:
        put(before, storage_at(place, StorageOptions()), folder / "put")
    words = [job, "--warehouse", place, *undisturbed.words(job, is_later=is_later)]
    words = impatient(words, folder, ANSWER_SECONDS)
    with started_again(cluster, at_once=comes_back) as process:
        code = runs.run([*words, "--result-file", result], {VARIABLE: point}, MOST_SECONDS, ends=process)
    if code != ExitCode.CLEAN:
        assert code == ExitCode.UNUSABLE_WAREHOUSE, about
        message = json.loads(result.read_text())["message"]
        assert message.startswith("hdfs://") and any(each in message for each in WORDS), (about, message)
    assert runs.run(words, {VARIABLE: ""}) == ExitCode.CLEAN, about
    check_like(storage_at(place, StorageOptions()), folder / "copy", undisturbed.after(job, is_later=is_later))


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("point", FAILPOINTS)
def test_runs_of_any_job_that_lose_their_name_node_lose_no_row(
    point: str,
    job: str,
    comes_back: bool,
    is_later: bool,
    cluster: MiniHdfs,
    runs: ForkedRuns,
    undisturbed: Undisturbed,
    tmp_path: Path,
) -> None:
    # The gate has no tasks, which are what passes the first one.
    if (job, point) != (JOBS[-1], FAILPOINTS[0]):
        check(cluster, runs, undisturbed, tmp_path / "run", (job, point, is_later), comes_back=comes_back)
