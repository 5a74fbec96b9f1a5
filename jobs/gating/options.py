"""The options of the gate, from the command line."""

import argparse
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jobs.command_line.flags import CRITICAL, NEVER, NEW
from jobs.command_line.values import GroupChoice, instant
from jobs.output.failure import Failure
from jobs.runs.result import now_ms
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted

ASKED = ("config", "fail_on", "as_of", "since", "until", "group", "exclude_group")


@dataclass(frozen=True)
class GateOptions:
    """Times are text, as users type them."""

    config: Path | None = None
    fail_on: str = CRITICAL
    as_of: str | None = None
    since: str | None = None
    until: str | None = None
    group: str | None = None
    exclude_group: str | None = None

    def narrowed_by(self, since: datetime | None, until: datetime | None) -> str | None:
        """The flags that leave out some findings, with the instants that the times are; None: a whole run."""
        flags = {
            "--group": self.group,
            "--exclude-group": self.exclude_group,
            "--since": None if since is None else iso_text(since),
            "--until": None if until is None else iso_text(until),
        }
        given = [f"{flag} {shlex.quote(value)}" for flag, value in flags.items() if value is not None]
        return " ".join(given) or None


def iso_text(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


def limit_of(fail_on: str) -> tuple[str, bool]:
    """The severity at which findings count, and whether only new ones do. A run never ends as if it had found nothing:
    with --fail-on never it is the command that ends with 0."""
    return (CRITICAL if fail_on == NEVER else fail_on.removesuffix(NEW)), fail_on.endswith(NEW)


def gate_options(arguments: argparse.Namespace) -> GateOptions:
    for name in ("group", "exclude_group"):
        check_pattern(f"--{name.replace('_', '-')}", getattr(arguments, name))
    # Before an audit reads anything: its gate, which knows what they count from, is the last step.
    event_bounds(arguments.since, arguments.until, now_ms())
    return GateOptions(**{name: getattr(arguments, name) for name in ASKED})


def event_bounds(since: str | None, until: str | None, as_of: int) -> tuple[int | None, int | None]:
    """In milliseconds; `2h ago` is that long before the as-of time."""
    since_ms = None if since is None else instant(since, as_of, "--since")
    until_ms = None if until is None else instant(until, as_of, "--until")
    if since_ms is not None and until_ms is not None and until_ms < since_ms:
        raise Failure(ExitCode.USAGE, f"--until {until}: is before --since {since}; give a later time")
    return since_ms, until_ms


def exit_code(result: Mapping[str, Any], fail_on: str) -> int:
    """With --fail-on never, findings are not a failure."""
    code = int(result["exit_code"])
    return ExitCode.CLEAN if fail_on == NEVER and code == ExitCode.FINDINGS else code


def counts(row: Mapping[str, Any], fail_on: str) -> bool:
    """Whether a critical finding that is not waived is one that the run fails for."""
    _, is_of_new = limit_of(fail_on)
    return bool(row["is_new"]) or not is_of_new


def check_matches(choice: GroupChoice, groups: Collection[str], cluster: str) -> None:
    """A choice of no group would find nothing, and look as if all were well. What --exclude-group alone leaves out may
    be all that a new cluster has yet."""
    if choice.group is None or any(choice.has(group) for group in groups):
        return
    which = f"no group of cluster {cluster}, which has {counted(len(groups), 'group')}"
    if not any(re.search(choice.group, group) for group in groups):
        expected = "give a pattern that is found in a group's id"
        raise Failure(ExitCode.USAGE, f"--group {choice.group!r}: matches {which}; {expected}")
    flags = f"--group {choice.group!r} --exclude-group {choice.exclude_group!r}"
    raise Failure(ExitCode.USAGE, f"{flags}: leave {which}; give patterns that leave one")


def check_pattern(flag: str, text: str | None) -> None:
    # Such as the value of a variable that is not set: it is found in every id.
    if flag == "--exclude-group" and text == "":
        raise Failure(ExitCode.USAGE, f"{flag} '': leaves out every group; give a regular expression")
    try:
        re.compile(text or "")
    except re.error as error:
        raise Failure(ExitCode.USAGE, f"{flag} {text!r}: {error}; give a regular expression") from None
