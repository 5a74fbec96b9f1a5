"""Kafka's answer to an assignment question: JSON lines in, JSON lines out, without Spark.

groupscope assign --assignor uniform --release 4.0 < specs.jsonl
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from jobs.row_output import write_lines
from schemas.exit_codes import ExitCode
from udfs.assignors.problems import AssignorFailed
from udfs.assignors.registry import NAMES, known_assignor
from udfs.assignors.specs import JDKS, SpecError, read_spec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for_lines = "for lines without it"
    parser.add_argument("--assignor", choices=NAMES, help=f"Kafka's name of the assignor, {for_lines}")
    parser.add_argument(
        "--release", type=release, metavar="N.N", help=f"release of Kafka, such as 3.9, {for_lines} (default: newest)"
    )
    parser.add_argument("--jdk", type=int, choices=JDKS, help=f"Java of leader or broker, {for_lines} (default: 17)")


def release(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?", text):
        raise argparse.ArgumentTypeError(f"{text!r}, a release such as 3.9 or 4.0.1 was expected")
    return text


def run(arguments: argparse.Namespace) -> int:
    flags = {"assignor": arguments.assignor, "release": arguments.release, "jdk": arguments.jdk}
    defaults = {name: value for name, value in flags.items() if value is not None}
    code = ExitCode.CLEAN
    for number, line in enumerate(sys.stdin.buffer, 1):
        answer = answered(number, line, defaults)
        if "error" in answer:
            code = ExitCode.UNREADABLE_INPUT
        # Line by line: whoever asks over a pipe waits for each answer.
        write_lines([json.dumps(answer)])
    return code


def answered(number: int, line: bytes, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The line of the answer; an error names the line and the field."""
    asked: Any = None
    try:
        asked = json.loads(line, parse_constant=refused_constant)
        spec = read_spec(asked, defaults)
        known = known_assignor(spec)
        lists = [{"member_id": member, "partitions": partitions} for member, partitions in known.answer(spec)]
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"line {number}: no JSON: {error}"}
    except SpecError as error:
        return {"id": asked.get("id") if isinstance(asked, dict) else None, "error": f"line {number}: {error}"}
    except AssignorFailed as error:
        return {"id": asked.get("id"), "error": f"line {number}: Kafka's assignor fails: {error}"}
    return {
        "id": asked.get("id"),
        "assignment": lists,
        "order": "exact" if spec.release >= known.ordered_since else "set",
    }


def refused_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
