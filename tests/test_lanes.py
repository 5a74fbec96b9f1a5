"""A process that dies during a test fails that test alone, and the run ends. Files with a Spark session share two
processes, and those that wait have processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tests.lanes
from tests.lanes import COMPUTES, SPARK, WAITS, expected_seconds, lane_of, lanes

DIES = "import os, signal\ndef test_dies(): os.kill(os.getpid(), signal.SIGKILL)\n"
PASSES = "def test_passes(): pass\n"
# Which process runs them.
ALONE = "import os\ndef test_process(): open(__file__ + '.ran', 'w').write(os.environ['PYTEST_XDIST_WORKER'])\n"
WITH_SPARK = f"def session({SPARK}): pass\n{ALONE}"
# The third process, which starts in the place of a dead one, says that it collects and is slow; a test dies meanwhile.
COLLECTS_SLOWLY = """import os, pathlib, time
COLLECTING = pathlib.Path(__file__).with_name("collecting")
if os.environ["PYTEST_XDIST_WORKER"] == "gw2":
    COLLECTING.touch()
    time.sleep(2)
"""
DIES_MEANWHILE = f"""{COLLECTS_SLOWLY}
def test_dies():
    while not COLLECTING.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), 9)
"""
ALSO_PASSES = "def test_also_passes(): pass\n"
SECONDS = 60.0


def ended(folder, files, processes):
    for number, text in enumerate(files):
        (folder / f"test_{number}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.lanes", "-n", str(processes)]
    command += ["--dist", "loadfile", "--no-loadscope-reorder", "--rootdir", str(folder), "."]
    root = Path(__file__).parents[1]
    apart = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    apart["PYTHONPATH"] = str(root)
    return subprocess.run(command, cwd=folder, env=apart, capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "files",
    [
        # Its finished files, more of them than others have tests left.
        pytest.param([PASSES] * 6 + [PASSES + DIES], id="in its last file"),
        pytest.param([PASSES + DIES + ALSO_PASSES, PASSES, PASSES, PASSES], id="in its first file"),
        pytest.param([DIES, PASSES], id="before the one test left"),
        pytest.param([PASSES, DIES], id="in the last test"),
    ],
)
@pytest.mark.parametrize("processes", [1, 2])
def test_a_process_that_dies_fails_one_test(files, processes, tmp_path):
    run = ended(tmp_path, files, processes)
    passed = sum(text.count("passes()") for text in files)
    assert run.stdout.splitlines()[-1].startswith(f"1 failed, {passed} passed"), run.stdout + run.stderr


def test_each_of_many_deaths_fails_its_test(tmp_path):
    run = ended(tmp_path, [DIES, PASSES, DIES + PASSES, PASSES, PASSES + DIES], 2)
    assert run.stdout.splitlines()[-1].startswith("3 failed, 4 passed"), run.stdout + run.stderr


def test_a_process_may_die_while_another_one_starts(tmp_path):
    run = ended(tmp_path, [DIES, DIES_MEANWHILE + PASSES, PASSES, PASSES], 2)
    assert run.stdout.splitlines()[-1].startswith("2 failed, 3 passed"), run.stdout + run.stderr


def test_files_with_a_session_of_spark_go_to_half_of_the_processes_and_to_two_of_many(tmp_path):
    run = ended(tmp_path, [ALONE, ALONE, WITH_SPARK, WITH_SPARK], 2)
    processes = [(tmp_path / f"test_{number}.py.ran").read_text() for number in range(4)]
    alone, spark = set(processes[:2]), set(processes[2:])
    assert len(alone) == len(spark) == 1 and alone != spark, run.stdout + run.stderr
    run = ended(tmp_path, [WITH_SPARK] * 4, 4)
    assert run.stdout.splitlines()[-1].startswith("4 passed"), run.stdout + run.stderr
    assert len({(tmp_path / f"test_{number}.py.ran").read_text() for number in range(4)}) == 2


def test_of_many_processes_some_are_for_files_that_wait():
    assert lanes(1) == [SPARK]
    assert lanes(3) == [SPARK, SPARK, COMPUTES]
    assert lanes(4) == [SPARK, SPARK, COMPUTES, WAITS]
    assert lanes(5) == [SPARK, SPARK, COMPUTES, WAITS, WAITS]


def test_a_file_has_a_lane_by_what_it_names_and_by_how_it_ran(monkeypatch, tmp_path):
    known = {"slept": (60.0, 5.0), "computed": (60.0, 40.0), "session": (60.0, 2.0)}
    seen = {file: {"seconds": each, "processor_seconds": cpu} for file, (each, cpu) in known.items()}
    monkeypatch.setattr(tests.lanes, "durations", lambda path: seen)
    texts = {
        "slept": "",
        "computed": "",
        "session": f"def test(here, {SPARK}: object): pass",
        "new": "pytest.mark.spark",
        "broker": "pytest.mark.broker",
    }
    for file, text in texts.items():
        (tmp_path / file).write_text(text)
    expected = {"slept": WAITS, "computed": COMPUTES, "session": SPARK, "new": COMPUTES, "broker": WAITS}
    assert {file: lane_of(file, tmp_path) for file in texts} == expected
    assert [expected_seconds(file, tmp_path) for file in ("slept", "new", "broker")] == [60, 30, 30]


def test_a_process_takes_the_files_that_are_left(tmp_path):
    run = ended(tmp_path, [PASSES] * 9, 2)
    assert run.stdout.splitlines()[-1].startswith("9 passed"), run.stdout + run.stderr
