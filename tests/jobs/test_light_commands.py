"""Help and flags load nothing that takes long, and readers no pandas: whole processes, and what they have loaded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.cli import COMMANDS
from udfs.assignors.names import BY_PROTOCOL
from udfs.assignors.registry import ASSIGNORS

ROOT = Path(__file__).parents[2]
HEAVY = ("deltalake", "duckdb", "kafka", "numpy", "pandas", "pyarrow", "pyspark")
# Prints which of them a command line loads, instead of what it answers.
PROGRAM = f"""
import json, os, sys
from jobs import cli
sys.stdout = open(os.devnull, "w")
sys.argv = ["groupscope", *sys.argv[1:]]
try:
    cli.main()
except SystemExit:
    pass
os.write(2, json.dumps([name for name in {HEAVY!r} if name in sys.modules]).encode())
"""


def loaded(*words: str) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


def test_the_list_of_commands_loads_nothing_heavy() -> None:
    assert loaded("--help") == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_flags_of_a_command_load_nothing_heavy(command: str) -> None:
    assert loaded(command, "--help") == []
    assert loaded(command, "--no-such-flag") == []


def test_a_reader_loads_no_pandas(tmp_path: Path) -> None:
    found = loaded("groups", "--warehouse", str(tmp_path))
    assert "pyarrow" in found
    assert not {"pandas", "pyspark"} & set(found)


def test_a_job_on_the_local_engine_loads_neither_pandas_nor_spark(tmp_path: Path) -> None:
    log = next((ROOT / "data" / "sample").glob("__consumer_offsets-*"))
    words = ["--source", f"segments:{log}", "--warehouse", str(tmp_path)]
    found = loaded("audit", *words, "--fail-on", "never")
    assert "pyarrow" in found
    assert not {"pandas", "pyspark"} & set(found)


def test_pandas_is_found_again_when_spark_needs_it() -> None:
    program = """
import importlib.util
from jobs.no_pandas import keep_pandas_out, let_pandas_in
keep_pandas_out()
try:
    importlib.util.find_spec("pandas")
except ModuleNotFoundError:
    let_pandas_in()
    print(importlib.util.find_spec("pandas").name)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "pandas\n"


def test_names_of_assignors_are_those_that_are_answered() -> None:
    assert set(ASSIGNORS) == {(protocol, name) for protocol, names in BY_PROTOCOL.items() for name in names}
