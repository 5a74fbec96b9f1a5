"""A disk that is full from a named step of a run on, or that has too little room: the run says so in one line, readers
see what the last run left, and with room again the next run leaves what an undisturbed one would."""

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage.failpoints import FAILPOINTS
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from schemas.words.exit_codes import ExitCode
from tests.faults.at_steps import DONE, at
from tests.faults.killed_runs import AUDIT, JOBS, TABLES_OF_JOBS, Undisturbed, check_like
from tests.runs.ingested import history, versions
from tests.runs.refused import fill, mounted
from tests.runs.replayed_logs import row_texts

Capture = pytest.CaptureFixture[str]
ROOM = 24 << 20
# Enough for a row that says what could not be written, and not for a report.
SPARE = 64 << 10


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    with mounted(tmp_path_factory.mktemp("small") / "disk", str(ROOM)) as folder:
        yield folder


@pytest.fixture
def chance(seed, request):
    """Other numbers for each test."""
    return random.Random(f"{seed} {request.node.name}")


@dataclass(frozen=True)
class Filled:
    """Later runs of a job in a warehouse on a small disk."""

    undisturbed: Undisturbed
    disk: Path
    job: str

    def begin(self):
        shutil.rmtree(self.warehouse, ignore_errors=True)
        before = self.undisturbed.before(self.job, is_later=True)
        assert before is not None
        shutil.copytree(before, self.warehouse)
        return before

    @property
    def warehouse(self):
        return self.disk / "w"

    @property
    def filler(self):
        return self.disk / "filler"

    def run(self):
        words = [self.job, "--warehouse", str(self.warehouse), *self.undisturbed.words(self.job, is_later=True)]
        return cli.main(words)

    def fill(self, spare=0):
        fill(self.filler, shutil.disk_usage(self.disk).free - spare)

    def check_refused(self, code, lines, before):
        assert code == ExitCode.UNUSABLE_WAREHOUSE, lines
        (line,) = lines
        assert "No space left on device" in line and str(self.warehouse) in line and line.isprintable()
        assert versions(self.warehouse) == versions(before)
        assert history(self.warehouse) == history(before)
        assert row_texts(self.warehouse, TABLES_OF_JOBS) == row_texts(before, TABLES_OF_JOBS)

    def finish(self, folder):
        self.filler.unlink(missing_ok=True)
        assert self.run() == ExitCode.CLEAN
        whole = self.undisturbed.after(self.job, is_later=True)
        check_like(storage_at(str(self.warehouse), StorageOptions()), folder / "copy", whole)


@pytest.fixture
def filled(undisturbed, disk):
    made = []

    def of(job):
        made.append(Filled(undisturbed, disk, job))
        return made[-1]

    yield of
    for each in made:
        each.filler.unlink(missing_ok=True)


def fill_at(run, point, capsys, folder):
    before = run.begin()
    capsys.readouterr()
    with at(point, run.fill):
        code = run.run()
    lines = capsys.readouterr().err.splitlines()
    if point in DONE and code == ExitCode.CLEAN:
        assert not lines
    else:
        run.check_refused(code, lines, before)
    run.finish(folder)


def steps(undisturbed, job):
    return undisturbed.points(job, is_later=True)


def test_a_disk_that_is_full_from_some_step_on(filled, undisturbed, tmp_path, capsys, chance):
    for job in chance.sample(JOBS, 2):
        fill_at(filled(job), chance.choice(steps(undisturbed, job)), capsys, tmp_path / job)


def audit(undisturbed, disk, *flags):
    words = [word for word in undisturbed.words(AUDIT, is_later=True) if word not in ("--fail-on", "never")]
    return cli.main([AUDIT, "--warehouse", f"{disk}/w", "--report", f"{disk}/r", *words, *flags])


@pytest.mark.drawn(1)
@pytest.mark.parametrize("step", ["drawn", "report"])
def test_an_audit_on_a_disk_that_fills_ends_with_the_code_that_it_prints(undisturbed, disk, capfd, chance, step):
    filler = disk / "filler"
    # Of five jobs, and after the last of them comes the report.
    point, number = ("manifest_removed", 5) if step == "report" else (chance.choice(FAILPOINTS), chance.randint(1, 5))
    for name in ("w", "r"):
        shutil.rmtree(disk / name, ignore_errors=True)
    shutil.copytree(undisturbed.before(AUDIT, is_later=True), disk / "w")
    capfd.readouterr()
    with at(point, lambda: fill(filler, shutil.disk_usage(disk).free - SPARE), number):
        code = audit(undisturbed, disk)
    filler.unlink()
    said = capfd.readouterr()
    if not said.out:
        (line,) = said.err.splitlines()
        assert code == ExitCode.UNUSABLE_WAREHOUSE and "No space left on device" in line and step != "report"
    else:
        assert code == ExitCode.FINDINGS and said.out.startswith("FINDINGS, exit code 20: ")
    # With room again all is written, and what was not is said.
    assert audit(undisturbed, disk, "--verbose") == ExitCode.FINDINGS
    after = capfd.readouterr().out
    is_failed = "\ncritical  report not written: " in said.out
    assert is_failed or step != "report"
    assert ("(report_failed): 1\n" in after) == (is_failed and "the next run cannot know" not in said.out)
    assert (disk / "r" / "index.html").is_file()


@pytest.mark.soak
@pytest.mark.parametrize("job", JOBS)
def test_a_disk_that_is_full_from_any_step_on(filled, undisturbed, tmp_path, capsys, job):
    for point in steps(undisturbed, job):
        fill_at(filled(job), point, capsys, tmp_path / point)
