"""Kafka's answer to an assignment question: JSON lines in, JSON lines out, without Spark.

groupscope assign --assignor uniform --release 4.0 < specs.jsonl
groupscope assign specs.jsonl
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jobs.failure import Failure
from jobs.row_output import write_lines
from schemas.exit_codes import ExitCode
from udfs.assignors.doubtful_targets import doubtful_target
from udfs.assignors.problems import AssignorFailed
from udfs.assignors.registry import NAMES, Known, MemberLists, known_assignor
from udfs.assignors.spec_values import SpecError, Value, cut
from udfs.assignors.specs import JDKS, Spec, read_release, read_spec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="of JSON lines; default: standard input")
    for_lines = "for lines without it"
    parser.add_argument("--assignor", choices=NAMES, help=f"Kafka's name of the assignor, {for_lines}")
    parser.add_argument(
        "--release", type=release, metavar="N.N", help=f"release of Kafka, such as 3.9, {for_lines} (default: newest)"
    )
    parser.add_argument("--jdk", type=int, choices=JDKS, help=f"Java of leader or broker, {for_lines} (default: 17)")


def release(text: str) -> str:
    try:
        read_release(Value("", text))
    except SpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def run(arguments: argparse.Namespace) -> int:
    flags = {"assignor": arguments.assignor, "release": arguments.release, "jdk": arguments.jdk}
    defaults = {name: value for name, value in flags.items() if value is not None}
    code = ExitCode.CLEAN
    for number, line in enumerate(lines_asked(arguments.file), 1):
        answer = answered(number, line, defaults)
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


def answered(number: int, line: bytes, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The line of the answer; an error names the line and the field."""
    asked: Any = None
    try:
        asked = parsed(line)
        spec = read_spec(asked, defaults)
        known = known_assignor(spec)
        lists = answer_of(known, spec)
    except SpecError as error:
        return {"id": asked.get("id") if isinstance(asked, dict) else None, "error": f"line {number}: {error}"}
    return {
        "id": asked.get("id"),
        "assignment": [{"member_id": member, "partitions": partitions} for member, partitions in lists],
        # Coordinators go by the order of ids.
        "order": "exact" if spec.release >= known.ordered_since and not spec.assumed else "set",
        **({"assumed": list(spec.assumed)} if spec.assumed else {}),
    }


def answer_of(known: Known, spec: Spec) -> MemberLists:
    try:
        return known.answer(spec)
    except AssignorFailed as error:
        doubtful = doubtful_target(spec)
        raise SpecError(f"{f'{doubtful}; ' if doubtful else 'members: '}Kafka's assignor fails: {error}") from None


def parsed(line: bytes) -> Any:
    if not line.strip():
        raise SpecError("empty, expected an object")
    try:
        # A file may begin with a byte order mark, and Java writes half of a surrogate pair as it writes a character.
        text = line.rstrip(b"\r\n").decode("utf-8-sig", "surrogatepass")
        return json.loads(text, parse_constant=refused_constant, parse_float=finite)
    except UnicodeDecodeError as error:
        raise SpecError(f"no JSON: byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise SpecError(f"no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise SpecError("lists or objects within each other, too deep to be read") from None
    except ValueError:
        # Python's own limit, since the time to read digits grows with their square.
        raise SpecError(f"a number of more than {sys.get_int_max_str_digits()} digits cannot be read") from None


def refused_constant(name: str) -> None:
    raise SpecError(f"no JSON: {name} is no number")


def finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        # It could not be written again: JSON has no word for infinity.
        raise SpecError(f"{cut(text)}, expected a number that 64 bits can hold")
    return number
