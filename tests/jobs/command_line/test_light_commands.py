"""Help and flags load nothing that takes long, and readers no pandas: whole processes, and what they have loaded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jobs import cli
from jobs.command_line.flags import COMMANDS
from jobs.processes.processors import cores
from tests.make.tables import make
from udfs.assignors.answers import ASSIGNORS
from udfs.assignors.questions import BY_PROTOCOL

ROOT = Path(__file__).parents[3]
HEAVY = ("deltalake", "duckdb", "great_expectations", "kafka", "numba", "numpy", "pandas", "pyarrow", "pyspark")
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
    document: list[str] = json.loads(done.stderr.splitlines()[-1])
    return document


def test_flags_have_the_defaults_of_the_contract() -> None:
    flags = cli.parsers("replay")[0].parse_args(["replay"])
    assert (flags.warehouse, flags.cluster, flags.config, flags.lock_wait) == ("warehouse", None, None, 600)
    assert flags.format == "table"


def test_the_list_of_commands_loads_nothing_heavy() -> None:
    assert loaded("--help") == []


@pytest.mark.drawn(4)
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_flags_of_a_command_load_nothing_heavy(command: str) -> None:
    assert loaded(command, "--help") == []
    assert loaded(command, "--no-such-flag") == []


@pytest.mark.parametrize("command", ["groups", "status"])
def test_a_reader_loads_no_pandas(command: str, tmp_path: Path) -> None:
    result = loaded(command, "--warehouse", str(tmp_path))
    assert "pyarrow" in result
    assert not {"duckdb", "numba", "pandas", "pyspark"} & set(result)


def test_a_consumer_that_records_a_span_waits_for_nothing_heavy(tmp_path: Path) -> None:
    made = make(tmp_path / "w", {})
    result = {"success": True, "results": [{"success": True, "expectation_config": {"type": "e"}}]}
    (tmp_path / "result.json").write_text(json.dumps(result))
    words = ["--group", "g", "--span", "t:0:1:2", "--result", str(tmp_path / "result.json")]
    assert loaded("gate", *words, "--warehouse", made.address) == ["deltalake", "numpy", "pyarrow"]
    rows = made.rows("gate_spans")
    assert rows is not None
    assert rows.num_rows == 1


def test_a_job_on_the_local_engine_loads_no_spark_and_only_the_judge_loads_pandas(tmp_path: Path) -> None:
    log = next((ROOT / "data" / "sample").glob("__consumer_offsets-*"))
    words = ["--source", f"segments:{log}", "--warehouse", str(tmp_path)]
    result = loaded("ingest", *words)
    assert "pyarrow" in result
    assert not {"pandas", "pyspark", "great_expectations"} & set(result)
    # Great Expectations needs it, where there are metrics to judge: in a process of its own, if there is a core for it.
    words += ["--report", str(tmp_path / "report")]
    result = loaded("audit", *words, "--fail-on", "never")
    assert {"pandas", "great_expectations"} & set(result) == (
        {"pandas", "great_expectations"} if cores() == 1 else set()
    )
    assert "pyspark" not in result
    # With nothing new there is nothing to ask either, but how old a source may be.
    (tmp_path / "groupscope.toml").write_text("[gate]\nmax_source_age_hours = 0\n")
    words += ["--config", str(tmp_path / "groupscope.toml")]
    loaded("audit", *words, "--fail-on", "never")
    assert not {"pandas", "great_expectations", "duckdb"} & set(loaded("audit", *words, "--fail-on", "never"))


def test_pandas_can_be_imported_again_when_spark_needs_it() -> None:
    program = """
import importlib.util
from jobs.processes.no_pandas import keep_pandas_out, let_pandas_in
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
