"""The settings of all jobs: declared here, read from a TOML file and checked before a job starts.

python -m jobs.configuration.settings > conf/groupscope.toml    writes the file that lists all settings
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

from jobs.configuration.value_checks import (
    FLAG,
    OPTIONS,
    PATTERN,
    PATTERNS,
    SHARE,
    TEXT,
    TOPIC_SETS,
    Check,
    number_from,
)
from jobs.output.failure import Failure
from jobs.storage.options import RETRY_SECONDS, StorageOptions, storage_options
from schemas.words.exit_codes import ExitCode
from schemas.words.tool_groups import TOOL_GROUPS

DEFAULT_PATH = Path("conf/groupscope.toml")
# The default and the maximum of the broker's group.max.size.
MOST_MEMBERS = 2**31 - 1

INTRODUCTION = """\
# Settings of groupscope, each with its unit and default. A setting that is not in the file has its default. An unknown
# setting is an error. Flags of the command line override this file.
"""


def setting(default: float | str | tuple[Any, ...], unit: str, comment: str, check: Check) -> Any:
    return field(default=default, metadata={"unit": unit, "comment": comment, "check": check})


@dataclass(frozen=True)
class Ingest:
    max_rejected_share: float = setting(
        0.001,
        "share of a run's records, 0 to 1",
        "If the share of rejected and damaged records is larger, the run still writes all tables, then ends with "
        "exit code 22. Two things do not count: record types and versions unknown to this release, and a last batch "
        "that was not completely written when the log was copied.",
        SHARE,
    )


@dataclass(frozen=True)
class Tables:
    small_files: int = setting(
        16,
        "files",
        "With `--optimize auto`, a run merges the small files of a table if it has this many or more.",
        number_from(2),
    )
    small_file_bytes: int = setting(16 << 20, "bytes", "A file below this size is a small file.", number_from(1))
    file_bytes: int = setting(128 << 20, "bytes", "Approximate size of merged files.", number_from(1 << 20))


@dataclass(frozen=True)
class Broker:
    default_assignor: str = setting(
        "",
        "an assignor's name",
        "The broker's default assignor, which is the first entry of its setting group.consumer.assignors, such as "
        "uniform. It is for groups of the consumer protocol (KIP-848) whose members do not choose an assignor. A "
        "snapshot with the broker's settings overrides it. Empty: Groupscope infers the assignor from the recorded "
        "assignments.",
        TEXT,
    )


@dataclass(frozen=True)
class Burrow:
    """The settings of Burrow's rules (`udfs/rules/verdicts/burrow_evaluation.py`), with Burrow's own names."""

    intervals: int = setting(
        10, "commits", "Burrow's rules compare this many of the newest commits of a partition.", number_from(2, 1000)
    )
    expire_group_s: int = setting(
        604_800,
        "seconds",
        "Burrow's rules ignore commits that are older than this at the as-of time. A group that has only such commits "
        "has the lag verdict NOTFOUND. Each run reads all commits of this much time.",
        number_from(1, 315_360_000),
    )
    minimum_complete: float = setting(
        0.0,
        "share of the setting intervals, 0 to 1",
        "A partition that has fewer commits than this share of `intervals` has the lag verdict OK.",
        SHARE,
    )
    allowed_lag: int = setting(0, "messages", "Lag up to this counts as no lag.", number_from(0))
    min_distance_s: int = setting(
        0, "seconds", "Commits of a partition that are closer together than this count as one.", number_from(0)
    )


@dataclass(frozen=True)
class Verdicts:
    """The settings of our own rules (`udfs/rules/verdicts/own_verdict.py`)."""

    window_s: int = setting(
        3600,
        "seconds",
        "The rules look at commits, lag, members and rewinds (commits of a lower offset than before) of this much time "
        "before the as-of time.",
        number_from(60, 86_400),
    )
    allowed_lag: int = setting(0, "messages", "Lag up to this counts as no lag.", number_from(0))
    least_time_lag_s: int = setting(
        60, "seconds", "Lag is ignored while the oldest unread message is younger than this.", number_from(0)
    )
    silence_factor: int = setting(
        10, "times", "A partition counts as silent after this many times its usual gap between commits.", number_from(1)
    )
    least_repeats: int = setting(
        3,
        "commits",
        "A partition that commits the same offset this many times counts as not advancing.",
        number_from(2),
    )


@dataclass(frozen=True)
class Gate:
    """Limits that `schemas/findings` and `schemas/metrics` use, each under the same name."""

    max_source_age_hours: int = setting(
        25,
        "hours",
        "A run reports a finding if the newest record or snapshot is older than this when the run starts: the source "
        "may have stopped. 0: never.",
        number_from(0),
    )
    expiring_soon_hours: int = setting(
        25, "hours", "A run reports a finding if offsets expire within this time after the as-of time.", number_from(0)
    )
    max_unread_ms: int = setting(
        60_000,
        "milliseconds",
        "A run reports a finding if a rebalance may have left a partition unread for longer than this.",
        number_from(0),
    )
    hanging_transaction_ms: int = setting(
        3_600_000,
        "milliseconds",
        "A run reports a finding if a transaction that committed offsets stays open for longer than this. The "
        "default is four times transaction.max.timeout.ms, the longest timeout that brokers allow by default.",
        number_from(0),
    )
    storm_rebalances_per_hour: int = setting(
        30,
        "rebalances",
        "A run reports a finding if a group rebalances again and again, at a rate of more than this per hour.",
        number_from(1),
    )
    record_limit_bytes: int = setting(
        1_000_000,
        "bytes",
        "The largest record that brokers accept for __consumer_offsets (max.message.bytes). A run reports a finding if "
        "the record of a group is larger than 70 % of this.",
        number_from(1),
    )
    offsets_partition_limit_bytes: int = setting(
        1 << 30,
        "bytes",
        "A run reports a finding if the segments of an offsets partition are larger than this: the cleaner may have "
        "stopped.",
        number_from(1),
    )
    needless_commits_per_day: int = setting(
        100_000,
        "commits",
        "A run reports a finding if a group makes more commits per day than this and one of two things is true: over "
        "90 % of them change no offset; or they are more than twice as many as one commit of each partition every 5 "
        "seconds.",
        number_from(1),
    )
    dead_group_days: int = setting(
        30,
        "days",
        "A run reports a finding if a group has had no members and no commits for longer than this.",
        number_from(1),
    )
    max_prometheus_groups: int = setting(
        1_000,
        "groups",
        "--prometheus writes up to this many groups, those with the worst lag verdicts first. Group ids are labels, "
        "and Prometheus needs a bounded number of them.",
        number_from(0),
    )
    tool_groups: tuple[str, ...] = setting(
        tuple(each.pattern for each in TOOL_GROUPS),
        "a list of regular expressions",
        "Ids of groups that tools use for themselves. Unlike in --group, an expression must match the whole id. "
        "Findings about these groups are left out; the run prints how many.",
        PATTERNS,
    )


@dataclass(frozen=True)
class Storages:
    options: tuple[tuple[str, str], ...] = field(
        default=(),
        repr=False,
        metadata={
            "unit": "a table of strings",
            "comment": "How to reach object stores and HDFS. Keys are the usual environment variables in lower case, "
            "such as aws_endpoint_url, google_service_account or azure_storage_account_key, and Hadoop's names "
            "(dfs.…) for HDFS. They win over environment variables of the same name. Secrets are better there than in "
            "this file.",
            "check": OPTIONS,
            # Its value is never shown in a message.
            "is_secret": True,
            "default": "{}",
        },
    )
    retry_seconds: int = setting(
        RETRY_SECONDS,
        "seconds",
        "A failed request to an object store or HDFS is repeated for this long, before the command fails.",
        number_from(1, 3600),
    )


@dataclass(frozen=True)
class Group:
    pattern: str = setting(
        "",
        "a regular expression",
        "Required. The section applies to the groups whose whole id matches.",
        PATTERN,
    )
    copartitioned: tuple[tuple[str, ...], ...] = setting(
        (),
        "lists of topics",
        "Sets of topics whose data the group combines by key, as a join does: each member must own the same partition "
        "numbers of all topics in a set.",
        TOPIC_SETS,
    )
    redundancy: int = setting(
        1,
        "members",
        "Number of members that must own each partition at the same time. More than 1 is for assignors of your own, "
        "such as for standby members.",
        number_from(1, MOST_MEMBERS),
    )
    freshness_objective_s: int = setting(
        0,
        "seconds",
        "Allowed age of the oldest unread message. A run reports a finding if the age is larger in more than 5 % of "
        "the minutes of a day. If several sections match a group, the smallest value counts. 0: no limit.",
        number_from(0, 315_360_000),
    )
    is_rack_local: bool = setting(
        False,
        "true or false",
        "true: a member that names its rack must only have partitions with a replica in that rack.",
        FLAG,
    )


def sections_of(kind: type, about: str) -> Any:
    """A section of this kind that a file can repeat."""
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
        "Extra requirements for some groups. Repeat the section as often as you like. A group must meet the "
        "requirements of every section whose pattern matches its whole id. The settings of a section:",
    )


def options_of(settings: Settings, hadoop: Mapping[str, str] | None = None) -> StorageOptions:
    """Storage options of a command: from these settings and the environment. `hadoop`: the options that a Spark
    application has for Hadoop's clients."""
    return storage_options(settings.storage.options, os.environ, hadoop or {}, settings.storage.retry_seconds)


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
        # Merged files would be small files again, and every run would rewrite them.
        told = f"small_file_bytes = {settings.tables.small_file_bytes} is larger than file_bytes"
        raise Failure(ExitCode.USAGE, f"{file}: [tables] {told} = {settings.tables.file_bytes}; make it smaller")
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
            raise Failure(
                ExitCode.USAGE, f"{place} pattern is missing; give a regular expression for the ids of the groups"
            )
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
    """The section that has a key of this name; if there is none, all sections."""
    return holding(name) or [heading(section) for section in dataclasses.fields(Settings)]


def holding(name: str) -> list[str]:
    """Keys of this name, each with its section."""
    return [f"{heading(section)} {name}" for section in dataclasses.fields(Settings) if name in named(section)]


def heading(section: Any) -> str:
    return f"[[{section.name}]]" if "each" in section.metadata else f"[{section.name}]"


def named(section: Any) -> set[str]:
    return {key.name for key in dataclasses.fields(section.metadata.get("each", section.type))}


def unknown(place: str, shown_name: str, wanted: str, known: list[str]) -> Failure:
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.3) or sorted(known)[:1]
    return Failure(ExitCode.USAGE, f"{place} {shown_name}: no such setting, the nearest is {near[0]}")


def shown(value: object) -> str:
    """In TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def settings_hash(settings: Settings) -> str:
    """Equal for equal values. Storage options are left out, since they change no row."""
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
