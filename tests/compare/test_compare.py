"""The comparison of two trees reports each difference that is planted into what one of them answers, and no other."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.compare.answers import Answers, Renamed, differences
from tests.planted.planting import ROOT, Copy, read

START = datetime(2026, 11, 21, tzinfo=UTC)
TASKS = [{"topic": "t", "partitions": [0, 1]}, {"topic": "u", "partitions": [2]}]
ROW = {"member": "a", "offset": 5, "time": START, "is_open": True, "reason": None, "tasks": TASKS, "run_id": "r"}
ROWS = [ROW, ROW | {"member": "b", "offset": 6, "reason": ""}, ROW | {"member": "c", "is_open": False}]
SCHEMA = pa.schema(
    {
        "member": pa.string(), "offset": pa.int64(), "time": pa.timestamp("us", "UTC"), "is_open": pa.bool_(),
        "reason": pa.string(), "tasks": pa.list_(pa.struct({"topic": pa.string(), "partitions": pa.list_(pa.int32())})),
        "run_id": pa.string(),
    }
)  # fmt: skip
TEXTS = {"exit code of audit 1": "0", "the Prometheus file": "lag 5\n", "groupscope why g": "exit code 0\na\nb\n"}
VIEWS = {"v_groups": [{"group": "g", "lag": 5, "reason": None}, {"group": "h", "lag": 0, "reason": ""}], "v_none": []}


def answers(folder, tables, texts=TEXTS, views=VIEWS):
    for name, (rows, schema) in tables.items():
        write_deltalake(folder / name, pa.Table.from_pylist(rows, schema))
    return Answers(folder, dict(texts), dict(views))


def changed(place, **values):
    return [row | values if number == place else row for number, row in enumerate(ROWS)]


# Rows of a table where another tree has ROWS.
PLANTED_ROWS = {
    "a number is one higher": changed(0, offset=6),
    "a time is a microsecond later": changed(1, time=START + timedelta(microseconds=1)),
    "a flag is turned": changed(0, is_open=False),
    "a flag is unknown": changed(2, is_open=None),
    "a text that was NULL is empty": changed(0, reason=""),
    "a text that was empty is NULL": changed(1, reason=None),
    "a text has a space at its end": changed(0, member="a "),
    "two rows have each other's member": [ROWS[0] | {"member": "b"}, ROWS[1] | {"member": "a"}, ROWS[2]],
    "a list is in another order": changed(0, tasks=TASKS[::-1]),
    "a list within a list is in another order": changed(0, tasks=[TASKS[0] | {"partitions": [1, 0]}, TASKS[1]]),
    "a list is empty instead of NULL": changed(0, tasks=[]),
    "a field of a struct is another": changed(0, tasks=[TASKS[0] | {"topic": "v"}, TASKS[1]]),
    "a row is missing": ROWS[1:],
    "a row is there twice": [*ROWS, ROWS[0]],
    "one row is missing and another is there twice": [*ROWS[1:], ROWS[1]],
    "all rows are missing": [],
}
PLANTED_SCHEMAS = {
    "a number is stored narrower": SCHEMA.set(1, pa.field("offset", pa.int32())),
    "a column is missing": SCHEMA.remove(4),
    "a column is new": SCHEMA.append(pa.field("more", pa.string())),
}
PLANTED_TEXTS = {
    "an exit code is another": {"exit code of audit 1": "20"},
    "a metric is another": {"the Prometheus file": "lag 6\n"},
    "a line is printed less": {"groupscope why g": "exit code 0\na\n"},
    "a line is printed in another place": {"groupscope why g": "exit code 0\nb\na\n"},
    "a command ends in another way": {"groupscope why g": "exit code 2\na\nb\n"},
    "an audit fails": {"error of audit 1": "Traceback"},
}
PLANTED_VIEWS = {
    "a number of a view is another": {"v_groups": [{"group": "g", "lag": 6, "reason": None}, VIEWS["v_groups"][1]]},
    "NULL of a view is an empty text": {"v_groups": [{"group": "g", "lag": 5, "reason": ""}, VIEWS["v_groups"][1]]},
    "a view lacks a row": {"v_groups": VIEWS["v_groups"][:1]},
    "a view has a row more": {"v_none": [{"group": "g"}]},
    "a view is new": {"v_more": []},
}


@pytest.fixture
def before(tmp_path):
    return answers(tmp_path / "before", {"owners": (ROWS, SCHEMA)})


@pytest.mark.parametrize("name", PLANTED_ROWS)
def test_rows_that_differ_are_reported_with_examples(tmp_path, before, name):
    now = answers(tmp_path / "now", {"owners": (PLANTED_ROWS[name], SCHEMA)})
    (line,) = differences(before, now)
    assert line.startswith(f"table owners: 3 rows before, {len(PLANTED_ROWS[name])} now\n   ")


@pytest.mark.parametrize("name", PLANTED_SCHEMAS)
def test_columns_that_differ_are_reported(tmp_path, before, name):
    rows = [{key: value for key, value in row.items() if key in PLANTED_SCHEMAS[name].names} for row in ROWS]
    (line,) = differences(before, answers(tmp_path / "now", {"owners": (rows, PLANTED_SCHEMAS[name])}))
    assert line.startswith("table owners: columns ")


@pytest.mark.parametrize(("name", "table"), [("a table is missing", None), ("a table is new", "more")])
def test_tables_that_only_one_has_are_reported(tmp_path, before, name, table):
    tables = {"owners": (ROWS, SCHEMA), "more": (ROWS, SCHEMA)} if table else {}
    (line,) = differences(before, answers(tmp_path / "now", tables))
    assert line == (f"table {table}: only now" if table else "table owners: only before")


@pytest.mark.parametrize("name", PLANTED_TEXTS)
def test_texts_that_differ_are_reported(before, name):
    now = Answers(before.warehouse, TEXTS | PLANTED_TEXTS[name], VIEWS)
    (line,) = differences(before, now)
    assert line.startswith(f"{next(iter(PLANTED_TEXTS[name]))}: ")


@pytest.mark.parametrize("name", PLANTED_VIEWS)
def test_views_that_differ_are_reported(before, name):
    (line,) = differences(before, Answers(before.warehouse, TEXTS, VIEWS | PLANTED_VIEWS[name]))
    assert line.startswith(f"view {next(iter(PLANTED_VIEWS[name]))}: ")


def test_the_order_of_rows_and_what_is_of_a_run_are_no_differences(tmp_path, before):
    rows = [row | {"run_id": "other"} for row in ROWS[::-1]]
    views = {name: rows[::-1] for name, rows in VIEWS.items()}
    now = answers(tmp_path / "now", {"owners": (rows, SCHEMA), "runs": (ROWS, SCHEMA)}, views=views)
    assert differences(before, now) == []


def test_what_is_wanted_or_renamed_is_no_difference(tmp_path, before):
    rows = [
        {("owner" if key == "member" else key): value for key, value in row.items()} for row in changed(0, offset=9)
    ]
    schema = SCHEMA.set(0, pa.field("owner", pa.string()))
    now = answers(tmp_path / "now", {"owned": (rows, schema)}, TEXTS | PLANTED_TEXTS["a metric is another"])
    renamed = Renamed({"owners": "owned", "owners.member": "owner"})
    assert differences(before, now, frozenset({"owned.offset", "the Prometheus file"}), renamed) == []
    assert len(differences(before, now, frozenset(), renamed)) == 2


@pytest.mark.soak
def test_the_whole_command_reports_a_fault_of_a_tree(tmp_path):
    name = "the leader before and the leader after are swapped"
    (fault,) = (each for each in read()[1] if each.name == name)
    place = Copy(tmp_path).folder / fault.file
    place.write_text(fault.plant(place.read_text()))
    command = [sys.executable, "-m", "tests.compare", str(tmp_path / "project"), "sample", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "table rebalances: " in done.stdout


@pytest.mark.soak
def test_the_whole_command_reports_nothing_of_two_equal_trees(tmp_path):
    copy = Copy(tmp_path).folder
    command = [sys.executable, "-m", "tests.compare", str(copy), "sample", "damaged", "--pieces", "2", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 differ") == 2
