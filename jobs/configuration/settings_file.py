"""Settings as TOML: reads a file and checks it before a job starts, and writes the file that lists all settings.

python -m jobs.configuration.settings_file > conf/groupscope.toml
"""

import dataclasses
import json
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jobs.command_line.suggestions import nearest_to
from jobs.configuration.settings import REPLACED, Check, Settings, heading
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

DEFAULT_PATH = Path("conf/groupscope.toml")
SECTIONS = {section.name: section for section in dataclasses.fields(Settings)}
INTRODUCTION = """\
# Settings of groupscope, each with its unit and default. A setting that is not in the file has its default. An unknown
# setting is an error. Flags of the command line override this file.
"""


def load_settings(path: Path | None = None) -> Settings:
    """The settings of this file. Without a path: of `conf/groupscope.toml` if it exists, else the defaults."""
    if path is None and not DEFAULT_PATH.exists():
        return Settings()
    chosen = DEFAULT_PATH if path is None else path
    return parse_settings(read_toml(chosen), str(chosen))


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise wrong(f"{path}: {error.strerror}; give a file of settings") from None
    except ValueError as error:  # wrong TOML and wrong UTF-8 alike
        raise wrong(f"{path}: {error}; write it as TOML") from None


def parse_settings(document: Mapping[str, Any], file: str) -> Settings:
    values: dict[str, Any] = {}
    for name, content in document.items():
        if name not in SECTIONS:
            known = holding(name) or list(map(heading, SECTIONS.values()))
            raise unknown(file, f"[{name}]" if isinstance(content, dict) else name, f"[{name}]", known)
        head, is_repeated = heading(SECTIONS[name]), "each" in SECTIONS[name].metadata
        blocks = content if is_repeated else [content]
        if not isinstance(blocks, list) or not all(isinstance(each, dict) for each in blocks):
            line = f"[{name}]" if isinstance(content, dict) else f"{name} = {toml_text(content)}"
            raise wrong(f"{file}: {line}; give {'sections' if is_repeated else 'a section'} {head}")
        kind, place = kind_of(SECTIONS[name]), f"{file}: {head}"
        if is_repeated:
            numbered = enumerate(blocks, 1)
            values[name] = tuple(parse_section(kind, each, f"{place} number {number}:") for number, each in numbered)
        else:
            values[name] = parse_section(kind, content, place)
    settings = Settings(**values)
    if settings.tables.small_file_bytes > settings.tables.file_bytes:
        # Merged files would be small files again, and every run would rewrite them.
        line = f"small_file_bytes = {settings.tables.small_file_bytes} is larger than file_bytes"
        raise wrong(f"{file}: [tables] {line} = {settings.tables.file_bytes}; make it smaller")
    return settings


def parse_section(kind: Any, content: Mapping[str, Any], place: str) -> Any:
    keys = {key.name: key for key in dataclasses.fields(kind)}
    values = {}
    for name, value in content.items():
        if name in REPLACED:
            raise wrong(f"{place} {name}: is no setting any more; give {' and '.join(REPLACED[name])} instead")
        if name not in keys:
            raise unknown(place, name, name, holding(name) or list(keys))
        check: Check = keys[name].metadata["check"]
        written = "…" if "is_secret" in keys[name].metadata else toml_text(value)
        line = f"{place} {name} = {written}; give {check.expected}"
        try:
            values[name] = check.right(value)
        except ValueError as error:
            raise wrong(f"{line}: {error}") from None
        if values[name] is None:
            raise wrong(line)
    if "pattern" in keys and not values.get("pattern"):
        raise wrong(f"{place} pattern is missing; give a regular expression for the ids of the groups")
    return kind(**values)


def kind_of(section: Any) -> Any:
    return section.metadata.get("each", section.type)


def holding(name: str) -> list[str]:
    """Keys of this name, each with its section."""
    return [
        f"{heading(section)} {key.name}"
        for section in SECTIONS.values()
        for key in dataclasses.fields(kind_of(section))
        if key.name == name
    ]


def unknown(place: str, shown_name: str, wanted: str, known: list[str]) -> Failure:
    near = nearest_to(wanted, known) or f", the nearest is {min(known)}"
    return wrong(f"{place} {shown_name}: no such setting{near}")


def wrong(line: str) -> Failure:
    return Failure(ExitCode.USAGE, line)


def toml_text(value: object) -> str:
    """In TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def settings_file() -> str:
    """The text of conf/groupscope.toml."""
    lines = [INTRODUCTION]
    for section in SECTIONS.values():
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
