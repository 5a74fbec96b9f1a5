"""`groupscope --version`, which is of the package that is installed, of its tables and of the newest Kafka that it
knows."""

import subprocess
import sys
import tomllib

from schemas.tables import CONTRACT_VERSION
from tests.audited_sample import ROOT


def test_version_is_that_of_the_package_the_contract_and_the_newest_kafka_of_the_tests() -> None:
    command = [sys.executable, "-m", "jobs.cli", "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert done.stdout == f"groupscope {project['version']} (contract {CONTRACT_VERSION}, Kafka releases up to 4.4)\n"
