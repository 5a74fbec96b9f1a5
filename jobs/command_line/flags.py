"""Every command with its arguments and flags. Parsing, help, suggestions, completion and docs/commands.md follow from
this table.

It imports nothing slow, so that help and usage errors appear at once: kinds of values, and choices that other modules
know, are named by their place, and loaded for the one command that is typed.
"""

import argparse
import importlib
import os
from collections.abc import Iterator
from enum import Enum, Flag, auto
from pathlib import Path
from typing import Any, NamedTuple

# As in pyproject.toml, which is not in the zip that spark-submit ships.
VERSION = "0.1.0"
LOCAL, SPARK = "local", "spark"
NEVER, CRITICAL = "never", "critical"
# At the end of a word of --fail-on: what runs reported before does not count.
NEW = "-new"
FAIL_ON = (CRITICAL, "warning", CRITICAL + NEW, f"warning{NEW}", NEVER)
LOCK_WAIT = 600
SHELLS = ("bash", "zsh", "fish")
# Words of help.
NEWEST = "time of the newest record or snapshot"
TIMES = (
    "ISO 8601 (in the zone of --tz if it has none), a time of day such as 05:27, yesterday, 'yesterday 05:27', "
    "'5m ago' or -5m, now, or milliseconds since 1970"
)
MATCHES = "groups whose id contains a match of this regular expression"


class Kind(Flag):
    NONE = 0
    # Needs no pandas unless it starts Spark.
    LIGHT = auto()
    # Answers in one step.
    STEP = auto()
    # Has names of groups or topics as arguments, which Kafka lets begin with a hyphen.
    NAMES = auto()
    # A job that the local engine can run.
    JOB = auto()


STEP = Kind.LIGHT | Kind.STEP
NAMES = STEP | Kind.NAMES


class Argument(NamedTuple):
    """One flag or one word, as `add_argument` of argparse takes it."""

    name: str
    words: dict[str, Any]


class OneOf(NamedTuple):
    """Flags of which one at most can be typed."""

    flags: tuple[Argument, ...]
    is_required: bool = False


class Command(NamedTuple):
    """`untyped`: what a flag is that was not typed, if the command must know whether it was."""

    summary: str
    arguments: tuple[Argument | OneOf, ...]
    kind: Kind = Kind.NONE
    untyped: tuple[str, ...] = ()


def flag(name: str, value: str, help: str, **words: Any) -> Argument:
    return Argument(name, {"metavar": value, "help": help, **words})


def switch(name: str, help: str, **words: Any) -> Argument:
    return Argument(name, {"action": "store_true", "help": help, **words})


def choice(name: str, choices: Any, help: str, **words: Any) -> Argument:
    return Argument(name, {"choices": choices, "help": help, **words})


def word(value: str, help: str | None = None, dest: str = "", **words: Any) -> Argument:
    return Argument(dest or value.lower(), {"metavar": value, "help": help, **words})


def repeated(name: str, value: str, help: str, **words: Any) -> Argument:
    return flag(name, value, f"{help}; can be repeated", **{"action": "append", "default": [], **words})


def file(name: str, help: str) -> Argument:
    return flag(name, "FILE", help, type=Path)


def at(text: str = "the time to show", default: str = NEWEST) -> Argument:
    return flag("--at", "T", f"{text}: {TIMES} (default: {default})")


def as_of(default: str = NEWEST) -> Argument:
    text = "evaluate lag, expiry, verdicts and findings as of this time"
    return flag("--as-of", "T", f"{text}: {TIMES} (default: {default})")


def tz(what: str = "times that you type, and of times in tables") -> Argument:
    text = "a name such as Europe/Berlin, or local for that of this machine (default: UTC); CSV and JSON are in UTC"
    return flag("--tz", "ZONE", f"time zone of {what}: {text}", type="zone")


def form(default: str = "table", help: str = "output as an aligned table (the default), CSV or JSON lines") -> Argument:
    return choice("--format", "jobs.output.rows:Format", help, default=default)


def wide(what: str = "long names and texts") -> Argument:
    text = "in full, in lines that may be wider than the terminal; CSV and JSON always do"
    return switch("--wide", f"show {what} {text}")


def full(what: str) -> Argument:
    return switch("--full", f"{what}, and ignore what earlier runs computed")


def judging(until: str = "", group: str = "") -> tuple[Argument, ...]:
    """What the gate judges. Each of them narrows the run, so that it never counts for the whole. `until` and `group`:
    what else `gate` uses them for."""
    return (
        flag("--since", "T", "leave out findings about events up to this time (default: `event_term_days` of the "
             "settings before the --as-of time)"),
        flag("--until", "T", f"leave out findings about events after this time (default: the --as-of time){until}"),
        flag("--group", "REGEX", f"report only findings about {MATCHES}{group}"),
        flag("--exclude-group", "REGEX", f"leave out findings about {MATCHES}"),
    )  # fmt: skip


# fmt: off
EVERYTHING = "all columns, member ids, long names and texts"
GROUP = word("GROUP")
WAREHOUSE = flag("--warehouse", "DIR", "folder or URI of the Delta tables (default: warehouse/)", default="warehouse")
CLUSTER = flag(
    "--cluster", "NAME", "name of the Kafka cluster in the warehouse; required if there are several (default: the only "
    "one; in a new warehouse the name is 'default')", type="cluster_name")
CONFIG = file("--config", "settings file (default: conf/groupscope.toml, if it exists)")
LOCK = flag(
    "--lock-wait", "SECONDS", f"how many seconds to wait while another run uses the warehouse (default: {LOCK_WAIT})",
    type="seconds", default=LOCK_WAIT)
QUIET = switch("--quiet", "do not show progress and time left")
REPORT = flag(
    "--report", "DIR", "folder or URI for the HTML report (default: report/, or the folder _report/ of a warehouse "
    "that is not on a local disk)")
RESULT_FILE = file("--result-file", "also write the result of the run to this file, as JSON")
WRITER = (WAREHOUSE, CLUSTER, CONFIG, LOCK, QUIET)
ENGINE = (
    choice("--engine", (LOCAL, SPARK), "where the work runs: in processes on this machine (local, the default) or in "
           "Spark (the default under spark-submit)"),
    flag("--workers", "N", "number of processes of the local engine (default: one per core, fewer if memory is short)",
         type="number_of_workers"),
)
RUN = (RESULT_FILE, *WRITER, *ENGINE, form())
READER = (WAREHOUSE, CLUSTER, tz(), form(), QUIET)
INPUT = (
    flag("--source", "FORM:PLACE", "where to read the offsets topic: segments:DIR (segment files), kafka:HOST:PORT (a "
         "live cluster) or records:PATH (an archive in Parquet, Delta or JSON lines)"),
    file("--command-config", "for a live cluster: file with Kafka client properties, such as those for SASL and TLS"),
    flag("--offsets-partition", "N", "the partition of __consumer_offsets that the segment files belong to, if their "
         "folder is not named __consumer_offsets-N", type="partition"),
    repeated("--snapshots", "FILE", "file of snapshots (end offsets, brokers, settings) from groupscope capture, or "
             "the output of kafka-get-offsets or kafka-topics --describe"),
    flag("--captured-at", "T", f"when the output of Kafka's tools in --snapshots was captured: {TIMES} (default: when "
         "the file was last changed)"),
    choice("--optimize", ("auto", "never", "full"), "when to merge small files of the tables: auto (when a table has "
           "many; the default), never, or full (in this run)", default="auto"),
    RESULT_FILE,
)
FAIL = choice(
    "--fail-on", FAIL_ON, "exit with code 20 if a finding (a problem that the run reports) has this severity or a "
    "higher one; with -new: if one of them is new, which no run as of an earlier time reported (default: critical)",
    default=FAIL_ON[0])
SPAN = "TOPIC:PARTITION:FROM:TO[:ROWS]"
FOR_LINES = "for lines without the field"

SECTIONS: dict[str, dict[str, Command]] = {
    "Ask about the past": {
        "status": Command("show on one screen what is wrong now: groups, resets, storms, checks, coverage", (
            word("GROUP", "show more about this group (default: all groups)", nargs="?"),
            switch("--exit-code", "end with 20 if a critical finding lasts that no waiver accepts (with GROUP: a "
                   "finding of the group); without this flag, end with 0"),
            CONFIG, *READER, wide(),
        ), NAMES),
        "groups": Command("list the groups at any past time, like kafka-consumer-groups --list", (
            choice("--type", "schemas.words.records:GroupType", "only groups of this type",
                   type="group_type"),
            choice("--state", "schemas.words.history:GroupState", "only groups in this state",
                   type="group_state"),
            at(), *READER, wide(),
        ), STEP),
        "describe": Command("show a group at any past time, like kafka-consumer-groups --describe", (
            GROUP,
            OneOf(tuple(
                Argument(f"--{name}", {"dest": "shown", "action": "store_const", "const": name, "default": "offsets",
                                       "help": text})
                for name, text in {
                    "offsets": "show committed offsets, lag and owners (the default)",
                    "members": "show members and the number of partitions each owns",
                    "state": "show state, assignor and coordinator",
                }.items()
            )),
            switch("--verbose", "show more columns: epochs and assignments"),
            at(), *READER, wide(EVERYTHING),
        ), NAMES),
        "rebalances": Command("show a group's timeline: rebalances, restarts, failovers, silences", (
            GROUP,
            flag("--from", "T", f"leave out what ended before this time: {TIMES}", dest="first"),
            flag("--to", "T", "leave out what began after this time", dest="last"),
            *READER, wide(EVERYTHING),
        ), NAMES),
        "why": Command(
            "explain what is wrong with a group, and a rebalance: cause, members, partitions, unread time, evidence", (
                GROUP, at("explain the event at this time, or the nearest one before or after it"), *READER,
                wide("member ids"),
            ), NAMES),
        "owner": Command("show which member owned a partition at any past time", (
            word("TOPIC"), word("PARTITION", type="partition"),
            flag("--group", "GROUP", "only the owner in this group (default: in each group)"),
            at(), *READER, wide(EVERYTHING),
        ), NAMES),
        "partition": Command("show a group's offsets partition and coordinator, and until when the partition was read",
                             (GROUP, *READER), NAMES),
        "diff": Command("compare a group at two times", (
            GROUP,
            flag("--from", "T1", f"the earlier time: {TIMES}", dest="first", required=True),
            flag("--to", "T2", f"the later time (default: {NEWEST})", dest="last"),
            *READER, wide(EVERYTHING),
        ), NAMES),
        "offsets": Command("print the offsets committed at a past time, as CSV for an offset reset", (
            GROUP, at(), WAREHOUSE, CLUSTER, tz(),
            form("csv", "output as CSV without column names, as kafka-consumer-groups reads it (the default), as an "
                 "aligned table or as JSON lines"),
            QUIET, wide(),
        ), NAMES),
        "whatif": Command("compute the assignment with another assignor, other members or more partitions", (
            GROUP,
            choice("--assignor", "udfs.assignors.questions:OF_RELEASES", "only this assignor (default: compare all)"),
            repeated("--remove-member", "M", "suppose this member leaves"),
            flag("--add-members", "N", "suppose N more members join", default=0,
                 type="number_of_members"),
            repeated("--partitions", "TOPIC=N", "suppose the topic has N partitions",
                     type="topic_number"),
            switch("--verbose", "also show the owner of each partition before and after"),
            switch("--print-spec", "compare nothing; print the group's topics and members as input for groupscope "
                   "assign"),
            *READER, wide(EVERYTHING),
        ), NAMES),
        "sql": Command("query the tables, views and functions with SQL", (
            word("SQL|FILE", "SQL statements, or a file with statements (default: on a terminal, ask for statements; "
                 "otherwise, read them from standard input)", "text", nargs="?"),
            WAREHOUSE, form(), wide(), QUIET,
            choice("--engine", (LOCAL, SPARK), "local: run the SQL by DuckDB in this process (the default); spark: run "
                   "it by Spark (the default under spark-submit). The SQL must be in the dialect of the engine"),
            switch("--register", "create the tables, views and functions in the Spark catalog"),
            flag("--database", "NAME", "with --register: the database to create them in"),
            choice("--print-views", "jobs.queries.definitions.dialects:Dialect", "print the CREATE VIEW statements of "
                   "all views in the SQL of this product"),
            choice("--print-tables", "jobs.queries.definitions.dialects:Dialect", "print the SQL that gives all tables "
                   "a name in this product, at their current versions; run it before the SQL of --print-views"),
        )),
    },
    "Keep a warehouse up to date": {
        "audit": Command("run ingest, replay, assignments, lag, gate and report: the job to schedule", (
            *INPUT, FAIL, *judging(), as_of(f"{NEWEST}, or the current time if a live cluster is read"),
            file("--prometheus", "also write metrics to this file, for the textfile collector of the Prometheus node "
                 "exporter: findings, lag, lag verdicts (such as OK or STOP)"),
            REPORT,
            switch("--verbose", "print a longer page: known findings too, by kind, the rows of each table, and SQL "
                   "that lists more"),
            tz("times that you type, of the run page and of the report"), *WRITER, *ENGINE, form(),
        ), Kind.JOB),
        "ingest": Command("read the offsets topic into Delta tables", (
            *INPUT,
            switch("--retry-rejected", "try again to decode records that an earlier run rejected, as after an upgrade "
                   "of Groupscope"),
            tz("times that you type"), *WRITER, *ENGINE, form(),
        ), Kind.JOB),
        "replay": Command("rebuild the history of groups, owners and offsets",
                          (full("replay all stored records again, not only new ones"), *RUN), Kind.JOB),
        "assignments": Command("check whether Kafka's assignors compute the assignments in the log",
                               (full("recompute all assignments"), *RUN), Kind.JOB),
        "lag": Command("compute lag and a lag verdict for each partition; detect offset resets and expiring offsets",
                       (full("compute everything again"), *RUN, as_of(), tz("times that you type")), Kind.JOB),
        "gate": Command("list findings about groups, worst first; with --span: record that you validated data", (
            FAIL,
            *judging("; with --override: the time until which the override is valid",
                     "; with --span: the id of the group, not a regular expression"),
            as_of(), tz("times that you type, and of times on the page"),
            repeated("--span", SPAN, "check no table and list no finding; only record that you validated the data made "
                     "from these messages: FROM is the first offset, TO the offset after the last, ROWS the number of "
                     "rows that you wrote from them; needs --result, and --group with one group id", default=None,
                     type="span"),
            flag("--result", "FILE", "with --span: file with the Great Expectations result for this data, as JSON (a "
                 "hyphen in place of the name: standard input)"),
            flag("--override", "REASON", "with --span: accept the data although validation failed, for this reason; "
                 "needs --actor, and --until with the time when the acceptance ends"),
            flag("--actor", "WHO", "with --override: who accepts the data"),
            *RUN,
        ), Kind.JOB, ("fail_on", "lock_wait")),
        "report": Command("write the HTML report", (
            WAREHOUSE, CLUSTER, REPORT, tz("times in the report"),
            flag("--group", "REGEX", f"only {MATCHES}"),
            flag("--exclude-group", "REGEX", f"leave out {MATCHES}"),
            switch("--redact", "replace names with hashes that use a secret key, so that you can share the report"),
            file("--redact-key", "file with the key of these hashes: the same key gives the same hashes in every "
                 "report (default: a new key each time)"),
            flag("--split", "BYTES", "largest size of a file: above it groups without findings are on pages beside the "
                 "first one (default: 15000000)", type="page_bytes"),
            flag("--copy-to", "PLACE", "with --redact: instead of a report, write a copy of the whole warehouse into "
                 "this new or empty folder or URI: names are hashes, raw bytes are NULL, and no run may change it"),
            QUIET,
            form(help="print what was written as a line of text (the default), CSV or JSON; the report is HTML"),
        ), Kind.LIGHT),
        "capture": Command("take snapshots of a live cluster: end offsets, brokers, settings", (
            flag("--source", "kafka:HOST:PORT[,…]", "one or more brokers of the cluster", required=True),
            file("--command-config", "file with Kafka client properties, such as those for SASL and TLS"),
            repeated("--topic", "NAME", "also include this topic, although no group commits offsets for it",
                     dest="topics"),
            flag("--every", "SECONDS", "seconds from one snapshot to the next (default: take one snapshot)",
                 type="seconds"),
            flag("--for", "SECONDS", "with --every: stop after this many seconds (default: run until Ctrl-C or "
                 "SIGTERM)", type="seconds", dest="lasting"),
            flag("--into", "FILE", "append snapshots to this file as JSON lines instead of writing them to the "
                 "warehouse"),
            *WRITER,
        ), untyped=("warehouse",)),
        "mark": Command(
            "keep a mark of a deployment or change: why, rebalances and the report show what happened soon after", (
                word("TEXT", "what was deployed or changed, in quotes", nargs="?"),
                at("when it was deployed or changed", "now"),
                flag("--group", "REGEX", f"the mark is only about {MATCHES} (default: all groups)"),
                switch("--list", "list the marks, with their numbers"),
                flag("--remove", "N", "remove the mark with this number", type="mark_number"),
                WAREHOUSE, CLUSTER, CONFIG, form(), wide(), tz(),
            ), Kind.LIGHT),
        "maintain": Command("merge small files, drop old closed history, delete unneeded files", (
            OneOf((
                flag("--keep", "TERM", "how long to keep closed history and the state after each run, in days or "
                     "hours, such as 400d or 36h", type="term"),
                flag("--drop-snapshots", "FROM..TO", "remove the cluster's snapshots captured at FROM or later and "
                     "before TO, such as those of another Kafka cluster; either time may be missing. A time is "
                     f"{TIMES}"),
            ), is_required=True),
            OneOf((switch("--dry-run", "change nothing; print what a run would drop, merge and delete"), RESULT_FILE)),
            WAREHOUSE, CLUSTER, tz("times that you type"), CONFIG, LOCK, QUIET, *ENGINE, form(),
        ), Kind.JOB),
        "doctor": Command("check the warehouse's own files and say how to repair them", (
            WAREHOUSE, switch("--spark", "also read every table with Spark, which takes some seconds to start"),
            form(), wide(), QUIET,
        ), Kind.LIGHT),
    },
    "Work without a warehouse": {
        "dump": Command("print decoded records of segment files", (
            word("FILE", "segment files (.log) of __consumer_offsets", "files", nargs="+", type=Path),
            repeated("--type", "TYPE", "only records of this type, by number or by name such as OffsetCommit",
                     dest="types"),
            flag("--group", "REGEX", f"only records of {MATCHES}"),
            flag("--from-offset", "N", "only records at this offset or later", type=int),
            form("json", "json (JSON lines, the default) and csv show all fields, table shows the most important ones"),
            wide(), QUIET,
        )),
        "assign": Command("compute an assignment as Kafka's assignors do, from JSON", (
            word("FILE", "questions as JSON lines, each with assignor, topics and members (default: standard input)",
                 nargs="?"),
            choice("--assignor", "udfs.assignors.questions:NAMES", f"Kafka's name of the assignor, {FOR_LINES} "
                   "'assignor'"),
            flag("--release", "N.N", f"Kafka release, such as 3.9, {FOR_LINES} 'release' (default: newest)",
                 type="release"),
            choice("--jdk", "udfs.assignors.questions:JDKS", f"Java version, {FOR_LINES} 'jdk' (default: 17): some "
                   "assignments depend on the Java version of the leader (classic groups) or of the broker (other "
                   "groups)", type=int),
            form("json", "output as JSON lines, one for each question (the default), or as CSV or a table, one row for "
                 "each member"),
            wide(), QUIET,
        ), Kind.LIGHT),
        "completion": Command("print a script for shell completion", (
            word("SHELL", f"one of {', '.join(SHELLS)}", choices=SHELLS),
        )),
    },
}
# fmt: on
COMMANDS = {name: command for commands in SECTIONS.values() for name, command in commands.items()}


def flags_of(command: Command) -> Iterator[Argument]:
    for each in command.arguments:
        yield from [each] if isinstance(each, Argument) else each.flags


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    for each in COMMANDS[command].arguments:
        if isinstance(each, Argument):
            parser.add_argument(each.name, **loaded(each.words))
            continue
        group = parser.add_mutually_exclusive_group(required=each.is_required)
        for one in each.flags:
            group.add_argument(one.name, **loaded(one.words))
    parser.set_defaults(**dict.fromkeys(COMMANDS[command].untyped))


def loaded(words: dict[str, Any]) -> dict[str, Any]:
    result = {name: at_place(word) if name in ("type", "choices") else word for name, word in words.items()}
    if "choices" in result:
        result["choices"] = [each.value if isinstance(each, Enum) else each for each in result["choices"]]
    return result


def at_place(word: Any) -> Any:
    """A name without a module is of `values`."""
    if not isinstance(word, str):
        return word
    module, _, name = word.rpartition(":")
    return getattr(importlib.import_module(module or "jobs.command_line.values"), name)


def wanted_engine(arguments: argparse.Namespace) -> str:
    """Without --engine, the way the command was started decides."""
    return str(arguments.engine or (SPARK if is_submitted() else LOCAL))


def is_submitted() -> bool:
    """spark-submit sets this variable, so that the program it starts finds its Java."""
    return "PYSPARK_GATEWAY_PORT" in os.environ
