"""The command line: one subcommand for each job.

Only the command that was typed gets its flags, and its job is loaded only if these are correct. So help and error
messages are printed at once.
"""

import argparse
import ast
import importlib
import os
import re
import sys
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

from jobs.command_line.flags import COMMANDS, LOCAL, SECTIONS, VERSION, Kind, add_arguments, wanted_engine
from jobs.output.failure import misuse, run_guarded, say
from jobs.processes.no_pandas import keep_pandas_out
from jobs.processes.spare_start import spare_start
from jobs.spark.compiled_loops import keep_compiled_loops
from jobs.storage.closes import wait_for_closes
from schemas.words.exit_codes import ExitCode

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]

# Without a command.
FLAGS = ("--help", "--version")
# Flags in one column, what they do in the next, and the description with its line breaks.
HELP_TEXT: Any = partial(argparse.RawDescriptionHelpFormatter, max_help_position=32)
# Set by the scripts of `groupscope completion`, with the line to complete.
IS_COMPLETING, COMPLETED_LINE = "_ARGCOMPLETE", "COMP_LINE"
# What each engine computes with.
LIBRARIES = {
    "local": ("duckdb", "deltalake", "pyarrow", "numba", "great_expectations"),
    "spark": ("pyspark", "delta-spark"),
}
HYPHENS = "If a name begins with a hyphen, write -- before it and all flags before --, as in: --wide -- -name"
MORE = """\
Examples:
  groupscope audit --source segments:/var/lib/kafka
  groupscope groups --state Empty
  groupscope why billing --at 2026-11-21T03:00
  groupscope help why

groupscope COMMAND --help shows the flags of a command and more examples.
groupscope --version shows the version."""


class Parser(argparse.ArgumentParser):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Like a negative number, `-5m` is the value of the flag before it.
        self._negative_number_matcher = re.compile("-[0-9]")

    def error(self, message: str) -> None:  # type: ignore[override]
        raise misuse(f"{message}; see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            nearest = meant(str(value), list(map(str, action.choices or ())))
            raise argparse.ArgumentError(action, f"{error.message}{nearest}") from None

    def check_flags(self, words: Sequence[str]) -> None:
        """This comes before other checks: the value of an unknown flag would look like one argument too many."""
        for word in words[: words.index("--")] if "--" in words else words:
            name = word.partition("=")[0]
            # Like argparse, take no word with a space for a flag: an SQL statement may begin with a comment.
            if name.startswith("--") and " " not in word and name not in self._option_string_actions:
                self.error(f"no flag {name}{meant(name, self._option_string_actions)}")


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        hold_standard_streams()
    code = run_guarded(lambda: run(words, is_own_process=arguments is None), "--debug" in words)
    if code == ExitCode.INTERRUPTED:
        say("interrupted")
    return code


def hold_standard_streams() -> None:
    """A shell can close them (`>&-`). The next file that is opened would take the number, and what is printed would go
    into it, which may be a table's."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number. It cannot be written to, so a command that prints to it reports an error.
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)


def run(arguments: Sequence[str], *, is_own_process: bool) -> int:
    """`is_own_process` is False when another program calls this, which may need libraries that we keep out."""
    words = list(arguments) or ["--help"]
    if words[0] == "help":
        words = [*words[1:2], "--help"]
    if words[0] == "--version":
        from jobs.output.rows import write_lines

        write_lines(version_lines())
        return ExitCode.CLEAN
    is_completing = is_own_process and IS_COMPLETING in os.environ
    typed = os.environ.get(COMPLETED_LINE, "").split()[1:] if is_completing else words
    wanted = typed[0] if typed and typed[0] in COMMANDS else None
    parser, commands = parsers(wanted)
    if is_completing:
        from jobs.completion import offer

        offer(parser, commands.choices.get(wanted or ""))
    check_command(words, wanted)
    if wanted is not None:
        commands.choices[wanted].check_flags(words[words.index(wanted) + 1 :])
    parsed, unknown = parser.parse_known_args(words)
    if unknown:
        commands.choices[parsed.command].error(f"too many arguments: {' '.join(unknown)}")
    parsed.is_own_process = is_own_process
    keep_compiled_loops()
    if is_own_process:
        prepare_process(parsed)
    with progress_of(parsed), zone_of(parsed):
        # A command without an exit code of its own has succeeded.
        code = int(importlib.import_module(f"jobs.{parsed.command}").run(parsed) or ExitCode.CLEAN)
        wait_for_closes()
    return code


def parsers(wanted: str | None) -> "tuple[Parser, Commands]":
    """The parser of the command line, and the parsers of commands. Only the wanted command gets its flags."""
    parser = Parser(
        prog="groupscope",
        usage="groupscope COMMAND [flags]",
        description="Reads the records of __consumer_offsets and shows what Kafka consumer groups did and why.",
        epilog=commands_text(),
        formatter_class=HELP_TEXT,
        allow_abbrev=False,
        add_help=False,
    )
    # Listed in the epilog, under headings.
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    commands: Commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="groupscope", parser_class=Parser, help=argparse.SUPPRESS
    )
    for name, declared in COMMANDS.items():
        if name != wanted:
            commands.add_parser(name, help=declared.summary)
            continue
        command = commands.add_parser(
            name,
            help=declared.summary,
            description=description_of(name),
            epilog=HYPHENS if Kind.NAMES in declared.kind else None,
            formatter_class=HELP_TEXT,
            # An abbreviated flag would change its meaning when a new flag with the same beginning is added.
            allow_abbrev=False,
        )
        add_arguments(command, name)
        command.add_argument("--debug", action="store_true", help="show the stack trace of a failure")
        command.usage = usage_of(command)
    return parser, commands


def commands_text() -> str:
    """The commands and examples that `groupscope --help` prints after the usage line."""
    blocks = [
        "\n".join([f"{title}:", *(f"  {name:<14}{each.summary}" for name, each in commands.items())])
        for title, commands in SECTIONS.items()
    ]
    return "\n\n".join([*blocks, MORE])


def description_of(command: str) -> str:
    """The docstring of the command's module, with examples. It is read as text, since an import may take a second; the
    module may be in the zip that spark-submit ships."""
    source = get_data("jobs", f"{command}.py")
    return ast.get_docstring(ast.parse(source or "")) or ""


def version_lines() -> list[str]:
    """What decides over answers and files: this release, the formats that it writes, the libraries of both engines."""
    import platform

    from jobs.warehouses.delta_commits import PROTOCOL
    from schemas.tables import CONTRACT_VERSION
    from udfs.assignors.questions import NEWEST_RELEASE

    kafka = ".".join(map(str, NEWEST_RELEASE[:2]))
    return [
        f"groupscope {VERSION} (contract {CONTRACT_VERSION}, Kafka releases up to {kafka})",
        f"formats: tables {CONTRACT_VERSION}, Delta protocol {PROTOCOL[0]} (readers) and {PROTOCOL[1]} (writers)",
        *(f"engine {engine}: {versions_of(libraries)}" for engine, libraries in LIBRARIES.items()),
        f"Python {platform.python_version()}",
    ]


def versions_of(libraries: Sequence[str]) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return ", ".join(f"{each} {version(each)}" for each in libraries)
    except PackageNotFoundError as error:
        return f"not installed ({error.name} is missing)"


def usage_of(command: Parser) -> str:
    """argparse would list all flags here, and nobody would see the arguments among twenty flags."""
    arguments = [action for action in command._actions if not action.option_strings]
    optional = {"?": "[{}]", "*": "[{} …]", "+": "{} [{} …]"}
    words = [optional.get(str(each.nargs), "{}").format(*[each.metavar] * 2) for each in arguments]
    return " ".join([command.prog, *words, "[flags]"])


def check_command(words: Sequence[str], wanted: str | None) -> None:
    first = words[0]
    if wanted is not None or first in ("-h", "--help"):
        return
    if first.startswith("-"):
        raise misuse(f"{first}: give a command before flags{meant(first, FLAGS)}; see groupscope --help")
    raise misuse(f"no command {first!r}{meant(first, [*COMMANDS, *FLAGS])}; see groupscope --help")


def meant(word: str, known: Collection[str]) -> str:
    # Here, since help needs no suggestions.
    from udfs.sentences.suggestions import did_you_mean

    return did_you_mean(word, known)


def prepare_process(parsed: argparse.Namespace) -> None:
    """Does what must happen before slow modules are loaded."""
    spare_start()
    kind = COMMANDS[parsed.command].kind
    is_local_job = Kind.JOB in kind and wanted_engine(parsed) == LOCAL
    if is_local_job or Kind.LIGHT in kind:
        keep_pandas_out()
    if is_local_job:
        from jobs.engine.early_server import start_early

        start_early(parsed)


def progress_of(parsed: argparse.Namespace) -> AbstractContextManager[None]:
    """Progress, for commands that may take more than a few seconds."""
    if not hasattr(parsed, "quiet"):
        return nullcontext()
    from jobs.output.progress import show_progress

    is_step = Kind.STEP in COMMANDS[parsed.command].kind
    return show_progress(is_quiet=parsed.quiet, step=parsed.command if is_step else None)


def zone_of(parsed: argparse.Namespace) -> AbstractContextManager[None]:
    """That of --tz; CSV and JSON are in UTC."""
    if getattr(parsed, "tz", None) is None:
        return nullcontext()
    from datetime import UTC

    from jobs.output.rows import Format
    from jobs.output.zones import in_zone

    return in_zone(parsed.tz, parsed.tz if parsed.format == Format.TABLE else UTC)


if __name__ == "__main__":
    sys.exit(main())
