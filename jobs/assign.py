"""Kafka's answer to an assignment question: JSON lines in, JSON lines out, without Spark.

groupscope assign --assignor uniform --release 4.0 < specs.jsonl
groupscope assign specs.jsonl
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.failure import Failure
from jobs.row_output import write_lines
from schemas.exit_codes import ExitCode
from udfs.assignors.answers import answer_to


def run(arguments: argparse.Namespace) -> int:
    flags = {"assignor": arguments.assignor, "release": arguments.release, "jdk": arguments.jdk}
    defaults = {name: value for name, value in flags.items() if value is not None}
    code = ExitCode.CLEAN
    for number, line in enumerate(lines_asked(arguments.file), 1):
        answer = answer_to(number, line, defaults)
        if "error" in answer:
            code = ExitCode.UNREADABLE_INPUT
        # Line by line: whoever asks over a pipe waits for each answer.
        write_lines([json.dumps(answer)])
    return code


def lines_asked(file: str | None) -> Iterator[bytes]:
    if file is not None:
        yield from lines_of(file)
        return
    # Python has no standard input where the shell closed it.
    if sys.stdin is None:
        raise Failure(ExitCode.UNREADABLE_INPUT, "standard input: closed, lines of JSON were expected")
    try:
        yield from sys.stdin.buffer
    except OSError as error:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"standard input: {error.strerror}") from None


def lines_of(file: str) -> Iterator[bytes]:
    try:
        with Path(file).open("rb") as lines:
            yield from lines
    except (OSError, ValueError) as error:  # no name at all
        why = error.strerror if isinstance(error, OSError) else error
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{file}: {why}, a file of JSON lines was expected") from None
