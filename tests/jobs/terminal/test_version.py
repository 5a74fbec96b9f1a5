"""`groupscope --version`, which is of the package that is installed, of its tables and of the newest Kafka that it
knows, and of the libraries that its engines compute with."""

import platform
import subprocess
import sys
import tomllib
from pathlib import Path

from deltalake import DeltaTable

from schemas.tables import CONTRACT_VERSION
from tests.audited_sample import ROOT
from tests.make.tables import make


def test_version_is_that_of_the_package_the_contract_and_the_newest_kafka_of_the_tests(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jobs.cli", "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    first, formats, local, spark, python = done.stdout.splitlines()
    assert first == f"groupscope {project['version']} (contract {CONTRACT_VERSION}, Kafka releases up to 4.4)"
    make(tmp_path / "warehouse", {})
    protocol = DeltaTable(str(tmp_path / "warehouse" / "runs")).protocol()
    assert formats == (
        f"formats: tables {CONTRACT_VERSION}, Delta protocol {protocol.min_reader_version} (readers) and "
        f"{protocol.min_writer_version} (writers)"
    )
    asked = dict(each.split("==") for each in project["dependencies"])
    for line, name in ((local, "local"), (spark, "spark")):
        engine, _, libraries = line.partition(": ")
        assert engine == f"engine {name}"
        assert all(asked[package] == version for package, version in map(str.split, libraries.split(", ")))
    assert "duckdb " in local and "pyspark " in spark
    assert python == f"Python {platform.python_version()}"
