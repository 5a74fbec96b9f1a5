"""Every command on docs/history.md answers what the page shows, over the sample."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from jobs import cli
from schemas.tables import BESIDE_RUNS, TABLES
from schemas.words import enumerations
from schemas.words.exit_codes import ExitCode

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "history.md").read_text()
EXAMPLES = re.findall(r"```console\n\$ groupscope ([^\n]+)\n(.*?)```", PAGE, flags=re.DOTALL)
SAMPLE = ROOT / "data" / "sample"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / "warehouse"
    (words,) = re.findall(r"^groupscope (audit .+) --warehouse warehouse$", PAGE, flags=re.MULTILINE)
    placed = words.replace("data/sample", str(SAMPLE))
    # The story of the sample has findings.
    assert cli.main([*shlex.split(placed), "--warehouse", str(folder)]) == ExitCode.FINDINGS
    return folder


def test_the_page_has_examples():
    assert len(EXAMPLES) == PAGE.count("$ groupscope ") > 9


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_a_command_answers_what_the_page_shows(command, shown, warehouse, capfd):
    capfd.readouterr()
    assert cli.main([*shlex.split(command), "--warehouse", str(warehouse)]) == 0
    output = capfd.readouterr().out
    # An ellipsis stands for lines left out, or for the rest of one.
    lines = ("(?s:.*)" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.splitlines())
    pattern = "".join(lines)
    assert re.fullmatch(pattern, output), output


@pytest.mark.parametrize("text", re.findall(r"```sql\n(.*?)```", PAGE, flags=re.DOTALL))
def test_the_sql_of_the_page_has_an_answer(text, warehouse):
    command = [sys.executable, "-m", "jobs.cli", "sql", text, "--warehouse", str(warehouse), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


# Columns whose other values are sentences.
HAS_SENTENCES = {("assignment_audit", "reason")}


def test_every_enumerated_value_of_the_sample_is_in_v_enums(warehouse):
    known = {(table, column, value.value) for table, column, value in enumerations.rows()}
    seen = 0
    # No consumer has recorded a span there.
    tables = TABLES.keys() - BESIDE_RUNS
    for table, path in {(table, path) for table, path, _ in known if table in tables}:
        # Of a list of structs one field is enumerated.
        column, _, field = path.partition(".")
        values = DeltaTable(warehouse / table).to_pyarrow_table(columns=[column]).column(0)
        if field:
            values = pc.struct_field(pc.list_flatten(values), field)
        words = {value for value in values.unique().to_pylist() if value is not None}
        if (table, path) in HAS_SENTENCES:
            words = {value for value in words if " " not in value}
        rows = {(table, path, value) for value in words}
        assert rows <= known
        seen += len(rows)
    assert seen > 50
