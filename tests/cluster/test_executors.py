"""Executors that lack something, or do not see the warehouse, end a run with one line before anything is written."""

import json
import shutil
import socket
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs.engine.executors import check_executors, check_written
from jobs.output.failure import Failure
from jobs.warehouses.delta_tables import DataFile
from schemas.words.exit_codes import ExitCode
from tests.cluster.zip_alone import SETTINGS, Elsewhere, elsewhere
from tests.runs.ingested import ROOT, history, ingest

__all__ = ["elsewhere"]

pytestmark = pytest.mark.spark

CLUSTER = {
    **SETTINGS,
    "spark.master": "local-cluster[2,1,1024]",
    # A second chance is enough to see that a task may have one.
    "spark.task.maxFailures": "2",
    "spark.stage.maxConsecutiveAttempts": "2",
}
SAMPLE = f"segments:{ROOT / 'data' / 'sample' / '__consumer_offsets-[03]'}"
ENVIRONMENT = (
    "Ship one environment to all hosts: PYSPARK_PYTHON=./environment/bin/python spark-submit "
    "--archives environment.tar.gz#environment …"
)
DRIVER = f"{sys.version_info.major}.{sys.version_info.minor}"
# No release that the project runs on; a Python of that release need not be on this machine.
OTHER_PYTHON = """
import sys
sys.version_info = type("Version", (tuple,), {"major": 3, "minor": 10, "micro": 0})((3, 10, 0, "final", 0))
"""
# It comes first and starts Spark. Others are made for tests of this run that ask for them.
FIRST = "no_project"
# Not commands: `executor_cases.py` has a function for each.
WITHOUT_WORDS = ("after_the_check", "late_no_numpy", "lost")
# A mount that only this process and its children see: as on another host.
HIDDEN = 'exec unshare -rm sh -c \'mount -t tmpfs tmpfs "$0" && exec "$@"\' "{folder}" '


@dataclass(frozen=True)
class Executors:
    """What a test may do to them."""

    elsewhere: Elsewhere
    folder: Path

    def python(self, name, start="exec ", **modules):
        """A Python that finds these modules first."""
        stubs = self.folder / name
        stubs.mkdir()
        for module, text in modules.items():
            (stubs / f"{module}.py").write_text(text)
        path = self.folder / f"{name}.sh"
        path.write_text(f'#!/bin/sh\nexport PYTHONPATH="{stubs}:$PYTHONPATH"\n{start}"{self.elsewhere.python}" "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def lacking(self, package):
        error = f"raise ModuleNotFoundError(\"No module named '{package}'\", name='{package}')\n"
        return self.python(f"no_{package}", **{package: error})


def can_hide():
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return shutil.which("unshare") is not None and subprocess.run(command, check=False).returncode == 0


@pytest.fixture(scope="module")
def outcomes(request, elsewhere, tmp_path_factory):
    """Of each case that a test of this run asks for its exit code, lines and warehouse."""
    folder = tmp_path_factory.mktemp("executors")
    made = Executors(elsewhere, folder)
    pythons = {
        "no_project": None,
        **{f"no_{name}": made.lacking(name) for name in ("google_crc32c", "numpy")},
        "other_python": made.python("other_python", sitecustomize=OTHER_PYTHON),
        "no_python": folder / "nowhere",
        "well": None,
        "after_the_check": None,
        "late_no_numpy": folder / "no_numpy.sh",
        "lost": None,
    }
    if can_hide():
        (folder / "unseen").mkdir()
        pythons["unseen"] = made.python("hidden", HIDDEN.format(folder=folder / "unseen"))
    pythons = {name: python for name, python in pythons.items() if name in {FIRST, *asked(request)}}
    cases = [
        {
            "name": name,
            "python": None if python is None else str(python),
            "ships_project": name != "no_project",
            "words": []
            if name in WITHOUT_WORDS
            else [
                "ingest",
                "--source",
                SAMPLE,
                "--warehouse",
                str(folder / name / "w"),
                "--engine",
                "spark",
                "--quiet",
            ],
        }
        for name, python in pythons.items()
    ]
    found = {}
    for name, each in zip(pythons, run_cases(elsewhere, folder, cases), strict=True):
        found[name] = {**each, "warehouse": folder / name / "w"}
    yield found


def asked(request):
    tests = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    return {item.callspec.params.get("case") for item in tests}


def run_cases(elsewhere, folder, cases):
    shutil.copy(Path(__file__).with_name("executor_cases.py"), elsewhere.folder)
    # Workers make their folders in it.
    home = folder / "spark"
    home.mkdir()
    for path in (elsewhere.folder / "packages" / "pyspark").iterdir():
        (home / path.name).symlink_to(path)
    environment = {**elsewhere.environment, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    place = Elsewhere(elsewhere.folder, elsewhere.python, environment, elsewhere.archive)
    answers = folder / "answers.json"
    done = place.submit_with(CLUSTER, (), "executor_cases.py", json.dumps(cases), str(elsewhere.archive), str(answers))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(answers.read_text())
    return found


def line_of(outcome, code):
    """The one line, without the name of the host that it names."""
    assert outcome["code"] == code, outcome
    (line,) = outcome["lines"]
    return str(line).removeprefix("groupscope: ").replace(socket.gethostname(), "HOST").replace("127.0.0.1", "HOST")


def check_untouched(outcome):
    """No task has run, and the next run finds what it would have found before: nothing."""
    assert not outcome["warehouse"].exists()


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("case", "line"),
    [
        (
            "no_project",
            "executors on HOST: the package jobs of groupscope is missing or of another release. "
            "Ship it: make dist, then spark-submit --py-files dist/groupscope-….zip …",
        ),
        ("no_google_crc32c", f"executors on HOST: the Python package google_crc32c is missing. {ENVIRONMENT}"),
        ("no_numpy", f"executors on HOST: the Python package numpy is missing. {ENVIRONMENT}"),
        (
            "other_python",
            f"executors run Python 3.10, the driver {DRIVER}; both must run the same minor version. {ENVIRONMENT}",
        ),
        ("no_python", f"executors on HOST: Python cannot be started as NOWHERE. {ENVIRONMENT}"),
    ],
)
def test_executors_that_lack_something_are_noticed_before_the_first_task(outcomes, case, line):
    nowhere = str(outcomes[case]["warehouse"].parents[1] / "nowhere")
    assert line_of(outcomes[case], ExitCode.USAGE) == line.replace("NOWHERE", nowhere)
    check_untouched(outcomes[case])


@pytest.mark.drawn_together(1)
@pytest.mark.parametrize("case", ["late_no_numpy"])
def test_a_package_that_is_missing_on_an_executor_that_starts_later_is_reported_by_its_task(outcomes, case):
    line = line_of(outcomes[case], ExitCode.USAGE)
    assert line == f"executors: the Python package numpy is missing. {ENVIRONMENT}"


@pytest.mark.drawn_together(1)
@pytest.mark.parametrize("case", ["unseen"])
def test_a_warehouse_that_executors_do_not_see_cannot_be_used(outcomes, case):
    if case not in outcomes:
        pytest.skip("nothing here hides a folder from a process")
    line = line_of(outcomes[case], ExitCode.UNUSABLE_WAREHOUSE)
    told = (
        "executors on HOST cannot write to this folder, which is on the driver HOST. Use a folder that all "
        "hosts share, or s3://"
    )
    assert line.startswith(f"{outcomes[case]['warehouse']}: {told}")
    check_untouched(outcomes[case])


@pytest.mark.parametrize("case", ["well"])
def test_executors_in_processes_of_their_own_make_what_one_process_makes(outcomes, case, tmp_path):
    assert outcomes[case]["code"] == ExitCode.CLEAN
    ingest(tmp_path / "here", "--source", SAMPLE)
    assert history(outcomes[case]["warehouse"]) == history(tmp_path / "here")
    assert not list(outcomes[case]["warehouse"].glob("_warehouse.json?*"))


@pytest.mark.drawn_together(1)
@pytest.mark.parametrize("case", ["after_the_check"])
def test_tasks_run_in_the_python_workers_that_the_check_has_started(outcomes, case):
    """Others would start first and import everything again, which takes seconds."""
    assert outcomes[case]["code"] == ExitCode.CLEAN, outcomes[case]["lines"]


@pytest.mark.drawn_together(1)
@pytest.mark.parametrize("case", ["lost"])
def test_an_executor_that_is_lost_again_and_again_ends_the_run_with_a_line_that_names_the_offsets_partition(
    outcomes, case
):
    """With it what other tasks were to fetch from it: Spark does not say which task it was."""
    why = "ended: somebody killed it, or memory ran out; more spark.executor.memoryOverhead may help"
    line = line_of(outcomes[case], ExitCode.FAILED).replace(" on HOST", "")
    assert line == f"offsets partition 1: the worker process {why}; the run wrote nothing to the tables"


def test_a_folder_of_another_host_at_the_same_path_is_noticed_by_the_files_that_are_not_there(tmp_path):
    seen = DataFile("part-1.parquet", 1, 1, "{}")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "part-1.parquet").touch()
    check_written(tmp_path, [("runs", seen)])
    check_written(None, [("runs", DataFile("part-2.parquet", 1, 1, "{}"))])
    with pytest.raises(Failure, match=r"executors wrote runs/part-2\.parquet, which .* does not see") as raised:
        check_written(tmp_path, [("runs", seen), ("runs", DataFile("part-2.parquet", 1, 1, "{}"))])
    assert raised.value.code == ExitCode.UNUSABLE_WAREHOUSE


def test_a_session_inside_the_driver_is_not_probed(spark, tmp_path):
    tracker = spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup())
    check_executors(spark, tmp_path / "nowhere")
    assert len(tracker.getJobIdsForGroup()) == before
