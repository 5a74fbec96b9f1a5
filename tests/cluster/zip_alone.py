"""A machine that has what the project depends on but not the project, which comes in the zip of `make dist`, and a user
without a home folder."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobs.spark.cache_folder import cache_folder
from jobs.spark.java import java_home
from tests import short_lived_java
from tests.runs.ingested import ROOT

PROJECT = ("__editable__", "groupscope")
SETTINGS = {
    **short_lived_java.SETTINGS,
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.extraJavaOptions": short_lived_java.spark_flags(),
}


@dataclass(frozen=True)
class Elsewhere:
    """A folder without the source tree, and an interpreter that finds the dependencies but not the project."""

    folder: Path
    python: Path
    environment: dict[str, str]
    archive: Path

    def submit(self, *arguments, job="ingest.py"):
        return self.submit_with(SETTINGS, ("--py-files", self.archive), job, *arguments)

    def submit_with(self, settings, flags, job, *arguments):
        confs = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
        command = [self.folder / "packages" / "pyspark" / "bin" / "spark-submit", *confs]
        command += [*flags, self.folder / job, *arguments]
        return self.run([str(part) for part in command])

    def run(self, command):
        return subprocess.run(
            command,
            cwd=self.folder / "cwd",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("packages", "cwd"):
        (folder / name).mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(PROJECT):
            (folder / "packages" / path.name).symlink_to(path)
    for job in ("audit.py", "gate.py", "ingest.py", "lag.py", "maintain.py"):
        shutil.copy(ROOT / "jobs" / job, folder)
    # The virtual environment's own interpreter would find the project, which is installed there.
    python = Path(os.path.realpath(sys.executable))
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPARK", "PYSPARK"))
    }
    environment |= {
        "PYTHONPATH": str(folder / "packages"),
        "PYSPARK_PYTHON": str(python),
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(short_lived_java.SPARK_HOME),
        # Of a master and of workers.
        "SPARK_DAEMON_JAVA_OPTS": short_lived_java.spark_flags(),
        # As of a user in a container: not even root can make such a folder.
        "HOME": "/proc/nowhere",
        "GROUPSCOPE_CACHE": str(cache_folder()),
        **short_lived_java.of_spark(),
    }
    return Elsewhere(folder, python, environment, packed(folder / "dist"))


def packed(target):
    """What `make dist` packs, without the folder that it packs into."""
    spec = importlib.util.spec_from_file_location("dist", ROOT / ".ci" / "dist.py")
    assert spec is not None and spec.loader is not None
    dist = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dist)
    archive = dist.pack(ROOT, target)
    return archive
