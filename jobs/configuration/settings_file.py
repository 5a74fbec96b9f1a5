"""Writes the file that lists all settings.

python -m jobs.configuration.settings_file > conf/groupscope.toml
"""

import dataclasses
import json
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from jobs.configuration.settings import Settings, heading

INTRODUCTION = """\
# Settings of groupscope, each with its unit and default. A setting that is not in the file has its default. An unknown
# setting is an error. Flags of the command line override this file.
"""


def settings_file() -> str:
    """The text of conf/groupscope.toml."""
    lines = [INTRODUCTION]
    for section in dataclasses.fields(Settings):
        if "each" in section.metadata:
            lines += comment_lines(section.metadata["about"])
            lines += [
                f"#   {line}".rstrip() for line in (heading(section), *section_lines(section.metadata["each"], 116))
            ]
        else:
            lines += [heading(section), *section_lines(section.type)]
    return "\n".join(lines).rstrip("#\n ") + "\n"


def comment_lines(text: str, width: int = 120) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def section_lines(section: Any, width: int = 120) -> Iterator[str]:
    for key in dataclasses.fields(section):
        default = key.metadata.get("default") or toml_value(key.default)
        about = f"{key.metadata['comment']} Unit: {key.metadata['unit']}; default: {default}."
        yield from comment_lines(about, width)
        yield f"{key.name} = {default}"
        yield ""


def toml_value(value: Any) -> str:
    # True and False are integers to Python.
    return f"{value:_}" if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value)


if __name__ == "__main__":
    sys.stdout.write(settings_file())
