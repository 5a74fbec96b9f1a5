"""Reads settings from a TOML file, and checks them before a job starts."""

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs.configuration.settings import REPLACED, Group, Settings, heading
from jobs.configuration.value_checks import Check
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

DEFAULT_PATH = Path("conf/groupscope.toml")


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
        raise Failure(ExitCode.USAGE, f"{path}: {error.strerror}; give a file of settings") from None
    except ValueError as error:  # wrong TOML and wrong UTF-8 alike
        raise Failure(ExitCode.USAGE, f"{path}: {error}; write it as TOML") from None


def parse_settings(document: Mapping[str, Any], file: str) -> Settings:
    sections = {section.name: section for section in dataclasses.fields(Settings)}
    values: dict[str, Any] = {}
    for name, content in document.items():
        if name not in sections:
            raise unknown(file, f"[{name}]" if isinstance(content, dict) else name, f"[{name}]", nearest_sections(name))
        if "each" in sections[name].metadata:
            values[name] = parse_groups(content, file)
            continue
        if not isinstance(content, dict):
            raise Failure(ExitCode.USAGE, f"{file}: {name} = {toml_text(content)}; give a section [{name}]")
        values[name] = parse_section(sections[name].type, content, f"{file}: [{name}]")
    settings = Settings(**values)
    if settings.tables.small_file_bytes > settings.tables.file_bytes:
        # Merged files would be small files again, and every run would rewrite them.
        line = f"small_file_bytes = {settings.tables.small_file_bytes} is larger than file_bytes"
        raise Failure(ExitCode.USAGE, f"{file}: [tables] {line} = {settings.tables.file_bytes}; make it smaller")
    return settings


def parse_groups(sections: object, file: str) -> tuple[Group, ...]:
    if not isinstance(sections, list) or not all(isinstance(each, dict) for each in sections):
        line = f"groups = {toml_text(sections)}" if not isinstance(sections, dict) else "[groups]"
        raise Failure(ExitCode.USAGE, f"{file}: {line}; give sections [[groups]]")
    groups = []
    for number, content in enumerate(sections, 1):
        place = f"{file}: [[groups]] number {number}:"
        groups.append(parse_section(Group, content, place))
        if not groups[-1].pattern:
            raise Failure(
                ExitCode.USAGE, f"{place} pattern is missing; give a regular expression for the ids of the groups"
            )
    return tuple(groups)


def parse_section(section: Any, section_values: Mapping[str, Any], place: str) -> Any:
    keys = {key.name: key for key in dataclasses.fields(section)}
    values = {}
    for name, value in section_values.items():
        if name in REPLACED:
            line = f"is no setting any more; give {' and '.join(REPLACED[name])} instead"
            raise Failure(ExitCode.USAGE, f"{place} {name}: {line}")
        if name not in keys:
            raise unknown(place, name, name, holding(name) or list(keys))
        check: Check = keys[name].metadata["check"]
        written = "…" if "is_secret" in keys[name].metadata else toml_text(value)
        line = f"{place} {name} = {written}; give {check.expected}"
        try:
            values[name] = check.right(value)
        except ValueError as error:
            raise Failure(ExitCode.USAGE, f"{line}: {error}") from None
        if values[name] is None:
            raise Failure(ExitCode.USAGE, line)
    return section(**values)


def nearest_sections(name: str) -> list[str]:
    """The section that has a key of this name; if there is none, all sections."""
    return holding(name) or [heading(section) for section in dataclasses.fields(Settings)]


def holding(name: str) -> list[str]:
    """Keys of this name, each with its section."""
    return [f"{heading(section)} {name}" for section in dataclasses.fields(Settings) if name in key_names(section)]


def key_names(section: Any) -> set[str]:
    return {key.name for key in dataclasses.fields(section.metadata.get("each", section.type))}


def unknown(place: str, shown_name: str, wanted: str, known: list[str]) -> Failure:
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.3) or sorted(known)[:1]
    return Failure(ExitCode.USAGE, f"{place} {shown_name}: no such setting, the nearest is {near[0]}")


def toml_text(value: object) -> str:
    """In TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
