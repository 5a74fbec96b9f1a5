"""Answers one line of `groupscope assign`: a JSON question in, the assignment or an error out."""

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from udfs.assignors.questions.doubtful_targets import doubtful_target
from udfs.assignors.questions.problems import AssignorFailed
from udfs.assignors.questions.spec_values import SpecError, shorten
from udfs.assignors.questions.specs import Spec, read_spec
from udfs.assignors.registry import KnownAssignor, MemberLists, known_assignor

NO_DEFAULTS: Mapping[str, Any] = {}


def answer_column(spec: pa.Array) -> pa.Array:
    """The text that `groupscope assign` prints for each spec as its only line; NULL for NULL. Equal specs are answered
    once. Bytes, not text: what a query hands over need not be UTF-8."""
    encoded = spec.cast(pa.binary()).dictionary_encode()
    texts = [json.dumps(answer_to(1, line)) for line in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def answer_to(number: int, line: bytes, defaults: Mapping[str, Any] = NO_DEFAULTS) -> dict[str, Any]:
    """An error names the line, by its number, and the field."""
    asked: Any = None
    try:
        asked = parse_line(line)
        spec = read_spec(asked, defaults)
        known = known_assignor(spec)
        lists = assigned_lists(known, spec)
    except SpecError as error:
        return {"id": asked.get("id") if isinstance(asked, dict) else None, "error": f"line {number}: {error}"}
    return {
        "id": asked.get("id"),
        "assignment": [{"member_id": member, "partitions": partitions} for member, partitions in lists],
        # Coordinators go by the order of ids.
        "order": "exact" if spec.release >= known.ordered_since and not spec.assumed else "set",
        **({"assumed": list(spec.assumed)} if spec.assumed else {}),
    }


def assigned_lists(known: KnownAssignor, spec: Spec) -> MemberLists:
    try:
        return known.answer(spec)
    except AssignorFailed as error:
        doubtful = doubtful_target(spec)
        raise SpecError(
            f"{f'{doubtful}; ' if doubtful else 'members: '}Kafka's assignor would end with an exception: {error}"
        ) from None


def parse_line(line: bytes) -> Any:
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
        raise SpecError(f"{shorten(text)}, expected a number that 64 bits can hold")
    return number
