"""What a narrow terminal shows: no line is wider than it is, but for words that somebody may copy."""

import argparse
import re
import shutil
import sys
from pathlib import Path

import pytest

from jobs.command_line.flags import COMMANDS, add_arguments
from jobs.output.rows import paragraph
from tests.audited_sample import ROOT, SAMPLE
from tests.builders.warehouses.for_reports import LATER, judged, state
from tests.make.tables import NOW
from tests.runs.typed_here import typed_here
from tests.terminals.terminals import here_on_terminal, on_terminal

WIDTHS = (80, 60, 40)
READERS = (
    "whatif classic-killed --assignor roundrobin --add-members 1",
    "whatif classic-killed",
    "rebalances classic-storm",
    "why classic-killed --at 2026-11-21T17:36:38",
    "groups",
    "doctor",
)
LONG = [f"{'group-of-a-team-' * 15}{number}" + "x" * (249 - 241) for number in range(3)]
# Of commands that print no table of names.
WITHOUT_WIDE = {"audit", "assignments", "gate", "ingest", "lag", "maintain", "partition", "replay", "report"}


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        # Behind its label.
        ("Read         32 files (0 more unchanged)", ["Read         32 files (0 more", "             unchanged)"]),
        ("Exit code    20: findings that count", ["Exit code    20: findings that", "             count"]),
        # Behind its spaces.
        ("      likely; records 5 to 111 of it", ["      likely; records 5 to 111", "      of it"]),
        # A sentence without either.
        ("the one wins: members even, 0 move", ["the one wins: members even, 0", "  move"]),
        # A path is not cut.
        ("Warehouse    /srv/groupscope/a-long-name", ["Warehouse    /srv/groupscope/a-long-name"]),
        ("a line that fits", ["a line that fits"]),
    ],
)
def test_lines_go_on_where_the_text_of_the_first_one_begins(line: str, lines: list[str]) -> None:
    assert list(paragraph(line, 30)) == lines
    assert list(paragraph(line, None)) == [line]


@pytest.mark.drawn(1)
@pytest.mark.parametrize("columns", WIDTHS)
def test_no_answer_is_wider_than_the_terminal(folder: Path, columns: int) -> None:
    for words in READERS:
        shown = on_terminal(
            [sys.executable, "-m", "jobs.cli", *words.split()], columns, folder, {"PYTHONPATH": str(ROOT)}
        )
        assert shown.code == 0
        assert [line for line in shown.screen if len(line) > columns] == []
        # Half a time would be any time of that day.
        assert not re.search(r"\d{4}-\d\d-[^ ]*…", shown.text)


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("long")
    covered = {"offsets_partition": 7, "from_time": NOW, "to_time": LATER, "num_records": 9}
    judged(place / "warehouse", {"history_coverage": [covered], "group_state_intervals": [*map(state, LONG)]})
    return place


def test_long_names_leave_room_for_the_other_columns(long_names: Path) -> None:
    assert {len(name) for name in LONG} == {249}
    _, heading, _, *rows = here_on_terminal(["groups", "--at", "now"], long_names).screen
    assert heading.split() == ["GROUP", "TYPE", "STATE", "PROTOCOL", "LAST-COMMIT"]
    shown = [row.split()[0] for row in rows]
    assert [row.split()[1:] for row in rows] == [["Classic", "Stable", "-"]] * 3
    assert len(set(shown)) == 3 and all("…" in name and name.startswith("group-of") for name in shown)
    assert {"0", "1", "2"} == {re.sub("[^0-9]", "", name) for name in shown}
    for words in (["groups", "--wide"], ["sql", "--wide", "SELECT group_id FROM group_state_intervals"]):
        assert set(LONG) <= set(" ".join(here_on_terminal(words, long_names).screen).split())
    assert set(LONG) <= set(typed_here(["groups"], long_names).stdout.split())


def test_whoever_prints_a_table_of_names_can_show_them_in_full() -> None:
    with_format, with_wide = set(), set()
    for name in COMMANDS:
        parser = argparse.ArgumentParser(add_help=False)
        add_arguments(parser, name)
        with_format |= {name} if "--format" in parser._option_string_actions else set()
        with_wide |= {name} if "--wide" in parser._option_string_actions else set()
    assert with_format - with_wide == WITHOUT_WIDE and with_wide <= with_format


@pytest.mark.parametrize("columns", WIDTHS[1:])
def test_a_run_page_is_no_wider_than_the_terminal_but_for_words(
    audited_sample: Path, tmp_path: Path, columns: int
) -> None:
    shutil.copytree(audited_sample, tmp_path / "w")
    source = f"--source segments:{SAMPLE} --snapshots {SAMPLE}/snapshots.jsonl --config {ROOT}/conf/sample.toml"
    words = f"audit {source} --warehouse w --report report --fail-on never --quiet --verbose".split()
    command = [sys.executable, "-m", "jobs.cli", *words]
    shown = on_terminal(command, columns, tmp_path, {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"})
    assert shown.code == 0, shown.text
    wide = [line for line in shown.screen if len(line) > columns and str(tmp_path) not in line]
    # Member ids, which are one word.
    assert [line for line in wide if len(line.split()) > 1] == []
    assert "all       groupscope sql" in "\n".join(shown.screen)
