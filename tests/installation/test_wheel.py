"""The wheel, and the local engine alone: everything but Spark works, and what needs Spark says so in one line."""

import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.installation.local_alone import ROOT, SAMPLE, Installed, built_wheel, check_commands, make
from tests.once_a_run import once_a_run

# In one process: each would load for seconds.
MANY = """
import sys
from jobs import cli
for line in sys.stdin.read().splitlines():
    print(line, cli.main(line.split()), file=sys.stderr)
"""
READERS = f"""\
groups
describe classic-killed
rebalances classic-killed
owner payments 0 --at 2026-11-21T17:37
diff classic-killed --from 2026-11-21T17:36:30 --to 2026-11-21T17:37
offsets classic-killed --at 2026-11-21T17:36:38
whatif classic-killed
partition classic-killed
sql SELECT(1)
doctor
gate --fail-on never
maintain --keep 400d
dump --type GroupMetadata {SAMPLE}/__consumer_offsets-0/00000000000000000000.log
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return next(once_a_run(tmp_path_factory, "wheel", built_wheel).glob("*.whl"))


@pytest.fixture(scope="module")
def local(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    return make(folder / "environment", wheel)


def test_the_wheel_has_all_that_the_tree_has_of_the_product_and_the_same_bytes_again(wheel, tmp_path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
        (about,) = (name for name in opened.namelist() if name.endswith("METADATA"))
        metadata = opened.read(about).decode()
    tracked = subprocess.run(
        ["git", "ls-files", "jobs", "schemas", "udfs"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode == 0:
        assert names == {name for name in tracked.stdout.splitlines() if (ROOT / name).is_file()}
    assert {Path(name).suffix for name in names} >= {".py", ".sql", ".tables", ".json", ".html", ".css", ".js"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert all(f"Requires-Dist: {each}\n" in metadata for each in project["dependencies"])
    assert "Requires-Python: >=3.11\n" in metadata and "Provides-Extra: local\n" in metadata
    assert built_wheel(tmp_path).read_bytes() == wheel.read_bytes()


def test_the_local_engine_alone_audits_and_answers(local, tmp_path) -> None:
    groupscope = Installed(tmp_path, local, "-m", "jobs.cli", GROUPSCOPE_CACHE=str(cache_of_tests()))
    check_commands(groupscope)
    done = subprocess.run(
        [local, "-c", MANY], input=READERS, cwd=tmp_path, env=groupscope.environment, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    ended = [line for line in done.stderr.splitlines() if line.rpartition(" ")[0] in READERS.splitlines()]
    assert ended == [f"{line} 0" for line in READERS.splitlines()], done.stderr
    why = f"groupscope: this needs Spark, and pyspark is not installed with {local}: use --engine local if the input "
    why += "is no archive, or install Groupscope with Spark\n"
    (tmp_path / "archive.jsonl").write_text("{}\n")
    for words in (
        ["audit", "--source", f"segments:{SAMPLE}", "--engine", "spark"],
        ["sql", "--engine", "spark", "SELECT 1"],
        ["ingest", "--source", "records:archive.jsonl"],
    ):
        done = groupscope.run(*words)
        assert (done.returncode, done.stderr) == (2, why), words


def cache_of_tests() -> Path:
    from jobs.spark.cache_folder import cache_folder

    return cache_folder()
