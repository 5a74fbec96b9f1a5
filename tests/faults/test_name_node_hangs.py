"""The name node and data node of an HDFS stop answering while a run works, and go on later: the run ends in time with
one line, nothing of it is visible, and the next one leaves the tables that an undisturbed one would.

What a run had asked for is done when they go on, though the run is over by then."""

import gc
import json
import random
import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from jobs.storage.closes import wait_for_closes
from jobs.storage.hdfs_storage import HdfsStorage
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.places.remote_place import RemotePlace
from jobs.storage.stored_files import Storage, read_whole, write_once
from jobs.warehouses.delta_tables import sequence_of
from jobs.warehouses.failpoints import FAILPOINTS, VARIABLE
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.mini_hdfs import MiniHdfs, mini_hdfs
from tests.faults.forked_runs import WITHOUT_SPARK, ForkedRuns, forked_runs
from tests.faults.killed_runs import AUDIT, JOBS, Undisturbed, check_like, impatient, put

pytestmark = pytest.mark.spark

# Far above the time of a request here, whatever else the machine does.
ANSWER_SECONDS = 5
# Of a run, which would else wait for ever.
MOST_SECONDS = 300
REMEDY = "check that it runs, then run it again (a server that is only slow: raise [storage] answer_seconds)"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniHdfs]:
    """Of this file alone."""
    with mini_hdfs(tmp_path_factory.mktemp("hangs") / "cluster") as started:
        yield started


LARGE = bytes(range(256)) * (3 << 12)


def nothing(_: Storage) -> None: ...


def written(storage: Storage, data: bytes) -> object:
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
def test_a_request_without_an_answer_is_told_and_the_next_goes_on(cluster: MiniHdfs, name: str) -> None:
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


def test_a_file_that_nobody_finished_is_freed_without_a_request(cluster: MiniHdfs) -> None:
    """Python frees it on whatever thread it likes, which would wait there."""
    storage = HdfsStorage(f"{cluster.uri}/{uuid.uuid4().hex}/w", StorageOptions())
    files = [storage.create("f")]
    with cluster.hanging():
        files.clear()
        gc.collect()
        # Who waits for an answer gets it, from a cluster that goes on after a while.
        assert cluster.is_stopped()


@pytest.fixture(scope="module")
def runs() -> Iterator[ForkedRuns]:
    with forked_runs(WITHOUT_SPARK) as started:
        yield started


@pytest.fixture(scope="module")
def runs_of_both() -> Iterator[ForkedRuns]:
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
    def place(self) -> str:
        return f"{self.cluster.uri}{self.folder}/w"

    @property
    def storage(self) -> Storage:
        return storage_at(self.place, StorageOptions())

    def words(self, answer_seconds: int) -> list[str]:
        own = self.undisturbed.words(self.job, is_later=self.is_later)
        return impatient([self.job, "--warehouse", self.place, *own], self.folder, answer_seconds)

    def begin(self) -> None:
        self.folder.mkdir()
        if (before := self.undisturbed.before(self.job, is_later=self.is_later)) is not None:
            put(before, self.storage, self.folder / "put")
        wait_for_closes()

    def at_point(self, point: str) -> None:
        process = self.cluster.process
        assert process is not None
        try:
            code = self.run_once({VARIABLE: point}, ends=process.pid, by=signal.SIGSTOP)
        finally:
            self.cluster.send(signal.SIGCONT)
        # Of some steps nothing follows that needs an answer.
        self.check_told(code, point)

    def at_instant(self, chance: random.Random) -> None:
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

    def run_once(self, environment: dict[str, str], **how: int) -> int:
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

    def check_told(self, code: int, when: str) -> None:
        if code == ExitCode.CLEAN:
            return
        assert code == ExitCode.UNUSABLE_WAREHOUSE, (self.job, self.is_later, self.engine, when)
        message = json.loads((self.folder / "result.json").read_text())["message"]
        about = f"{self.job} {self.is_later} {self.engine} {when}: {message}"
        told = f"no answer from the server for {ANSWER_SECONDS} s: {REMEDY}"
        assert message.startswith("hdfs://") and message.endswith(told), about

    def finish(self) -> None:
        assert self.runs.run(self.words(MOST_SECONDS), {VARIABLE: ""}) == ExitCode.CLEAN
        check_like(self.storage, self.folder / "copy", self.undisturbed.after(self.job, is_later=self.is_later))


@pytest.mark.drawn_together(1)
def test_the_run_after_one_whose_servers_hung_at_some_step_goes_on(
    cluster: MiniHdfs, runs: ForkedRuns, undisturbed: Undisturbed, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    job, is_later = chance.choice(JOBS), chance.random() < 0.5
    run = Hanging(cluster, runs, undisturbed, tmp_path / "run", job, is_later)
    run.begin()
    # The gate has no tasks, which are what passes the first step.
    run.at_point(chance.choice(FAILPOINTS[1:]))
    run.finish()


@pytest.mark.drawn_together(1)
def test_the_audit_after_one_whose_servers_hung_at_some_instant_goes_on(
    cluster: MiniHdfs, runs: ForkedRuns, undisturbed: Undisturbed, tmp_path: Path, seed: int
) -> None:
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
    cluster: MiniHdfs,
    runs: ForkedRuns,
    undisturbed: Undisturbed,
    tmp_path: Path,
    point: str,
    job: str,
    is_later: bool,
) -> None:
    if (job, point) != (JOBS[-1], FAILPOINTS[0]):
        run = Hanging(cluster, runs, undisturbed, tmp_path / "run", job, is_later)
        run.begin()
        run.at_point(point)
        run.finish()


@pytest.mark.soak
@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_audits_after_those_whose_servers_hung_at_many_instants_go_on(
    cluster: MiniHdfs,
    runs_of_both: ForkedRuns,
    undisturbed: Undisturbed,
    tmp_path: Path,
    engine: str,
    is_later: bool,
    seed: int,
) -> None:
    chance = random.Random(f"{seed} {engine} {is_later}")
    for number in range(5):
        run = Hanging(cluster, runs_of_both, undisturbed, tmp_path / str(number), AUDIT, is_later, engine)
        run.begin()
        run.at_instant(chance)
        run.finish()
