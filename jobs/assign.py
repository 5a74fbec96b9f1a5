"""Computes the assignments that Kafka's assignors give. Each line of the input is one question, as a JSON object.

    groupscope assign --assignor uniform --release 4.0 < specs.jsonl
    groupscope assign specs.jsonl --format table

A question names the assignor, topics and members. `groupscope whatif GROUP --print-spec` prints questions
about a group, to start from. Answers are JSON lines, one for each question. As CSV or a table they have one row for
each member, in the order in which the assignor lists them.
"""

import argparse
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from jobs.output.failure import Failure
from jobs.output.progress import Activity, doing
from jobs.output.rows import Format, print_rows, spelling_of, write_lines
from schemas.words.exit_codes import ExitCode
from udfs.assignors.answers import answer_to

COLUMNS = ("id", "member_id", "num_partitions", "partitions", "order", "assumed", "error")
Answer = Mapping[str, Any]


def run(arguments: argparse.Namespace) -> int:
    flags = {"assignor": arguments.assignor, "release": arguments.release, "jdk": arguments.jdk}
    defaults = {name: value for name, value in flags.items() if value is not None}
    failed: list[Answer] = []
    answers = collect_failed(answers_of(arguments.file, defaults), failed)
    if arguments.format == Format.JSON:
        for answer in answers:
            # Line by line: a program that asks over a pipe waits for each answer.
            write_lines([json.dumps(answer)], spelling_of(Format.JSON))
    else:
        rows = (row for answer in answers for row in member_rows(answer))
        print_rows(COLUMNS, rows, arguments.format, is_wide=arguments.wide)
    return ExitCode.UNREADABLE_INPUT if failed else ExitCode.CLEAN


def answers_of(file: str | None, defaults: Mapping[str, Any]) -> Iterator[Answer]:
    size = size_of(file)
    # Lines that a person types, or that a program sends from time to time, show no progress.
    with nullcontext(Activity("assign", 0.0)) if size is None else doing("assign") as activity:
        activity.total, activity.unit = size or 0, "bytes"
        for number, line in enumerate(input_lines(file), 1):
            yield answer_to(number, line, defaults)
            activity.done += len(line)


def size_of(file: str | None) -> int | None:
    """In bytes; None: it is no file."""
    with suppress(OSError, ValueError, AttributeError):
        status = os.fstat(sys.stdin.fileno()) if file is None else os.stat(file)
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    return None


def collect_failed(answers: Iterator[Answer], failed: list[Answer]) -> Iterator[Answer]:
    for answer in answers:
        if "error" in answer:
            failed.append(answer)
        yield answer


def member_rows(answer: Answer) -> Iterator[list[Any]]:
    if "error" in answer:
        yield [answer["id"], None, None, None, None, None, answer["error"]]
        return
    about = [answer["order"], ", ".join(answer.get("assumed", ())) or None, None]
    for member in answer["assignment"]:
        partitions = member["partitions"]
        yield [answer["id"], member["member_id"], len(partitions), in_order(partitions), *about]


def in_order(partitions: Sequence[tuple[str, int]]) -> str:
    """Such as `orders:2,0;payments:1`, as kafka-consumer-groups writes it, but in the order of the answer."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in partitions:
        by_topic.setdefault(topic, []).append(partition)
    return ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in by_topic.items())


def input_lines(file: str | None) -> Iterator[bytes]:
    if file is not None:
        yield from lines_of(file)
        return
    # Python has no standard input if the shell closed it.
    if sys.stdin is None:
        raise Failure(ExitCode.UNREADABLE_INPUT, "standard input is closed; give JSON lines there, or a file of them")
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
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{file}: {why}; give a file of JSON lines") from None
