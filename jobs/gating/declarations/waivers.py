"""Waivers: findings that somebody has reviewed and that do not count until a date.

They are in `waivers.toml`, in the folder of the settings file:

    [[waivers]]
    kind = "offsets_reset"
    group = "billing-.*"        # a regular expression for whole ids; without it: any, or no group
    topic = "orders"            # likewise
    reason = "planned reset, OPS-12"
    who = "ada"
    until = 2026-12-01T00:00:00Z
"""

import difflib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from jobs.gating.declarations.rule_files import text_of, user_folder
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind

KEYS = ("kind", "group", "topic", "reason", "who", "until")
REQUIRED = ("kind", "reason", "who", "until")
KINDS = {kind.value: kind for kind in FindingKind}


@dataclass(frozen=True)
class Waiver:
    kind: FindingKind
    group: str | None
    topic: str | None
    reason: str
    who: str
    until: datetime

    def covers(self, kind: str, group_id: str | None, topic: str | None) -> bool:
        return kind == self.kind and matches(self.group, group_id) and matches(self.topic, topic)

    @property
    def told(self) -> str:
        return f"{self.reason} ({self.who})"


def matches(pattern: str | None, name: str | None) -> bool:
    return pattern is None or (name is not None and re.fullmatch(pattern, name) is not None)


def waiver_of(waivers: Iterable[Waiver], kind: str, group_id: str | None, topic: str | None) -> Waiver | None:
    """The one that lasts longest."""
    found = [waiver for waiver in waivers if waiver.covers(kind, group_id, topic)]
    return max(found, key=lambda waiver: waiver.until, default=None)


def waivers(config: Path | None) -> list[Waiver]:
    path = user_folder(config) / "waivers.toml"
    if not path.exists():
        return []
    try:
        found = tomllib.loads(text_of(path))
    except ValueError as error:
        raise Failure(ExitCode.USAGE, f"{path}: {error}, TOML was expected") from None
    for key in found:
        if key != "waivers":
            raise Failure(ExitCode.USAGE, f"{path}: {key}: no such section, [[waivers]] was expected")
    listed = found.get("waivers", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise Failure(ExitCode.USAGE, f"{path}: waivers must be sections [[waivers]], one for each accepted problem")
    return [waiver(f"{path}: [[waivers]] number {number}:", each) for number, each in enumerate(listed, 1)]


def waiver(place: str, found: dict[str, Any]) -> Waiver:
    for key in found:
        if key not in KEYS:
            (near,) = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.0)
            raise Failure(ExitCode.USAGE, f"{place} {key}: no such key, the nearest is {near}")
    for key in REQUIRED:
        if key not in found:
            raise Failure(ExitCode.USAGE, f"{place} {key} is missing; add it")
    for key in KEYS[:-1]:
        if key in found and not isinstance(found[key], str):
            raise Failure(ExitCode.USAGE, f"{place} {key} = {found[key]!r}: a text was expected")
    for key in ("reason", "who"):
        if not found[key].strip():
            raise Failure(ExitCode.USAGE, f"{place} {key} = {found[key]!r}: a text that is not empty was expected")
    if found["kind"] not in KINDS:
        near = "".join(difflib.get_close_matches(found["kind"], KINDS, n=1, cutoff=0.0))
        raise Failure(ExitCode.USAGE, f"{place} kind = {found['kind']!r}: no kind of finding, the nearest is {near}")
    for key in ("group", "topic"):
        try:
            re.compile(found.get(key, ""))
        except re.error as error:
            told = f"{place} {key} = {found[key]!r}: {error}, a regular expression was expected"
            raise Failure(ExitCode.USAGE, told) from None
    until = end_of_term(place, found["until"])
    return Waiver(KINDS[found["kind"]], found.get("group"), found.get("topic"), found["reason"], found["who"], until)


def end_of_term(place: str, found: object) -> datetime:
    """A date means its first moment; without a zone it is UTC."""
    if isinstance(found, str):
        try:
            found = datetime.fromisoformat(found)
        except ValueError:
            raise Failure(ExitCode.USAGE, f"{place} until = {found!r}: a date or time was expected") from None
    if isinstance(found, date) and not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day)
    if not isinstance(found, datetime):
        raise Failure(ExitCode.USAGE, f"{place} until = {found!r}: a date or time was expected")
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
