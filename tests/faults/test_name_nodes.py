"""The name node of an HDFS hangs or ends, or starts again, while a run works or before files of a run are closed: the
run ends in time with one line or goes on, nothing of what it has not finished is visible, and the next one leaves the
tables that an undisturbed one would.

What a run had asked for is done when servers that hung go on, though the run is over by then. A name node that starts
again does not know how long files are that nobody had closed: whoever comes next finds them whole."""

import gc
import json
import random
import signal
import threading
import uuid
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hdfs_native import Client

from jobs import cli
from jobs.storage import cut_files
from jobs.storage.closes import wait_for_closes
from jobs.storage.failpoints import FAILPOINTS, VARIABLE
from jobs.storage.hdfs_storage import HdfsStorage
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import Storage, read_whole, write_once
from jobs.warehouses import any_warehouse
from jobs.warehouses.delta_tables import sequence_of
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.mini_hdfs import MiniHdfs, mini_hdfs
from tests.faults.forked_runs import WITHOUT_SPARK, ForkedRuns, forked_runs
from tests.faults.killed_runs import AUDIT, JOBS, Undisturbed, check_like, impatient, put, short_locks

pytestmark = pytest.mark.spark

# Far above the time of a request here, whatever else the machine does.
ANSWER_SECONDS = 5
# Of a run, which would else wait for ever.
MOST_SECONDS = 300
# Of a name node that ends: hdfs-native 0.14 may wait for ever for an answer that it has not given then.
AWAY_SECONDS = 20
AWAY = ("the server closed the connection", "no answer from the server", "the name node is in safe mode")
REMEDY = "check that it runs, then run it again (a server that is only slow: raise [storage] answer_seconds)"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Of this file alone."""
    with mini_hdfs(tmp_path_factory.mktemp("name-node") / "cluster") as started:
        yield started


LARGE = bytes(range(256)) * (3 << 12)


def nothing(_): ...


def written(storage, data):
    file = storage.create("begun")
    file.write(data)
    return file


# What is begun before, and what is asked for while nobody answers.
CALLS: dict[str, tuple[Callable[[Storage], object], Callable[..., object]]] = {
    "list": (nothing, lambda storage, _: list(storage.list())),
    "find": (nothing, lambda storage, _: storage.find("f")),
    "open": (nothing, lambda storage, _: storage.open("f")),
    "read": (lambda storage: storage.ranges("f", 10)[0], lambda _, ranges: ranges.read(0, len(LARGE))),
    "create": (nothing, lambda storage, _: storage.create("new")),
    "write": (lambda storage: written(storage, b""), lambda _, file: [file.write(LARGE) for _ in range(30)]),
    "finish": (lambda storage: written(storage, LARGE), lambda _, file: file.finish()),
    "replace": (nothing, lambda storage, _: storage.replace("f", b"2")),
    "delete": (nothing, lambda storage, _: storage.delete("f")),
    "restore": (nothing, lambda storage, _: storage.restore()),
    "open table": (
        nothing,
        lambda storage, _: RemotePlace(storage, "t").by_delta(
            lambda uri, options: DeltaTable(uri, storage_options=options)
        ),
    ),
    "last run": (
        lambda storage: DeltaTable(storage.delta_uri("t"), storage_options=storage.delta_options),
        lambda storage, table: sequence_of(RemotePlace(storage, "t"), table),
    ),
    "commit": (
        lambda storage: DeltaTable(storage.delta_uri("t"), storage_options=storage.delta_options),
        lambda storage, table: RemotePlace(storage, "t").by_delta(lambda *_: table.delete()),
    ),
}


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", CALLS)
def test_a_request_without_an_answer_is_told_and_the_next_goes_on(cluster, name):
    begin, call = CALLS[name]
    place = f"{cluster.uri}/{uuid.uuid4().hex}/w"
    storage = HdfsStorage(place, StorageOptions())
    write_once(storage, "f", LARGE)
    write_deltalake(storage.delta_uri("t"), pa.table({"n": [1]}), storage_options=storage.delta_options)
    wait_for_closes()
    begun = begin(storage)
    server = storage.client.server
    server.seconds = 1
    with cluster.hanging(), pytest.raises(OSError, match=r"^\[Errno 5\] no answer") as refused:
        call(storage, begun)
    server.seconds = ANSWER_SECONDS
    assert str(refused.value.filename).startswith(place)
    assert refused.value.strerror == f"no answer from the server for 1 s: {REMEDY}"
    with suppress(OSError):
        # Said already.
        wait_for_closes()
    write_once(storage, "after", LARGE)
    assert read_whole(storage, "after") == LARGE
    wait_for_closes()


def test_a_file_that_nobody_finished_is_freed_without_a_request(cluster):
    """Python frees it on whatever thread it likes, which would wait there."""
    storage = HdfsStorage(f"{cluster.uri}/{uuid.uuid4().hex}/w", StorageOptions())
    files = [storage.create("f")]
    with cluster.hanging():
        files.clear()
        gc.collect()
        # Who waits for an answer gets it, from a cluster that goes on after a while.
        assert cluster.is_stopped()


@pytest.fixture(scope="module")
def runs():
    with forked_runs(WITHOUT_SPARK) as started:
        yield started


@pytest.fixture(scope="module")
def runs_of_both():
    with forked_runs() as started:
        yield started


@dataclass(frozen=True)
class Hanging:
    """Runs of a job on an HDFS that hangs. `engine`: of the first run."""

    cluster: MiniHdfs
    runs: ForkedRuns
    undisturbed: Undisturbed
    folder: Path
    job: str
    is_later: bool
    engine: str = "local"

    @property
    def place(self):
        return f"{self.cluster.uri}{self.folder}/w"

    @property
    def storage(self):
        return storage_at(self.place, StorageOptions())

    def words(self, answer_seconds):
        own = self.undisturbed.words(self.job, is_later=self.is_later)
        return impatient([self.job, "--warehouse", self.place, *own], self.folder, answer_seconds)

    def begin(self):
        self.folder.mkdir()
        if (before := self.undisturbed.before(self.job, is_later=self.is_later)) is not None:
            put(before, self.storage, self.folder / "put")
        wait_for_closes()

    def at_point(self, point):
        process = self.cluster.process
        assert process is not None
        try:
            code = self.run_once({VARIABLE: point}, ends=process.pid, by=signal.SIGSTOP)
        finally:
            self.cluster.send(signal.SIGCONT)
        # Of some steps nothing follows that needs an answer.
        self.check_told(code, point)

    def at_instant(self, chance):
        seconds = chance.uniform(0.2, 2 * self.undisturbed.seconds[self.is_later] + 1)
        stop = threading.Timer(seconds, self.cluster.send, [signal.SIGSTOP])
        stop.start()
        try:
            code = self.run_once({}, many_tasks=chance.random() < 0.5)
        finally:
            stop.cancel()
            stop.join()
            self.cluster.send(signal.SIGCONT)
        self.check_told(code, f"{seconds:.3f} s")

    def run_once(self, environment, **how):
        words = [
            *self.words(ANSWER_SECONDS),
            "--engine",
            self.engine,
            "--workers",
            "2",
            "--result-file",
            self.folder / "result.json",
        ]
        return self.runs.run(words, {VARIABLE: "", **environment}, MOST_SECONDS, **how)

    def check_told(self, code, when):
        if code == ExitCode.CLEAN:
            return
        assert code == ExitCode.UNUSABLE_WAREHOUSE, (self.job, self.is_later, self.engine, when)
        message = json.loads((self.folder / "result.json").read_text())["message"]
        about = f"{self.job} {self.is_later} {self.engine} {when}: {message}"
        told = f"no answer from the server for {ANSWER_SECONDS} s: {REMEDY}"
        assert message.startswith("hdfs://") and message.endswith(told), about

    def finish(self):
        assert self.runs.run(self.words(MOST_SECONDS), {VARIABLE: ""}) == ExitCode.CLEAN
        check_like(self.storage, self.folder / "copy", self.undisturbed.after(self.job, is_later=self.is_later))


@pytest.mark.drawn_together(1)
def test_the_run_after_one_whose_servers_hung_at_some_step_goes_on(cluster, runs, undisturbed, tmp_path, seed):
    chance = random.Random(seed)
    job, is_later = chance.choice(JOBS), chance.random() < 0.5
    run = Hanging(cluster, runs, undisturbed, tmp_path / "run", job, is_later)
    run.begin()
    # The gate has no tasks, which are what passes the first step.
    run.at_point(chance.choice(FAILPOINTS[1:]))
    run.finish()


@pytest.mark.drawn_together(1)
def test_the_audit_after_one_whose_servers_hung_at_some_instant_goes_on(cluster, runs, undisturbed, tmp_path, seed):
    chance = random.Random(seed)
    run = Hanging(cluster, runs, undisturbed, tmp_path / "run", AUDIT, chance.random() < 0.5)
    run.begin()
    run.at_instant(chance)
    run.finish()


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("point", FAILPOINTS)
def test_the_run_of_any_job_after_one_whose_servers_hung_at_any_step_goes_on(
    cluster, runs, undisturbed, tmp_path, point, job, is_later
):
    if (job, point) != (JOBS[-1], FAILPOINTS[0]):
        run = Hanging(cluster, runs, undisturbed, tmp_path / "run", job, is_later)
        run.begin()
        run.at_point(point)
        run.finish()


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_audits_after_those_whose_servers_hung_at_many_instants_go_on(
    cluster, runs_of_both, undisturbed, tmp_path, engine, is_later, seed
):
    chance = random.Random(f"{seed} {engine} {is_later}")
    for number in range(5):
        run = Hanging(cluster, runs_of_both, undisturbed, tmp_path / str(number), AUDIT, is_later, engine)
        run.begin()
        run.at_instant(chance)
        run.finish()


# Files that are not closed when the name node ends.
def killed(runs, undisturbed, place, folder, job, point, *, is_later):
    """The writer is dead, and what it wrote last is not closed."""
    storage = storage_at(place, StorageOptions())
    folder.mkdir()
    if (before := undisturbed.before(job, is_later=is_later)) is not None:
        put(before, storage, folder / "put")
    words = [job, "--warehouse", place, *undisturbed.words(job, is_later=is_later)]
    assert runs.run(words, {VARIABLE: point}) == -signal.SIGKILL
    return storage


def num_rows(place):
    """By table, as Delta's logs have it."""
    return any_warehouse.reading(place).num_rows()


def check_restored(cluster, runs, undisturbed, tmp_path, cases, capfd):
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


@pytest.mark.drawn_together(1)
def test_the_next_run_finds_the_files_whole(cluster, runs, undisturbed, tmp_path, seed, capfd):
    chance = random.Random(seed)
    # A manifest that is lost, and commits that readers see already.
    cases = [(chance.choice(JOBS[:-1]), "manifest_written", chance.random() < 0.5), ("replay", "runs_committed", True)]
    check_restored(cluster, runs, undisturbed, tmp_path, cases, capfd)


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("point", FAILPOINTS)
def test_the_next_run_finds_the_files_of_any_step_whole(cluster, runs, undisturbed, tmp_path, point, is_later, capfd):
    # The gate has no tasks, which are what passes the first one.
    jobs = JOBS[:-1] if point == FAILPOINTS[0] else JOBS
    check_restored(cluster, runs, undisturbed, tmp_path, [(job, point, is_later) for job in jobs], capfd)


# Runs that lose it: minutes each, so only in `make soak`.
@pytest.fixture
def own_cluster(tmp_path):
    """Of one test: processes remember an HDFS by its address, and this one's has been another's."""
    with mini_hdfs(tmp_path / "cluster") as started:
        yield started


@contextmanager
def started_again(cluster, *, at_once):
    """The process of the name node, which may end meanwhile."""
    process = cluster.process
    assert process is not None

    def start():
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


def check_lost(cluster, runs, undisturbed, folder, case, *, comes_back):
    """`case`: a job, a step, and whether it is the later run."""
    job, point, is_later = case
    about, place, result = f"{case} {comes_back}", f"{cluster.uri}/{uuid.uuid4().hex}/w", folder / "result.json"
    folder.mkdir()
    if (before := undisturbed.before(job, is_later=is_later)) is not None:
        put(before, storage_at(place, StorageOptions()), folder / "put")
    words = [job, "--warehouse", place, *undisturbed.words(job, is_later=is_later)]
    words = impatient(words, folder, AWAY_SECONDS)
    with started_again(cluster, at_once=comes_back) as process:
        code = runs.run([*words, "--result-file", result], {VARIABLE: point}, MOST_SECONDS, ends=process)
    if code != ExitCode.CLEAN:
        assert code == ExitCode.UNUSABLE_WAREHOUSE, about
        message = json.loads(result.read_text())["message"]
        assert message.startswith("hdfs://") and any(each in message for each in AWAY), (about, message)
    assert runs.run(words, {VARIABLE: ""}) == ExitCode.CLEAN, about
    check_like(storage_at(place, StorageOptions()), folder / "copy", undisturbed.after(job, is_later=is_later))


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("point", FAILPOINTS)
def test_runs_of_any_job_that_lose_their_name_node_lose_no_row(
    point, job, comes_back, is_later, own_cluster, runs, undisturbed, tmp_path
):
    # The gate has no tasks, which are what passes the first one.
    if (job, point) != (JOBS[-1], FAILPOINTS[0]):
        check_lost(own_cluster, runs, undisturbed, tmp_path / "run", (job, point, is_later), comes_back=comes_back)
