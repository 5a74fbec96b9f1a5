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

import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from jobs.gating.declarations.rule_files import text_of, user_folder
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from udfs.sentences.suggestions import nearest_to

KEYS = ("kind", "group", "topic", "reason", "who", "until")
REQUIRED = ("kind", "reason", "who", "until")
KINDS = {kind.value: kind for kind in FindingKind}
# Whoever accepts that partitions stop accepts that all of a member or group do.
WIDER_THAN_STOPPED = (FindingKind.GROUP_SILENT, FindingKind.MEMBER_SILENT)


@dataclass(frozen=True)
class Waiver:
    kind: FindingKind
    group: str | None
    topic: str | None
    reason: str
    who: str
    until: datetime

    def covers(self, kind: str, group_id: str | None, topics: Collection[str | None]) -> bool:
        """A waiver of a topic does not cover a finding that is about others too."""
        if kind != self.kind and not (self.kind == FindingKind.PARTITION_STOPPED and kind in WIDER_THAN_STOPPED):
            return False
        return matches(self.group, group_id) and all(matches(self.topic, topic) for topic in topics)

    @property
    def reason_text(self) -> str:
        return f"{self.reason} ({self.who})"


def matches(pattern: str | None, name: str | None) -> bool:
    return pattern is None or (name is not None and re.fullmatch(pattern, name) is not None)


def waiver_of(
    waivers: Iterable[Waiver], kind: str, group_id: str | None, topics: Collection[str | None]
) -> Waiver | None:
    """The one that lasts longest."""
    covering = [waiver for waiver in waivers if waiver.covers(kind, group_id, topics)]
    return max(covering, key=lambda waiver: waiver.until, default=None)


def waivers(config: Path | None) -> list[Waiver]:
    path = user_folder(config) / "waivers.toml"
    if not path.exists():
        return []
    try:
        content = tomllib.loads(text_of(path))
    except ValueError as error:
        raise Failure(ExitCode.USAGE, f"{path}: {error}; write it as TOML") from None
    for key in content:
        if key != "waivers":
            raise Failure(ExitCode.USAGE, f"{path}: {key}: no such section; write [[waivers]]")
    listed = content.get("waivers", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise Failure(ExitCode.USAGE, f"{path}: waivers must be sections [[waivers]], one for each accepted problem")
    return [waiver(f"{path}: [[waivers]] number {number}:", each) for number, each in enumerate(listed, 1)]


def waiver(place: str, content: dict[str, Any]) -> Waiver:
    for key in content:
        if key not in KEYS:
            raise Failure(ExitCode.USAGE, f"{place} {key}: no such key{nearest_to(key, KEYS, 0)}")
    for key in REQUIRED:
        if key not in content:
            raise Failure(ExitCode.USAGE, f"{place} {key} is missing; add it")
    for key in KEYS[:-1]:
        if key in content and not isinstance(content[key], str):
            raise Failure(ExitCode.USAGE, f"{place} {key} = {content[key]!r}; give a text")
    for key in ("reason", "who"):
        if not content[key].strip():
            raise Failure(ExitCode.USAGE, f"{place} {key} = {content[key]!r}; give a text that is not empty")
    if content["kind"] not in KINDS:
        near = nearest_to(content["kind"], KINDS, 0)
        raise Failure(ExitCode.USAGE, f"{place} kind = {content['kind']!r}: no kind of finding{near}")
    for key in ("group", "topic"):
        try:
            re.compile(content.get(key, ""))
        except re.error as error:
            line = f"{place} {key} = {content[key]!r}: {error}; give a regular expression"
            raise Failure(ExitCode.USAGE, line) from None
    until = end_of_term(place, content["until"])
    return Waiver(
        kind=KINDS[content["kind"]],
        group=content.get("group"),
        topic=content.get("topic"),
        reason=content["reason"],
        who=content["who"],
        until=until,
    )


def end_of_term(place: str, until: object) -> datetime:
    """A date means its first moment; without a zone it is UTC."""
    if isinstance(until, str):
        try:
            until = datetime.fromisoformat(until)
        except ValueError:
            raise Failure(ExitCode.USAGE, f"{place} until = {until!r}; give a date or time") from None
    if isinstance(until, date) and not isinstance(until, datetime):
        until = datetime(until.year, until.month, until.day)
    if not isinstance(until, datetime):
        raise Failure(ExitCode.USAGE, f"{place} until = {until!r}; give a date or time")
    try:
        return until.replace(tzinfo=UTC) if until.tzinfo is None else until.astimezone(UTC)
    except OverflowError:
        # At either end of the calendar another zone's time has no year in UTC.
        raise Failure(ExitCode.USAGE, f"{place} until = {until}; give a date or time of the years 1 to 9999") from None
