"""The generated parts of pages are what the declarations say, and hold what users meet: flags as --help prints them,
keys of the settings file, codes of runs, every column."""

import re
import runpy
import subprocess
import sys
import tomllib

import pytest

from jobs.command_line.flags import COMMANDS
from schemas.tables import USER_TABLES
from schemas.views import VIEWS
from tests.docs.pages import ROOT

GENERATOR = runpy.run_path(str(ROOT / ".ci" / "docs.py"))
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in GENERATOR["PAGES"]}
# What users script against, and 1 and 130 of every program.
CODES = [0, 1, 2, 20, 21, 22, 23, 130]


def sections(page):
    return dict(part.split("\n", 1) for part in re.split(r"^## ", PAGES[page], flags=re.MULTILINE)[1:])


def test_pages_and_the_settings_file_are_current(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert (GENERATOR["main"](["--check"]), capsys.readouterr().err) == (0, "")


def test_a_page_that_is_out_of_date_is_noticed_and_written(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "groupscope.toml").write_text("")
    for name, text in PAGES.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    for layer in GENERATOR["LAYERS"]:
        (tmp_path / layer).symlink_to(ROOT / layer)
    monkeypatch.chdir(tmp_path)
    page, stale = tmp_path / "docs" / "findings.md", PAGES["findings"].replace("| critical |", "| harmless |")
    page.write_text(stale)
    assert GENERATOR["main"](["--check"]) == 1 and page.read_text() == stale
    assert capsys.readouterr().err.startswith("docs/findings.md is not what the declarations say")
    assert GENERATOR["main"]([]) == 0 and page.read_text() == PAGES["findings"]
    assert (tmp_path / "conf" / "groupscope.toml").read_text() == (ROOT / "conf" / "groupscope.toml").read_text()
    assert GENERATOR["main"](["--check"]) == 0
    page.write_text("without marks")
    with pytest.raises(SystemExit, match="fewer parts between marks"):
        GENERATOR["main"]([])


def test_each_command_has_its_part():
    assert [name for name in sections("commands") if name in COMMANDS] == list(COMMANDS)
    assert GENERATOR["MORE"].keys() <= COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_part_has_each_flag_that_help_prints(command):
    output = subprocess.run(
        [sys.executable, "-m", "jobs.cli", command, "--help"], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    printed = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", output, flags=re.MULTILINE)) - {"--debug", "--help"}
    shown = set(re.findall(r"^\| `(--[a-z-]+)", sections("commands")[command], flags=re.MULTILINE))
    assert shown == printed


def test_no_cell_breaks_its_row():
    for page in PAGES.values():
        for table in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
            rows = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
            assert len(set(rows)) == 1, table


def test_the_settings_page_has_each_key_of_the_settings_file():
    shown = {
        name: re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE) for name, text in sections("settings").items()
    }
    text = (ROOT / "conf" / "groupscope.toml").read_text()
    # Sections that may be repeated are commented out there.
    listed = tomllib.loads(re.sub(r"^#   ?(?=\[\[|\w+ = )", "", text, flags=re.MULTILINE))
    assert shown == {name: list(keys[0] if isinstance(keys, list) else keys) for name, keys in listed.items()}


def test_the_exit_codes_are_those_of_the_contract():
    assert list(map(int, re.findall(r"^\| (\d+) \|", PAGES["exit_codes"], flags=re.MULTILINE))) == CODES


def test_each_finding_that_has_a_query_is_on_the_page():
    queries = {path.stem for path in (ROOT / "schemas" / "findings").glob("*.sql")}
    kinds = re.findall(r"^\| `(\w+)` \| (?:critical|warning|info) \|", PAGES["findings"], re.MULTILINE)
    assert queries <= set(kinds)
    assert len(kinds) == len(set(kinds))


def test_every_table_and_view_and_column_has_its_row():
    shown = sections("tables")
    assert list(shown) == [*USER_TABLES, *VIEWS]
    for section, table in zip(shown.values(), (*USER_TABLES.values(), *VIEWS.values()), strict=True):
        rows = re.findall(r"^\| `([a-z0-9_]+)` \| .* \| (yes|) \| .* \|$", section, flags=re.MULTILINE)
        assert rows == [(column.name, "yes" if column.is_nullable else "") for column in table.columns]


def test_fields_of_structs_have_rows_after_the_column_s_own():
    assert (
        "| `members` | ARRAY<STRUCT> | yes | Every member of the generation; NULL: tombstone. |\n"
        "| `members.member_id` | STRING |  | The id that the coordinator gave the member. |\n"
    ) in PAGES["tables"]


def test_the_page_of_tables_explains_only_words_that_it_uses():
    before, _, described = PAGES["tables"].partition("**Tables and views**")
    words = [word.strip("`") for entry in re.findall(r"^- \*\*(.+?)\*\*: ", before, re.M) for word in entry.split(", ")]
    assert len(words) > 30
    assert [word for word in words if not re.search(rf"\b{word}", described, flags=re.IGNORECASE)] == []


def test_no_comment_has_a_phrase_that_readers_misread():
    """Readers took these for something else: "hold" for "contain", "less" for "fewer", "by" for "per", "but" for
    "except", and looked for the meaning of the rest."""
    phrases = (
        r"that holds?\b|held (then|before)\b|less (the|control|committed)\b|without (claimed|assigned)\b|NULL but\b",
        r"by (second|day of)\b|otherwise than|of a group the|the same of \d|of an emptied|number that opens",
        r"the archive (does|says)|stretch|nobody's|as-of before|convention|still so|beside\b",
    )
    misread = re.compile(rf"\b({'|'.join(phrases)})", flags=re.IGNORECASE)
    assert [result[0] for result in misread.finditer(PAGES["tables"])] == []


def test_each_folder_with_code_is_in_the_table_of_folders():
    page = PAGES["architecture"].partition("## Decisions")[0]
    shown = re.findall(r"^\| `((?:schemas|udfs|jobs)/[\w/]*)` \| .+ \|$", page, re.M)
    files = [path for layer in GENERATOR["LAYERS"] for path in (ROOT / layer).rglob("*.py")]
    assert set(shown) == {f"{path.parent.relative_to(ROOT)}/" for path in files}
