"""The settings of every job: declared once here, read from a TOML file, checked before anything starts.

python -m jobs.settings > conf/groupscope.toml    writes the file that lists them all
"""

import dataclasses
import difflib
import hashlib
import json
import os
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs.failure import Failure
from jobs.setting_checks import FLAG, OPTIONS, PATTERN, PATTERNS, SHARE, TEXT, TOPIC_SETS, Check, number_from
from jobs.storage.options import RETRY_SECONDS, StorageOptions, storage_options
from schemas.exit_codes import ExitCode
from schemas.tool_groups import TOOL_GROUPS

DEFAULT_PATH = Path("conf/groupscope.toml")
# The default, and the largest, of the broker's group.max.size.
MOST_MEMBERS = 2**31 - 1

INTRODUCTION = """\
# Settings of groupscope: every key with its unit and default. A key that is left out has its default; an unknown one is
# an error. Flags of the command line win over this file.
"""


def setting(default: float | str | tuple[Any, ...], unit: str, comment: str, check: Check) -> Any:
    return field(default=default, metadata={"unit": unit, "comment": comment, "check": check})


@dataclass(frozen=True)
class Ingest:
    max_rejected_share: float = setting(
        0.001,
        "share of a run's records",
        "More records than this that cannot be decoded, or that damaged bytes held, end a run with exit code 22, after "
        "everything is written. Record types and versions unknown to this release do not count, nor does a torn tail.",
        SHARE,
    )


@dataclass(frozen=True)
class Tables:
    small_files: int = setting(
        16,
        "files",
        "How many small files of one table make `--optimize auto` rewrite them.",
        number_from(2),
    )
    small_file_bytes: int = setting(16 << 20, "bytes", "A file below this size is a small one.", number_from(1))
    file_bytes: int = setting(
        128 << 20, "bytes", "About how large files become when they are rewritten.", number_from(1 << 20)
    )


@dataclass(frozen=True)
class Broker:
    default_assignor: str = setting(
        "",
        "a name",
        "The first of the broker's group.consumer.assignors, such as uniform: the assignor of consumer groups whose "
        "members ask for none. A snapshot's settings win. Empty: not known, then the assignor is inferred from what it "
        "assigned.",
        TEXT,
    )


@dataclass(frozen=True)
class Burrow:
    """As `udfs/rules/burrow.py` takes them, by Burrow's own names."""

    intervals: int = setting(10, "commits", "How many commits of a partition are looked at.", number_from(2, 1000))
    expire_group_s: int = setting(
        604_800,
        "seconds",
        "Commits that are older do not count, and a group without newer ones is NOTFOUND. Each run reads the "
        "raw commits of so long a time.",
        number_from(1, 315_360_000),
    )
    minimum_complete: float = setting(
        0.0, "share of intervals", "With fewer commits than this a partition is OK.", SHARE
    )
    allowed_lag: int = setting(0, "messages", "So much lag is none.", number_from(0))
    min_distance_s: int = setting(0, "seconds", "Commits that follow one another sooner count as one.", number_from(0))


@dataclass(frozen=True)
class Verdicts:
    """As `udfs/rules/own_verdict.py` takes them."""

    window_s: int = setting(
        3600, "seconds", "How far back rewinds, members, commits and lag count.", number_from(60, 86_400)
    )
    allowed_lag: int = setting(0, "messages", "So much lag is none.", number_from(0))
    least_time_lag_s: int = setting(60, "seconds", "Lag that is younger alarms nobody.", number_from(0))
    silence_factor: int = setting(
        10, "times", "Silence is longer than so many times the usual gap between commits.", number_from(1)
    )
    least_repeats: int = setting(3, "commits", "So many commits of one offset are standing still.", number_from(2))


@dataclass(frozen=True)
class Gate:
    """What `schemas/findings` and `schemas/metrics` compare with, each by its name."""

    max_source_age_hours: int = setting(
        25,
        "hours",
        "A newest record or snapshot that is older than this when a run starts is a finding, since the source may have "
        "stopped. 0: never.",
        number_from(0),
    )
    expiring_soon_hours: int = setting(
        25, "hours", "Offsets that expire within this time after the as-of time are a finding.", number_from(0)
    )
    max_unread_ms: int = setting(
        60_000,
        "milliseconds",
        "A rebalance that may have left a partition unread for longer is a finding.",
        number_from(0),
    )
    hanging_transaction_ms: int = setting(
        3_600_000,
        "milliseconds",
        "A transaction on offsets that stays open for longer is a finding. The default is four times the longest "
        "timeout that brokers allow by default.",
        number_from(0),
    )
    storm_rebalances_per_hour: int = setting(
        30, "rebalances", "A storm of more rebalances an hour than this is a finding.", number_from(1)
    )
    record_limit_bytes: int = setting(
        1_000_000,
        "bytes",
        "The largest record that the brokers take for __consumer_offsets (max.message.bytes). A group whose record "
        "fills more than 70 % of it is a finding.",
        number_from(1),
    )
    offsets_partition_limit_bytes: int = setting(
        1 << 30,
        "bytes",
        "An offsets partition whose segments are larger is a finding: its cleaner may have stopped.",
        number_from(1),
    )
    needless_commits_per_day: int = setting(
        100_000,
        "commits",
        "A group with more commits a day than this is a finding when most of them change nothing, or when it commits "
        "more than twice as often as every 5 seconds.",
        number_from(1),
    )
    dead_group_days: int = setting(
        30, "days", "A group without members and without commits for longer is a finding.", number_from(1)
    )
    max_prometheus_groups: int = setting(
        1_000,
        "groups",
        "How many groups --prometheus writes, the worst ones: their ids are labels, which must not be without bound.",
        number_from(0),
    )
    tool_groups: tuple[str, ...] = setting(
        tuple(each.pattern for each in TOOL_GROUPS),
        "a list of regular expressions",
        "Groups of tools, by their whole ids. They make no findings; the run says how many it left out.",
        PATTERNS,
    )


@dataclass(frozen=True)
class Storages:
    options: tuple[tuple[str, str], ...] = field(
        default=(),
        repr=False,
        metadata={
            "unit": "a table of texts",
            "comment": "How object stores are reached, by the names of their usual environment variables in lower "
            "case, such as aws_endpoint_url, google_service_account or azure_storage_account_key, and Hadoop's own "
            "names (dfs.…) for HDFS. They win over the environment. What is secret is better left to the environment.",
            "check": OPTIONS,
            # Nobody reads it in a message.
            "is_secret": True,
            "default": "{}",
        },
    )
    retry_seconds: int = setting(
        RETRY_SECONDS, "seconds", "For how long a request that fails is tried again.", number_from(1, 3600)
    )


@dataclass(frozen=True)
class Group:
    pattern: str = setting(
        "",
        "a regular expression",
        "Which groups it is about: those whose whole id matches. It is required.",
        PATTERN,
    )
    copartitioned: tuple[tuple[str, ...], ...] = setting(
        (),
        "lists of topics",
        "Sets of topics of which the same member must have the same partitions, since it joins them.",
        TOPIC_SETS,
    )
    redundancy: int = setting(1, "members", "How many members must have each partition.", number_from(1, MOST_MEMBERS))
    freshness_objective_s: int = setting(
        0,
        "seconds",
        "How old the oldest unread message may be. A day on which that is exceeded in more than 5 of 100 minutes is a "
        "finding. Of several sections the strictest counts. 0: nothing is asked.",
        number_from(0, 315_360_000),
    )
    is_rack_local: bool = setting(
        False,
        "true or false",
        "Whether a member that names its rack must only have partitions with a replica there.",
        FLAG,
    )


def sections_of(kind: type, about: str) -> Any:
    """Sections that may be there any number of times, each one of this kind."""
    return field(default=(), metadata={"each": kind, "about": about})


@dataclass(frozen=True)
class Settings:
    ingest: Ingest = Ingest()
    tables: Tables = Tables()
    broker: Broker = Broker()
    burrow: Burrow = Burrow()
    verdicts: Verdicts = Verdicts()
    gate: Gate = Gate()
    storage: Storages = Storages()
    groups: tuple[Group, ...] = sections_of(
        Group,
        "What is asked of some groups beside what holds for all. There may be any number of these "
        "sections, and all whose pattern matches hold:",
    )


def options_of(settings: Settings, hadoop: Mapping[str, str] | None = None) -> StorageOptions:
    """How storages are reached by a command with these settings, here and now. `hadoop`: what a Spark application was
    given for Hadoop's clients."""
    return storage_options(settings.storage.options, os.environ, hadoop or {}, settings.storage.retry_seconds)


def load_settings(path: Path | None = None) -> Settings:
    """Those of the file; without one those of `conf/groupscope.toml` where that is there, else the defaults."""
    if path is None and not DEFAULT_PATH.exists():
        return Settings()
    chosen = DEFAULT_PATH if path is None else path
    return parse_settings(read_toml(chosen), str(chosen))


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(ExitCode.USAGE, f"{path}: {error.strerror}, a file of settings was expected") from None
    except ValueError as error:  # wrong TOML and wrong UTF-8 alike
        raise Failure(ExitCode.USAGE, f"{path}: {error}, TOML was expected") from None


def parse_settings(found: Mapping[str, Any], file: str) -> Settings:
    sections = {section.name: section for section in dataclasses.fields(Settings)}
    values: dict[str, Any] = {}
    for name, content in found.items():
        if name not in sections:
            raise unknown(file, f"[{name}]" if isinstance(content, dict) else name, f"[{name}]", nearest_sections(name))
        if "each" in sections[name].metadata:
            values[name] = parse_groups(content, file)
            continue
        if not isinstance(content, dict):
            raise Failure(ExitCode.USAGE, f"{file}: {name} = {shown(content)}, a section [{name}] was expected")
        values[name] = parse_section(sections[name].type, content, f"{file}: [{name}]")
    settings = Settings(**values)
    if settings.tables.small_file_bytes > settings.tables.file_bytes:
        # Rewritten files would be small ones again, and every run would rewrite them.
        told = f"small_file_bytes = {settings.tables.small_file_bytes}: at most file_bytes"
        raise Failure(ExitCode.USAGE, f"{file}: [tables] {told}, {settings.tables.file_bytes}, was expected")
    return settings


def parse_groups(found: object, file: str) -> tuple[Group, ...]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        told = f"groups = {shown(found)}" if not isinstance(found, dict) else "[groups]"
        raise Failure(ExitCode.USAGE, f"{file}: {told}: sections [[groups]] were expected")
    groups = []
    for number, content in enumerate(found, 1):
        place = f"{file}: [[groups]] number {number}:"
        groups.append(parse_section(Group, content, place))
        if not groups[-1].pattern:
            raise Failure(ExitCode.USAGE, f"{place} no pattern, a regular expression was expected")
    return tuple(groups)


def parse_section(section: Any, found: Mapping[str, Any], place: str) -> Any:
    keys = {key.name: key for key in dataclasses.fields(section)}
    values = {}
    for name, value in found.items():
        if name not in keys:
            raise unknown(place, name, name, holding(name) or list(keys))
        check: Check = keys[name].metadata["check"]
        written = "…" if "is_secret" in keys[name].metadata else shown(value)
        told = f"{place} {name} = {written}: {check.expected} was expected"
        try:
            values[name] = check.right(value)
        except ValueError as error:
            raise Failure(ExitCode.USAGE, f"{told}: {error}") from None
        if values[name] is None:
            raise Failure(ExitCode.USAGE, told)
    return section(**values)


def nearest_sections(name: str) -> list[str]:
    """The sections, but first the one that holds a key of this name."""
    return holding(name) or [heading(section) for section in dataclasses.fields(Settings)]


def holding(name: str) -> list[str]:
    """The key of this name, with its section."""
    return [f"{heading(section)} {name}" for section in dataclasses.fields(Settings) if name in named(section)]


def heading(section: Any) -> str:
    return f"[[{section.name}]]" if "each" in section.metadata else f"[{section.name}]"


def named(section: Any) -> set[str]:
    return {key.name for key in dataclasses.fields(section.metadata.get("each", section.type))}


def unknown(place: str, shown_name: str, wanted: str, known: list[str]) -> Failure:
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.3) or sorted(known)[:1]
    return Failure(ExitCode.USAGE, f"{place} {shown_name}: no such setting, the nearest is {near[0]}")


def shown(value: object) -> str:
    """As TOML writes it, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def settings_hash(settings: Settings) -> str:
    """The same for the same values, wherever they came from. How storages are reached changes no row."""
    values = {name: value for name, value in dataclasses.asdict(settings).items() if name != "storage"}
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
