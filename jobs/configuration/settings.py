"""The settings of all jobs, each with its default, unit and check, and what it does; and the file that sets them, which
is checked before a job starts. conf/groupscope.toml and docs/settings.md list them, by this table."""

import dataclasses
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from jobs.output.failure import Failure, misuse
from jobs.storage.options import ANSWER_SECONDS, KNOWN, RETRY_SECONDS, StorageOptions, is_known, storage_options
from schemas.words.gate import TOOL_GROUPS
from udfs.log.release_lines import BY_RELEASE
from udfs.sentences.suggestions import nearest_to

# The default and the maximum of the broker's group.max.size.
MOST_MEMBERS = 2**31 - 1
# The largest offset, and the largest value of message.max.bytes.
MOST_MESSAGES, MOST_RECORD_BYTES = 2**63 - 1, 2**31 - 1
# Counts of what happens, and bytes of files and logs, far above all that is useful.
MOST_OFTEN, MOST_BYTES = 1_000_000_000, 1 << 50
# Times in SQL must not leave the years 1 to 9999, and those in arrays must fit into 64 bits.
TEN_YEARS_S, CENTURY_DAYS = 315_360_000, 36_500
CENTURY_HOURS, CENTURY_MS = CENTURY_DAYS * 24, CENTURY_DAYS * 86_400_000
DEFAULT_PATH = Path("conf/groupscope.toml")
# Settings that are gone, and those that are there instead.
REPLACED = {"storm_rebalances_per_hour": ("storm_rebalances", "storm_gap_s")}


class Check(NamedTuple):
    """`expected` describes the value in messages. `right` returns the value as the program uses it; for a wrong value
    it returns None, or raises a ValueError with the reason."""

    expected: str
    right: Callable[[Any], Any]


def number_from(least: int, most: int) -> Check:
    # True and False are integers to Python, though not to TOML.
    return Check(
        f"a whole number from {least:_} to {most:_}",
        lambda value: value if type(value) is int and least <= value <= most else None,
    )


def real(what: str, least: int, most: int) -> Check:
    # A whole 0 or 1 is the same setting as 0.0 or 1.0, and must not change the hash of the settings.
    return Check(
        f"a {what} from {least:_} to {most:_}",
        lambda value: float(value) if type(value) in (int, float) and least <= value <= most else None,
    )


def one_of(*choices: str) -> Check:
    expected = " or ".join(f'"{choice}"' for choice in choices)
    return Check(expected, lambda value: value if value in choices else None)


def right_pattern(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(error) from None
    return value


def right_patterns(value: object) -> tuple[str | None, ...] | None:
    patterns = tuple(map(right_pattern, value)) if isinstance(value, list) else (None,)
    return None if None in patterns else patterns


def right_topic_sets(value: object) -> tuple[tuple[str, ...], ...] | None:
    def is_set(topics: Any) -> bool:
        are_texts = isinstance(topics, list) and all(isinstance(topic, str) for topic in topics)
        return are_texts and 1 < len(topics) == len(set(topics))

    return tuple(map(tuple, value)) if isinstance(value, list) and all(map(is_set, value)) else None


def right_options(value: object) -> tuple[tuple[str, str], ...] | None:
    """Messages name only the keys: values may be secrets."""
    if not isinstance(value, dict):
        return None
    for name, text in value.items():
        if not is_known(name):
            raise ValueError(f"{name}: no such option{nearest_to(name, KNOWN)}")
        if not isinstance(text, str):
            raise ValueError(f"{name}: its value is not a string")
    return tuple(sorted(value.items()))


SHARE, FACTOR = real("share", 0, 1), real("number", 1, 1000)
PATTERN = Check("a regular expression", right_pattern)
PATTERNS = Check("a list of regular expressions", right_patterns)
TOPIC_SETS = Check("a list of lists, each with two or more different topics", right_topic_sets)
FLAG = Check("true or false", lambda value: value if isinstance(value, bool) else None)
TEXT = Check("a text", lambda value: value if isinstance(value, str) else None)
OPTIONS = Check("a table with a string for each option", right_options)
RELEASE = Check(
    f'a release from "{next(iter(BY_RELEASE))}" to "{list(BY_RELEASE)[-1]}", such as "4.1", "3.7-new", or ""',
    lambda value: value if isinstance(value, str) and (not value or value in BY_RELEASE) else None,
)


def setting(default: float | str | tuple[Any, ...], unit: str, check: Check, comment: str) -> Any:
    return field(default=default, metadata={"unit": unit, "comment": comment, "check": check})


# fmt: off
@dataclass(frozen=True)
class Ingest:
    max_rejected_share: float = setting(0.001, "share of a run's records, 0 to 1", SHARE,
        "If the share of rejected and damaged records is larger, the run still writes all tables, then ends with "
        "exit code 22. Two things do not count: record types and versions unknown to this release, and a last batch "
        "that was not completely written when the log was copied.")
    unreadable: str = setting("refuse", '"refuse" or "skip"', one_of("refuse", "skip"),
        "What a run does if a part of --source is there and cannot be read: a folder of an offsets partition or a "
        "segment on a local disk, or a file of an archive. refuse: it ends with exit code 21 and changes nothing. "
        "skip: it goes on without the part, and reports it as a critical finding until a later run reads it. Of "
        "segments in an object store or in HDFS, a part that cannot be read always ends the run.")


@dataclass(frozen=True)
class Tables:
    small_files: int = setting(16, "files", number_from(2, MOST_OFTEN),
        "With `--optimize auto`, a run merges the small files of each table that has this many or more of them.")
    small_file_bytes: int = setting(16 << 20, "bytes", number_from(1, MOST_BYTES),
        "A file below this size is a small file.")
    file_bytes: int = setting(128 << 20, "bytes", number_from(1 << 20, MOST_BYTES),
        "Approximate size of merged files.")


@dataclass(frozen=True)
class Broker:
    default_assignor: str = setting("", "an assignor's name", TEXT,
        "The broker's default assignor, which is the first entry of its setting group.consumer.assignors, such as "
        "uniform. It is for groups of the consumer protocol (KIP-848) whose members do not choose an assignor. A "
        "snapshot with the broker's settings overrides it. Empty: Groupscope infers the assignor from the recorded "
        "assignments.")
    release: str = setting("", "a release of Kafka, without its last number", RELEASE,
        "The release of the brokers that wrote the log, such as 4.1. From 3.7 to 3.9 it means the old coordinator, "
        "the default there; 3.7-new is 3.7 with the new one. The replay then follows its rules (docs/history.md, "
        "Whose rules), whatever the records show. Empty: the records decide, for each part of the log, and where "
        "they do not show it, today's rules apply.")


@dataclass(frozen=True)
class Burrow:
    """The settings of Burrow's rules (`udfs/rules/verdicts/burrow_evaluation.py`), with Burrow's own names."""

    intervals: int = setting(10, "commits", number_from(2, 1000),
        "Burrow's rules compare this many of the newest commits of a partition.")
    expire_group_s: int = setting(604_800, "seconds", number_from(1, TEN_YEARS_S),
        "Burrow's rules ignore commits that are older than this at the as-of time. A group that has only such old "
        "commits has the lag verdict NOTFOUND. Each run reads all commits of this period.")
    minimum_complete: float = setting(0.0, "share of `intervals`, 0 to 1", SHARE,
        "A partition that has fewer commits than this share of `intervals` has the lag verdict OK.")
    allowed_lag: int = setting(0, "messages", number_from(0, MOST_MESSAGES),
        "Lag up to this counts as no lag.")
    min_distance_s: int = setting(0, "seconds", number_from(0, TEN_YEARS_S),
        "Commits of a partition that are closer together than this count as one.")


@dataclass(frozen=True)
class Verdicts:
    """The settings of our own rules (`udfs/rules/verdicts/own_verdict.py`)."""

    window_s: int = setting(3600, "seconds", number_from(60, 86_400),
        "Length of the window before the as-of time. The rules look at commits, lag, members and rewinds (commits "
        "of a lower offset than before) in this window.")
    allowed_lag: int = setting(0, "messages", number_from(0, MOST_MESSAGES),
        "Lag up to this counts as no lag.")
    least_time_lag_s: int = setting(60, "seconds", number_from(0, TEN_YEARS_S),
        "Lag is ignored while the oldest unread message is younger than this.")
    silence_factor: int = setting(10, "times", number_from(1, MOST_OFTEN),
        "A partition counts as silent if the time since its last commit is longer than this many times its usual "
        "time between commits. The usual time is known from at least 5 commits, which go on for this many times it "
        "and for least_time_lag_s.")
    least_repeats: int = setting(3, "commits", number_from(2, MOST_OFTEN),
        "A partition that commits the same offset this many times counts as not advancing.")
    in_use_share: float = setting(0.5, "share of the time, 0 to 1", SHARE,
        "A group that lost its members is down, not retired, if it was in use (with members, or with regular "
        "commits) for at least this share of the last in_use_days before.")
    in_use_days: int = setting(7, "days", number_from(1, 365),
        "How far back from when the group went away in_use_share is measured.")
    in_use_s: int = setting(3600, "seconds", number_from(0, TEN_YEARS_S),
        "A group that was in use for no longer than this was only tried: it is retired when its members leave.")
    absence_factor: float = setting(1.5, "times", FACTOR,
        "A group that comes and goes, such as a nightly batch, is down if it is away for longer than this many "
        "times the longest of its last ten absences.")


@dataclass(frozen=True)
class Gate:
    """Limits that `schemas/findings` and `schemas/metrics` use, each under the same name."""

    event_term_days: int = setting(7, "days", number_from(1, CENTURY_DAYS),
        "An event, such as a reset, is a finding of every run whose as-of time is up to this much later than the "
        "event. --since overrides it. Conditions that last, such as a silent group, are findings as long as they "
        "last.")
    max_source_age_hours: int = setting(25, "hours", number_from(0, CENTURY_HOURS),
        "A run reports a finding if the newest record or snapshot is older than this when the run starts, and no "
        "run in this time read a newer one: the source may have stopped. The first run on an old copy reports none: "
        "its page says when the log ends. 0: neither.")
    expiring_soon_hours: int = setting(25, "hours", number_from(0, CENTURY_HOURS),
        "A run reports a finding if offsets expire within this time after the as-of time.")
    max_unread_ms: int = setting(60_000, "milliseconds", number_from(0, CENTURY_MS),
        "A run reports a finding if a partition may have been unread for longer than this before a member got it.")
    hanging_transaction_ms: int = setting(3_600_000, "milliseconds", number_from(0, CENTURY_MS),
        "A run reports a finding if a transaction that committed offsets stays open for longer than this. The "
        "default is four times transaction.max.timeout.ms, the longest timeout that brokers allow by default.")
    storm_rebalances: int = setting(10, "rebalances", number_from(2, MOST_OFTEN),
        "A run reports a finding if a group rebalances again and again: this many times or more, each time within "
        "storm_gap_s. It is no finding if each client left and came back up to twice, as in a deployment.")
    storm_gap_s: int = setting(300, "seconds", number_from(1, TEN_YEARS_S),
        "Rebalances of a group belong together if each begins within this time after the one before began.")
    reset_gap_s: int = setting(60, "seconds", number_from(0, TEN_YEARS_S),
        "Moves of a group's offsets are one event if each follows within this time after the one before.")
    freshness_missed_percent: int = setting(5, "percent of the minutes of a day", number_from(1, 100),
        "A run reports a finding if the time lag of a group is above its `freshness_objective_s` in more of the "
        "known minutes of a day than this.")
    record_limit_bytes: int = setting(1_048_588, "bytes", number_from(1, MOST_RECORD_BYTES),
        "The largest batch of records that brokers accept for __consumer_offsets (message.max.bytes). A snapshot "
        "with the broker's settings overrides it. A run reports a finding if a batch of records of a group is "
        "larger than 70 % of this.")
    offsets_partition_limit_bytes: int = setting(1 << 30, "bytes", number_from(1, MOST_BYTES),
        "A run reports a finding if the segments of an offsets partition are larger than this: the cleaner may have "
        "stopped.")
    needless_commits_per_day: int = setting(100_000, "commits", number_from(1, MOST_OFTEN),
        "A run reports a finding if a group makes more commits per day than this and one of two things is true: "
        "more than 90 % of the commits repeat the previous offset; or there are more than twice as many commits as "
        "with one commit of each partition every 5 seconds.")
    dead_group_days: int = setting(30, "days", number_from(1, CENTURY_DAYS),
        "A run reports a finding if a group has had no members and no commits for longer than this.")
    max_prometheus_groups: int = setting(1_000, "groups", number_from(0, MOST_OFTEN),
        "--prometheus writes up to this many groups, those with the worst lag verdicts first. Group ids are labels, "
        "and Prometheus needs a bounded number of them.")
    tool_groups: tuple[str, ...] = setting(
        tuple(begins + what_follows for begins, what_follows in TOOL_GROUPS.items()),
        "a list of regular expressions", PATTERNS,
        "Ids of groups that tools use for themselves. An expression must match the whole id (unlike in --group). "
        "Findings about these groups are left out; the run prints how many findings these are.")
    exclude_groups: tuple[str, ...] = setting((), "a list of regular expressions", PATTERNS,
        "Groups whose id contains a match are left out, as groups of tools are. Unlike with --exclude-group, the "
        "run still counts as a whole one.")


@dataclass(frozen=True)
class Storages:
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False, metadata={
        # Its value is never shown in a message.
        "is_secret": True, "unit": "a table of strings", "check": OPTIONS, "default": "{}", "comment":
        "How to reach object stores and HDFS. Keys are the usual environment variables in lower case, such as "
        "aws_endpoint_url, google_service_account or azure_storage_account_key, and Hadoop's names (dfs.…) for HDFS. "
        "An option in this file wins over the environment variable of the same name. Put secrets into environment "
        "variables, not into this file.",
    })
    retry_seconds: int = setting(RETRY_SECONDS, "seconds", number_from(1, 3600),
        "A failed request to an object store is repeated for this long. Then the command fails. A request that has "
        "no complete answer after this time has failed, too.")
    answer_seconds: int = setting(ANSWER_SECONDS, "seconds", number_from(1, 3600),
        "If HDFS does not answer a request for this long, the command fails. It is the time for one request, not "
        "for a file: a large file may take longer. Choose more than the name nodes need when another one takes "
        "over. It is also the time in which a local disk must list a folder of --source, or open a file.")


@dataclass(frozen=True)
class Group:
    pattern: str = setting("", "a regular expression", PATTERN,
        "Required. The section applies to the groups whose whole id matches.")
    copartitioned: tuple[tuple[str, ...], ...] = setting((), "lists of topics", TOPIC_SETS,
        "Sets of topics whose data the group combines by key, as a join does: each member must own the same "
        "partition numbers of all topics in a set.")
    redundancy: int = setting(1, "members", number_from(1, MOST_MEMBERS),
        "Number of members that must own each partition at the same time. Set more than 1 only for an assignor of "
        "your own, such as one with standby members.")
    freshness_objective_s: int = setting(0, "seconds", number_from(0, TEN_YEARS_S),
        "Allowed age of the oldest unread message. A run reports a finding if the age is larger in more than "
        "`freshness_missed_percent` of the minutes of a day. If several sections match a group, the smallest value "
        "counts. 0: no limit.")
    is_rack_local: bool = setting(False, "true or false", FLAG,
        "true: a member that names its rack must only have partitions with a replica in that rack.")


@dataclass(frozen=True)
class Settings:
    ingest: Ingest = Ingest()
    tables: Tables = Tables()
    broker: Broker = Broker()
    burrow: Burrow = Burrow()
    verdicts: Verdicts = Verdicts()
    gate: Gate = Gate()
    storage: Storages = Storages()
    # A section that a file can repeat.
    groups: tuple[Group, ...] = field(default=(), metadata={"each": Group, "about":
        "Extra requirements for some groups. Repeat the section as often as you like. A group must meet the "
        "requirements of every section whose pattern matches its whole id. A run reports a finding if the newest "
        "assignment of a group with members does not.",
    })
# fmt: on


def options_of(settings: Settings, hadoop: Mapping[str, str] | None = None) -> StorageOptions:
    """Storage options of a command: from these settings and the environment. `hadoop`: the options that a Spark
    application has for Hadoop's clients."""
    own = settings.storage
    return storage_options(own.options, os.environ, hadoop or {}, own.retry_seconds, own.answer_seconds)


def settings_hash(settings: Settings) -> str:
    """Equal for equal values. Storage options are left out, since they change no row."""
    values = {name: value for name, value in dataclasses.asdict(settings).items() if name != "storage"}
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def number_settings(section: Any) -> list[tuple[str, int]]:
    """Name and value of each setting of a section that is a number."""
    return [(name, value) for name, value in sorted(vars(section).items()) if isinstance(value, int)]


# Reading a file.
SECTIONS = {section.name: section for section in dataclasses.fields(Settings)}


def load_settings(path: Path | None = None) -> Settings:
    """The settings of this file. Without a path: of `conf/groupscope.toml` if it exists, else the defaults."""
    if path is None and not DEFAULT_PATH.exists():
        return Settings()
    file = DEFAULT_PATH if path is None else path
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise misuse(f"{file}: {error.strerror}; give a file of settings") from None
    except ValueError as error:  # wrong TOML and wrong UTF-8 alike
        raise misuse(f"{file}: {error}; write it as TOML") from None
    settings = Settings(**{name: parse_section(str(file), name, content) for name, content in document.items()})
    if settings.tables.small_file_bytes > settings.tables.file_bytes:
        # Merged files would be small files again, and every run would rewrite them.
        line = f"small_file_bytes = {settings.tables.small_file_bytes} is larger than file_bytes"
        raise misuse(f"{file}: [tables] {line} = {settings.tables.file_bytes}; make it smaller")
    return settings


def parse_section(file: str, name: str, content: Any) -> Any:
    """A section, or all sections of a name that a file can repeat."""
    shown = f"[{name}]" if isinstance(content, dict) else name
    if name not in SECTIONS:
        known = holding(name) or list(map(heading, SECTIONS.values()))
        raise unknown(file, shown, f"[{name}]", known)
    head, kind, is_repeated = heading(SECTIONS[name]), kind_of(SECTIONS[name]), "each" in SECTIONS[name].metadata
    blocks = content if is_repeated else [content]
    if not isinstance(blocks, list) or not all(isinstance(each, dict) for each in blocks):
        value = "" if isinstance(content, dict) else f" = {toml_text(content)}"
        raise misuse(f"{file}: {shown}{value}; give {'sections' if is_repeated else 'a section'} {head}")
    if not is_repeated:
        return kind(**parse_keys(kind, content, f"{file}: {head}"))
    each_block = enumerate(blocks, 1)
    return tuple(kind(**parse_keys(kind, each, f"{file}: {head} number {number}:")) for number, each in each_block)


def parse_keys(kind: Any, content: Mapping[str, Any], place: str) -> dict[str, Any]:
    keys, values = {key.name: key for key in dataclasses.fields(kind)}, {}
    for name, value in content.items():
        if name in REPLACED:
            raise misuse(f"{place} {name}: is no setting any more; give {' and '.join(REPLACED[name])} instead")
        if name not in keys:
            raise unknown(place, name, name, holding(name) or list(keys))
        check: Check = keys[name].metadata["check"]
        written = "…" if "is_secret" in keys[name].metadata else toml_text(value)
        line = f"{place} {name} = {written}; give {check.expected}"
        try:
            values[name] = check.right(value)
        except ValueError as error:
            raise misuse(f"{line}: {error}") from None
        if values[name] is None:
            raise misuse(line)
    if "pattern" in keys and not values.get("pattern"):
        raise misuse(f"{place} pattern is missing; give a regular expression for the ids of the groups")
    return values


def kind_of(section: Any) -> Any:
    return section.metadata.get("each", section.type)


def heading(section: Any) -> str:
    return f"[[{section.name}]]" if "each" in section.metadata else f"[{section.name}]"


def holding(name: str) -> list[str]:
    """Keys of this name, each with its section."""
    sections = ((heading(each), dataclasses.fields(kind_of(each))) for each in SECTIONS.values())
    return [f"{head} {key.name}" for head, keys in sections for key in keys if key.name == name]


def unknown(place: str, shown_name: str, wanted: str, known: list[str]) -> Failure:
    near = nearest_to(wanted, known) or f", the nearest is {min(known)}"
    return misuse(f"{place} {shown_name}: no such setting{near}")


def toml_text(value: object) -> str:
    """In TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
