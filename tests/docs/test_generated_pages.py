"""The generated pages hold what users meet: flags as --help prints them, keys of the settings file, codes of runs."""

import re
import subprocess
import sys
import tomllib

import pytest

from jobs.command_line.flags import COMMANDS
from jobs.docs_pages import commands, outcomes, settings
from tests.docs.pages import ROOT

SECTIONS = dict(
    part.split("\n", 1) for part in re.split(r"^## ", commands.page(), flags=re.MULTILINE)[1:]
)  # fmt: skip
# What users script against, and 1 and 130 of every program.
CODES = [0, 1, 2, 20, 21, 22, 23, 130]


def test_each_command_has_its_part():
    assert list(SECTIONS) == list(COMMANDS)
    assert commands.MORE.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_part_has_each_flag_that_help_prints(command):
    output = subprocess.run(
        [sys.executable, "-m", "jobs.cli", command, "--help"], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    printed = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", output, flags=re.MULTILINE)) - {"--debug", "--help"}
    shown = set(re.findall(r"^\| `(--[a-z-]+)", SECTIONS[command], flags=re.MULTILINE))
    assert shown == printed


def test_no_cell_breaks_its_row():
    pages = (
        commands.page(),
        settings.page(),
        outcomes.findings_page(),
        outcomes.exit_codes_page(),
    )
    for page in pages:
        for table in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
            rows = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
            assert len(set(rows)) == 1, table


def test_the_settings_page_has_each_key_of_the_settings_file():
    sections = re.split(r"^## ", settings.page(), flags=re.MULTILINE)[1:]
    shown = {each.split("\n")[0]: re.findall(r"^\| `(\w+)` \|", each, flags=re.MULTILINE) for each in sections}
    text = (ROOT / "conf" / "groupscope.toml").read_text()
    # Sections that may be repeated are commented out there.
    listed = tomllib.loads(re.sub(r"^#   ?(?=\[\[|\w+ = )", "", text, flags=re.MULTILINE))
    assert shown == {name: list(keys[0] if isinstance(keys, list) else keys) for name, keys in listed.items()}


def test_the_exit_codes_are_those_of_the_contract():
    codes = re.findall(r"^\| (\d+) \|", outcomes.exit_codes_page(), flags=re.MULTILINE)
    assert list(map(int, codes)) == CODES


def test_each_finding_that_has_a_query_is_on_the_page():
    queries = {path.stem for path in (ROOT / "schemas" / "findings").glob("*.sql")}
    kinds = re.findall(r"^\| `(\w+)` \| (?:critical|warning|info) \|", outcomes.findings_page(), re.MULTILINE)
    assert queries <= set(kinds)
    assert len(kinds) == len(set(kinds))
