"""The command line: one subcommand a job. Each job's module is loaded when its command is called, so that commands
without Spark start at once."""

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from jobs.failure import Failure, say
from schemas.exit_codes import ExitCode

COMMANDS = {"dump": "decoded records of segment files as JSON lines or CSV, without Spark"}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise Failure(ExitCode.USAGE, f"{message}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        return run(arguments)
    except Failure as failure:
        return failure.told()
    except BrokenPipeError:
        # Whoever read our output has gone: nothing went wrong, and Python must not complain while it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLEAN
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if "--debug" in arguments:
            traceback.print_exc()
        say(f"{error.filename or 'output'}: {error.strerror}")
        return ExitCode.UNREADABLE_INPUT


def run(arguments: Sequence[str]) -> int:
    parser = Parser(prog="groupscope", description="The flight recorder of Kafka consumer groups.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    wanted = next((word for word in arguments if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        command.add_argument("--debug", action="store_true", help="show the stack trace of a failure")
        if name == wanted:
            importlib.import_module(f"jobs.{name}").add_arguments(command)
    parsed = parser.parse_args(arguments)
    return int(importlib.import_module(f"jobs.{parsed.command}").run(parsed))


if __name__ == "__main__":
    sys.exit(main())
