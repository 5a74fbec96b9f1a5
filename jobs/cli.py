"""The command line: one subcommand a job. The flags of a command are loaded when it is named, and its job when they are
right: help and wrong usage load nothing that takes long."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from jobs.failure import Failure, guarded, say
from jobs.no_pandas import keep_pandas_out
from schemas.exit_codes import ExitCode

COMMANDS = {
    "audit": "brings everything known of a cluster up to date: the scheduled job",
    "ingest": "segments and archives of the offsets topic into Delta tables",
    "replay": "history of groups, owners, rebalances and offsets from the decoded tables",
    "assignments": "every recorded assignment beside the one that Kafka's own assignor gives",
    "lag": "how far every group was behind at every snapshot, how it stands, what happened to its offsets",
    "gate": "metrics, suites of expectations and findings, with an exit code; or records validated spans of data",
    "report": "the verdict, findings, groups and drawings as one HTML file, without Spark",
    "capture": "snapshots of a live cluster: end offsets, brokers, settings",
    "groups": "the groups that there were at any time, like kafka-consumer-groups --list, without Spark",
    "describe": "a group at any time, like kafka-consumer-groups --describe, without Spark",
    "rebalances": "a group's rebalances, static restarts, conversions, deletion and failovers, without Spark",
    "why": "why a group rebalanced: trigger, members, partitions moved, cost and evidence, without Spark",
    "owner": "who owned a partition at any time, without Spark",
    "diff": "what differs in a group between two instants, without Spark",
    "offsets": "committed offsets at any time as the CSV that kafka-consumer-groups takes, without Spark",
    "whatif": "what another assignor would give a group: balance, moves, partitions that stop, without Spark",
    "assign": "what Kafka's assignors answer to a given specification, without Spark",
    "sql": "answers SQL over the tables and views of a warehouse, or asks for it, without Spark",
    "doctor": "checks a warehouse and says how to mend it, without Spark",
    "dump": "decoded records of segment files as JSON lines or CSV, without Spark",
}
# Kafka lets names begin as flags do.
NAMES = frozenset({"describe", "rebalances", "why", "owner", "diff", "offsets", "whatif"})
# Unless something makes them start Spark.
WITHOUT_PANDAS = NAMES | {"groups", "assign", "doctor", "report"}
# On the local engine.
JOBS = frozenset({"audit", "ingest", "replay", "assignments", "lag", "gate"})
HYPHENS = "A name that begins with a hyphen, and what follows it, stands behind two: -- -name"


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise Failure(ExitCode.USAGE, f"{message}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    code = guarded(lambda: run(words, is_own_process=arguments is None), "--debug" in words)
    if code == ExitCode.INTERRUPTED:
        say("interrupted")
    return code


def run(arguments: Sequence[str], *, is_own_process: bool) -> int:
    """Not its own is a process where somebody else's program calls, which may need what we do without."""
    parser = Parser(prog="groupscope", description="The flight recorder of Kafka consumer groups.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    wanted = command_in(arguments)
    for name, summary in COMMANDS.items():
        description = summary[0].upper() + summary[1:] + "."
        # A flag cut short would mean another one as soon as a new flag begins alike.
        epilog = HYPHENS if name in NAMES else None
        command = commands.add_parser(name, help=summary, description=description, epilog=epilog, allow_abbrev=False)
        command.add_argument("--debug", action="store_true", help="show the stack trace of a failure")
        if name == wanted:
            flags_of(name).add_arguments(command)
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        commands.choices[parsed.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    parsed.is_own_process = is_own_process
    if is_own_process:
        prepare_process(parsed)
    return int(importlib.import_module(f"jobs.{parsed.command}").run(parsed))


def prepare_process(parsed: argparse.Namespace) -> None:
    """What must precede the modules that take long to load."""
    is_local_job = parsed.command in JOBS and is_local(parsed)
    if is_local_job or parsed.command in WITHOUT_PANDAS:
        keep_pandas_out()
    if is_local_job:
        from jobs.engine.early_server import start_early

        start_early(parsed)


def is_local(parsed: argparse.Namespace) -> bool:
    from jobs.flags import LOCAL, wanted_engine

    return wanted_engine(parsed) == LOCAL


def command_in(words: Sequence[str]) -> str | None:
    return next((word for word in words if word in COMMANDS), None)


def flags_of(command: str) -> ModuleType:
    return importlib.import_module(f"jobs.arguments.{command}")


if __name__ == "__main__":
    sys.exit(main())
