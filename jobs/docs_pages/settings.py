"""Writes docs/settings.md from the declared settings. With --check it only says whether the page is current.

python -m jobs.docs_pages.settings [--check]
"""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobs.configuration.settings import Settings, heading
from jobs.configuration.settings_file import toml_value
from jobs.docs_pages.page_file import write_or_check

PAGE = Path("docs/settings.md")

INTRODUCTION = """# Settings

Generated from `jobs/configuration/settings.py`. Settings are read from the file that `--config` names, otherwise from
`conf/groupscope.toml`, if it exists. Flags of the command line win over the file. A key that is left out has its
default. If a key is unknown, the command ends with exit code 2 and names the known key with the most similar spelling.
Runs with the same settings have the same hash in the column `config_hash` of the table `runs`.
"""


def page() -> str:
    lines = [INTRODUCTION]
    for section in dataclasses.fields(Settings):
        lines += section_lines(section)
    return "\n".join(lines).rstrip("\n") + "\n"


def section_lines(section: Any) -> Iterator[str]:
    yield from (f"## {section.name}", "", f"```toml\n{heading(section)}\n```", "")
    if "about" in section.metadata:
        yield from (section.metadata["about"], "")
    yield from ("| key | default | unit | what it does |", "|---|---|---|---|")
    for key in dataclasses.fields(section.metadata.get("each", section.type)):
        default = key.metadata.get("default") or toml_value(key.default)
        cells = (f"`{key.name}`", f"`{default}`", key.metadata["unit"], key.metadata["comment"])
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.settings", sys.argv[1:]))
