"""Names that act on a terminal: none does, whichever command prints it in whichever format. Where output is no terminal
the bytes are those of the name."""

import csv
import io
import json
import re
import shlex
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.audited_sample import ROOT
from tests.builders.logs.batches import batch_of, record
from tests.builders.logs.segments import COMMIT_V3
from tests.builders.warehouses.for_reports import LATER
from tests.builders.warehouses.hostile_report import hostile_warehouse
from tests.make.tables import NOW
from tests.runs.ingested import ingest, is_healthy
from tests.runs.typed_here import typed_here
from tests.terminals.terminals import here_on_terminal, on_terminal

# A command of a terminal in 7 bits and in 8, one that sets its title, marks that turn text around, a character that
# deletes, ends of lines, one beyond 16 bits.
HOSTILE = "a\x1b[2J\x9b2J\x1b]0;t\x07\u202eb\u2066\u200f\x7f\r\n\u2028\U000e0041c"
SPELLED = "a\\x1b[2J\\x9b2J"
# Nothing is cut.
WIDE = 4_000
FORMATS = ("table", "csv", "json")
LOG = "log/__consumer_offsets-0/00000000000000000000.log"
NAME = "$NAME"
# Of the log.
OF_COMMITS = [
    *(f"{command} --warehouse committed" for command in ("groups", f"describe {NAME}", f"offsets {NAME} --at now",
      f"partition {NAME}", "sql 'SELECT group_id, topic, [topic] AS topics FROM offset_history'")),
    f"dump {LOG}",
]  # fmt: skip
# Of history by hand, in which each text is the name.
OF_HISTORY = [
    *(f"{command} --warehouse history" for command in ("groups", f"why {NAME}",
      f"rebalances {NAME}", "sql 'SELECT * FROM findings'")),
    "assign questions.jsonl",
]  # fmt: skip
# Messages, and what has no format.
OTHERS = [
    f"describe {NAME}x --warehouse history", f"owner {NAME}y 0 --warehouse history", f"groups --warehouse {NAME}",
    f"dump {NAME} --debug", f"groups --at {NAME} --warehouse history", f"{NAME}", f"groups --{NAME}",
    f"describe {NAME}x --warehouse history --debug", f"owner {NAME} 7 --warehouse history",
    f"owner {NAME} 0 --warehouse history", f"status {NAME} --warehouse history",
    f"ingest --source segments:{NAME} --warehouse none --result-file /dev/stdout",
    "sql --print-tables duckdb --warehouse turned\u202e", "report --warehouse history --report out\u202e",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    name = HOSTILE.encode()
    key = struct.pack(">hh", 1, len(name)) + name + struct.pack(">h", len(name)) + name + struct.pack(">i", 0)
    file = folder / LOG
    file.parent.mkdir(parents=True)
    file.write_bytes(batch_of(record(0, key, COMMIT_V3)))
    ingest(folder / "committed", "--source", f"segments:{folder}/log")
    assert cli.main(["replay", "--warehouse", str(folder / "committed")]) == 0
    covered = {"offsets_partition": 7, "from_time": NOW, "to_time": LATER, "num_records": 9}
    hostile_warehouse(folder / "history", [HOSTILE], {"history_coverage": [covered]})
    (folder / "turned\u202e").symlink_to(folder / "history")
    question = {
        "id": HOSTILE, "group_protocol": "classic", "assignor": "range", "topics": [{"name": HOSTILE, "partitions": 1}],
        "members": [{"member_id": HOSTILE, "subscribed_topics": [HOSTILE]}],
    }  # fmt: skip
    wrong = {"id": HOSTILE, "assignor": HOSTILE}
    lines = [json.dumps(each, ensure_ascii=False) for each in (question, wrong)]
    (folder / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def words_of(command: str) -> list[str]:
    return [word.replace(NAME, HOSTILE) for word in shlex.split(command)]


def check_harmless(text: str) -> None:
    rest = text.replace("\r\n", "")
    assert rest.isprintable(), [char for char in rest if not char.isprintable()]


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for each in value:
            yield from texts_of(each)
    elif isinstance(value, str):
        yield value


@pytest.mark.drawn(8)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("command", [*OF_COMMITS, *OF_HISTORY])
def test_a_name_does_nothing_to_a_terminal(command: str, format: str, folder: Path) -> None:
    shown = here_on_terminal([*words_of(command), "--format", format], folder, WIDE)
    assert shown.code in (0, 21), shown.text
    check_harmless(shown.text)
    if format == "json":
        lines = [line for line in shown.text.split("\r\n") if line.startswith("{")]
        assert HOSTILE in {text for line in lines for text in texts_of(json.loads(line))}
    else:
        assert SPELLED in shown.text.replace("\\u00", "\\x")


@pytest.mark.drawn(6)
@pytest.mark.parametrize("command", OTHERS)
def test_a_name_in_a_message_or_a_path_does_nothing_either(command: str, folder: Path) -> None:
    check_harmless(here_on_terminal(words_of(command), folder).text)


@pytest.mark.parametrize("command", OF_COMMITS[:3])
def test_in_a_pipe_the_bytes_are_those_of_the_name(command: str, folder: Path) -> None:
    out = typed_here([*words_of(command), "--format", "csv"], folder).stdout
    assert HOSTILE in {cell for row in csv.reader(io.StringIO(out, newline="")) for cell in row}


def test_a_log_of_a_table_is_read_whole_whatever_ends_a_line_in_a_name(folder: Path) -> None:
    assert is_healthy(folder / "committed")


@pytest.mark.drawn(1)
@pytest.mark.parametrize("command", ["status --warehouse history", "groups --warehouse history"])
def test_colours_are_the_only_codes_that_a_process_of_its_own_writes(command: str, folder: Path) -> None:
    shown = on_terminal([sys.executable, "-m", "jobs.cli", *words_of(command)], 80, folder, {"PYTHONPATH": str(ROOT)})
    assert shown.code == 0 and "\x1b[" in shown.text
    check_harmless(re.sub(r"\x1b\[(0|1|31)m", "", shown.text))
