"""The zip for spark-submit."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def dist():
    spec = importlib.util.spec_from_file_location("dist", ROOT / ".ci" / "dist.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_two_packings_give_the_same_bytes_and_hold_the_packages_alone(dist, tmp_path):
    first, second = dist.pack(ROOT, tmp_path / "a"), dist.pack(ROOT, tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert {name.split("/")[0] for name in names} == {"jobs", "schemas", "udfs"}
    assert "jobs/spark/java.py" in names
    assert not [name for name in names if "__pycache__" in name]


def test_python_imports_from_the_zip(dist, tmp_path):
    archive = dist.pack(ROOT, tmp_path / "dist")
    program = "import schemas, udfs, jobs.spark.cache_folder as c; print(c.__file__)"
    told = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.startswith(str(archive))


def test_help_is_read_from_the_zip(dist, tmp_path):
    archive = dist.pack(ROOT, tmp_path / "dist")
    environment = os.environ | {"PYTHONPATH": str(archive), "COLUMNS": "80"}
    command = [sys.executable, "-m", "jobs.cli", "help", "why"]
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    read = (ROOT / "tests" / "terminals" / "golden" / "help-why.txt").read_text()
    assert read == f"$ groupscope help why\n{told}--- exit code 0\n"


def test_the_report_finds_its_templates_and_questions_in_the_zip(dist, tmp_path):
    archive = dist.pack(ROOT, tmp_path / "dist")
    program = (
        "from jobs.reporting import pages, questions; import sys; "
        "assert pages.__file__.startswith(sys.argv[1]); "
        "print(len(pages.script()) > 0, len(pages.resource('report.html')) > 0, "
        "all(questions.statements(each, 'c') for each in ('cluster', 'made', 'lanes', 'stories', 'rows')))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(archive)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told == "True True True\n"
