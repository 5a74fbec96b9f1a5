"""A warehouse that may only be read from a named step of a run on: the run says so in one line, readers see what the
last finished run left, and the next run that may write again leaves what an undisturbed one would."""

import random
import subprocess
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hdfs_native import Client

from jobs import cli
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from jobs.storage.stored_files import Storage
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import fetched
from tests.builders.storages.s3_server import options_for, proxy
from tests.faults.at_steps import DONE, at
from tests.faults.killed_runs import JOBS, TABLES_OF_JOBS, Undisturbed, check_like, impatient, put, short_locks
from tests.runs.ingested import history, versions
from tests.runs.refused import mounted
from tests.runs.replayed_logs import assert_same, row_texts

Capture = pytest.CaptureFixture[str]
# The mini cluster's administrator is whoever started it, whom it refuses nothing.
USER = "analyst"
OPEN, LOCKED = 0o755, 0o555
ANSWER_SECONDS = 61
ROOM = str(64 << 20)


@dataclass(frozen=True)
class Place:
    """`refused`: what a line about it says."""

    storage: Storage
    refuse: Callable[[], None]
    allow: Callable[[], None]
    refused: str
    # Of whoever runs the command.
    environment: Mapping[str, str] = field(default_factory=dict)


def local_place(folder, stack):
    """A second mount over the first one: a file system that a run writes to cannot be made read-only."""
    place = folder / "w"
    mounts = []

    def refuse():
        for flags in (["--bind", str(place), str(place)], ["-o", "remount,bind,ro", str(place)]):
            subprocess.run(["mount", *flags], check=True)
            mounts.append(place)

    def allow():
        if mounts:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
            mounts.clear()

    stack.callback(allow)
    return Place(storage_at(str(place), StorageOptions()), refuse, allow, "Read-only file system")


def s3_place(url, stack):
    """Whose rules let everybody read."""
    proxied, behaviour = stack.enter_context(proxy(url))
    environment = {name.upper(): value for name, value in options_for(proxied).values}
    storage = storage_at(f"s3://bucket/{uuid.uuid4().hex}/w", options_for(url))
    behaviour.may_read = True

    def answer(what):
        return lambda: setattr(behaviour, "always", what)

    return Place(storage, answer("403"), answer("pass"), "permission denied (403 Forbidden", environment)


def hdfs_place(uri):
    """Of a user whom the administrator takes the right to write from."""
    root = f"/{uuid.uuid4().hex}"
    administrator = Client(uri)
    administrator.mkdirs(f"{root}/w", create_parent=True)

    def permit(mode):
        def change():
            for path in [root, *(each.path for each in administrator.list_status(root, True) if each.isdir)]:
                administrator.set_owner(path, USER)
                administrator.set_permission(path, mode)

        return change

    storage = storage_at(f"{uri}{root}/w", StorageOptions())
    return Place(storage, permit(LOCKED), permit(OPEN), "permission denied", {"HADOOP_USER_NAME": USER})


@pytest.fixture(params=["local", "s3", pytest.param("hdfs", marks=pytest.mark.spark)])
def place(request, tmp_path):
    with ExitStack() as stack:
        if request.param == "local":
            with mounted(tmp_path / "disk", ROOM) as disk:
                yield local_place(disk, stack)
                stack.close()
        elif request.param == "s3":
            yield s3_place(request.getfixturevalue("s3"), stack)
        else:
            yield hdfs_place(request.getfixturevalue("hdfs"))


@dataclass(frozen=True)
class Refused:
    """Later runs of a job in a place that refuses to be written to."""

    undisturbed: Undisturbed
    place: Place
    folder: Path
    job: str

    @property
    def before(self):
        before = self.undisturbed.before(self.job, is_later=True)
        assert before is not None
        return before

    @property
    def after(self):
        return self.undisturbed.after(self.job, is_later=True)

    def run(self):
        words = [self.job, "--warehouse", self.place.storage.place, *self.undisturbed.words(self.job, is_later=True)]
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.place.environment.items():
                patch.setenv(name, value)
            with short_locks():
                # Another client than the one that tests look with, who is another user.
                return cli.main(impatient(words, self.folder, ANSWER_SECONDS))

    def check(self, point, capfd):
        self.folder.mkdir()
        for file in list(self.place.storage.list()):
            self.place.storage.delete(file.name)
        put(self.before, self.place.storage, self.folder / "put")
        self.place.allow()
        capfd.readouterr()
        with at(point, self.place.refuse):
            code = self.run()
        self.check_told(code, capfd.readouterr().err.splitlines(), is_done=point in DONE)
        self.check_seen(self.after if point in DONE else self.before)
        self.place.allow()
        assert self.run() == ExitCode.CLEAN, capfd.readouterr().err
        check_like(self.place.storage, self.folder / "copy", self.after)

    def check_told(self, code, lines, *, is_done):
        """A run that is done may have to leave its manifest there."""
        if is_done and code == ExitCode.CLEAN:
            assert not lines
            return
        assert code == ExitCode.UNUSABLE_WAREHOUSE, lines
        (line,) = lines
        assert line.startswith("groupscope: ") and self.place.storage.place in line and self.place.refused in line

    def check_seen(self, expected):
        """By readers, who may read."""
        seen = fetched(self.place.storage, "", self.folder / "seen")
        assert versions(seen) == versions(expected)
        assert history(seen) == history(expected)
        made = [name for name in TABLES_OF_JOBS if (expected / TABLES[name].folder).exists()]
        assert_same(row_texts(expected, made), row_texts(seen, made), str(expected))


def test_a_warehouse_that_may_only_be_read_from_some_step_on(undisturbed, place, tmp_path, capfd, seed):
    chance = random.Random(f"{seed} {place.refused}")
    job = chance.choice(JOBS)
    Refused(undisturbed, place, tmp_path / job, job).check(chance.choice(undisturbed.points(job, is_later=True)), capfd)


@pytest.mark.soak
@pytest.mark.parametrize("job", JOBS)
def test_a_warehouse_that_may_only_be_read_from_any_step_on(undisturbed, place, tmp_path, capfd, job):
    for number, point in enumerate(undisturbed.points(job, is_later=True)):
        Refused(undisturbed, place, tmp_path / str(number), job).check(point, capfd)
