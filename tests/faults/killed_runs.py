"""Runs of every job that are killed or lose their storage, and what an undisturbed run leaves.

A log is read twice: when it had half of its batches, and whole. So a run makes tables, and a later one changes them."""

import random
import shutil
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage import storage_lock
from jobs.storage.failpoints import FAILPOINTS
from jobs.storage.kernel_lock import LOCK_FILE
from jobs.storage.places.addresses import storage_at
from jobs.warehouses.manifest import RUNS_FOLDER
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import copied, fetched
from tests.builders.storages.s3_server import Misbehaviour, options_for, proxy
from tests.faults.forked_runs import BEAT_SECONDS
from tests.runs.ingested import ROOT, history, versions
from tests.runs.replayed_logs import (
    ASSIGNMENTS,
    GATED,
    HISTORY,
    MEASURED,
    STATES,
    assert_same,
    batch_ends,
    row_texts,
    write_part,
)

# In the order in which they run.
JOBS = ["ingest", "replay", "assignments", "lag", "gate"]
AUDIT = "audit"
SAMPLE = ROOT / "data" / "sample"
SNAPSHOTS = SAMPLE / "snapshots.jsonl"
# With classic, consumer and share groups.
FOLDERS = ("__consumer_offsets-2", "__consumer_offsets-4")
TABLES_OF_JOBS = (*HISTORY, *STATES, *ASSIGNMENTS, *MEASURED, *GATED)


@dataclass(frozen=True)
class Undisturbed:
    """Warehouses on a local disk, after each job of the first and of the later audit."""

    folder: Path
    seconds: dict[bool, float] = field(default_factory=dict)

    def log(self, *, is_later):
        return self.folder / ("whole" if is_later else "half")

    def after(self, job, *, is_later):
        return self.folder / f"{JOBS[-1] if job == AUDIT else job}-{is_later:d}" / "w"

    def before(self, job, *, is_later):
        number = 0 if job == AUDIT else JOBS.index(job)
        if number:
            return self.after(JOBS[number - 1], is_later=is_later)
        return self.after(JOBS[-1], is_later=False) if is_later else None

    def words(self, job, *, is_later):
        source = ["--source", f"segments:{self.log(is_later=is_later)}", "--snapshots", str(SNAPSHOTS)]
        # Otherwise verdicts would depend on the hour of the test.
        gate = ["--config", str(ROOT / "conf" / "sample.toml"), "--fail-on", "never"]
        return {"ingest": source, "gate": gate, AUDIT: [*source, *gate]}.get(job, [])

    def points(self, job, *, is_later):
        """The named steps of every job, and the commit of each table that this one changes."""
        before = self.before(job, is_later=is_later)
        old, new = {} if before is None else versions(before), versions(self.after(job, is_later=is_later))
        changed = [folder.rpartition("/")[2] for folder, version in new.items() if old.get(folder) != version]
        # The gate has no tasks, which are what passes the first one.
        steps = FAILPOINTS[1:] if job == "gate" else FAILPOINTS
        return [*steps, *(f"table_committed:{table}" for table in sorted(changed))]

    def make(self):
        self.write_logs()
        for is_later in (False, True):
            begun = time.monotonic()
            for job in JOBS:
                warehouse, before = self.after(job, is_later=is_later), self.before(job, is_later=is_later)
                if before is not None:
                    shutil.copytree(before, warehouse)
                words = [job, "--warehouse", str(warehouse), *self.words(job, is_later=is_later)]
                assert cli.main(words) == ExitCode.CLEAN
            self.seconds[is_later] = time.monotonic() - begun

    def write_logs(self):
        whole, half = self.log(is_later=True), self.log(is_later=False)
        batches = {}
        for folder in FOLDERS:
            shutil.copytree(SAMPLE / folder, whole / folder)
            batches[folder] = sum(len(batch_ends(segment.read_bytes())) for segment in (whole / folder).glob("*.log"))
        write_part(whole, half, {folder: number // 2 for folder, number in batches.items()})


def put(folder, storage, beside):
    """Without the lock of local disks, a file, where other storages have a folder."""
    copied(shutil.copytree(folder, beside, ignore=shutil.ignore_patterns(LOCK_FILE)), storage, "")


def impatient(words, folder, seconds):
    """The same command, which gives HDFS so much time for an answer. `folder`: for its settings."""
    config = folder / "impatient.toml"
    own = Path(words[words.index("--config") + 1]).read_text() if "--config" in words else ""
    config.write_text(f"{own}\n[storage]\nanswer_seconds = {seconds}\n")
    return [*words, "--config", str(config)]


@contextmanager
def short_locks():
    """The lock of a dead run is taken over after a few beats."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage_lock, "BEAT_SECONDS", BEAT_SECONDS)
        yield


def check_like(storage, copy, whole):
    fetched(storage, "", copy)
    assert cli.main(["doctor", "--warehouse", str(copy)]) == ExitCode.CLEAN
    assert versions(copy).keys() == versions(whole).keys()
    assert history(copy) == history(whole)
    made = [name for name in TABLES_OF_JOBS if (whole / TABLES[name].folder).exists()]
    assert_same(row_texts(whole, made), row_texts(copy, made), str(copy))
    assert [path.name for path in (copy / RUNS_FOLDER).iterdir() if not path.name.endswith("Z.json")] == []


@dataclass(frozen=True)
class DisturbedRuns:
    """Runs on a server of objects that misbehaves before them. `s3`: the server as it is without that."""

    s3: str
    behaviour: Misbehaviour
    undisturbed: Undisturbed
    folder: Path
    chance: random.Random
    capfd: pytest.CaptureFixture[str]

    def stored_before(self, job, *, is_later, beside):
        """A place of its own, with the warehouse as it is before the run."""
        storage = storage_at(f"s3://bucket/{uuid.uuid4().hex}/w", options_for(self.s3))
        beside.mkdir()
        if (before := self.undisturbed.before(job, is_later=is_later)) is not None:
            put(before, storage, beside / "put")
        return storage

    def run(self, words):
        """The exit code, and the lines about what went wrong."""
        self.capfd.readouterr()
        code = cli.main([*words])
        return code, self.capfd.readouterr().err.splitlines()

    def end_well(self, words, code, lines, about):
        """The run ended well, or with one line. The server is as it should be now, and so is the next run."""
        if code != ExitCode.CLEAN:
            assert code == ExitCode.UNUSABLE_WAREHOUSE, (about, lines)
            assert len(lines) == 1 and lines[0].startswith("groupscope: s3://"), (about, lines)
        self.behaviour.next, self.behaviour.always = [], "pass"
        assert cli.main([*words]) == ExitCode.CLEAN, about


@contextmanager
def disturbed_runs(s3, undisturbed, folder, seed, capfd):
    with proxy(s3) as (url, behaviour), short_locks(), pytest.MonkeyPatch.context() as patch:
        for name, value in options_for(url).values:
            patch.setenv(name.upper(), value)
        yield DisturbedRuns(s3, behaviour, undisturbed, folder, random.Random(seed), capfd)
