"""Kafka's assignors by name, with the releases that have them, and their answers: to a group, to one line of
`groupscope assign`, and to a column of such lines.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from udfs.assignors.groups import Answer, AssignorFailed, Group, Lists, Partition, group_of
from udfs.assignors.questions import (
    BY_PROTOCOL,
    PROPOSAL,
    GroupProtocol,
    Release,
    Spec,
    SpecError,
    json_text,
    read_spec,
    shorten,
)
from udfs.assignors.ranges import client_range, round_robin, server_range
from udfs.assignors.simple import simple
from udfs.assignors.sticky import constrained_proposal, cooperative_sticky, sticky
from udfs.assignors.uniform import uniform

MemberLists = list[tuple[str, list[tuple[str, int]]]]
NO_DEFAULTS: Mapping[str, Any] = {}
# Kafka's assignors before have another interface, and were not compared.
FIRST_CLIENTS = (2, 4, 0)
# Before, a leader wrote its lists by a map of topics.
LISTS_AS_ASSIGNED = (3, 0, 0)
CLASSIC, CONSUMER, SHARE = GroupProtocol


@dataclass(frozen=True)
class Assignor:
    """From `since` on its answer is known, from `ordered_since` on the order of each member's list too."""

    assign: Callable[[Group], Lists]
    since: Release
    ordered_since: Release

    def answer(self, group: Group) -> Answer:
        try:
            return self.assign(group)
        except AssignorFailed as failure:
            return failure


ASSIGNORS: Mapping[tuple[GroupProtocol, str], Assignor] = MappingProxyType(
    {
        (CLASSIC, "range"): Assignor(client_range, FIRST_CLIENTS, FIRST_CLIENTS),
        (CLASSIC, "roundrobin"): Assignor(round_robin, FIRST_CLIENTS, LISTS_AS_ASSIGNED),
        (CLASSIC, "sticky"): Assignor(sticky, FIRST_CLIENTS, LISTS_AS_ASSIGNED),
        (CLASSIC, "cooperative-sticky"): Assignor(cooperative_sticky, FIRST_CLIENTS, LISTS_AS_ASSIGNED),
        # No release has it: it is the proposal's own, for any.
        (CLASSIC, PROPOSAL): Assignor(constrained_proposal, FIRST_CLIENTS, FIRST_CLIENTS),
        (CONSUMER, "uniform"): Assignor(uniform, (3, 8, 0), (3, 8, 0)),
        # KAFKA-16944: before, it kept what members had.
        (CONSUMER, "range"): Assignor(server_range, (3, 9, 0), (3, 9, 0)),
        (SHARE, "simple"): Assignor(simple, (3, 9, 0), (3, 9, 0)),
    }
)


def known_assignor(spec: Spec) -> Assignor:
    names = BY_PROTOCOL[spec.group_protocol]
    if spec.assignor not in names:
        raise SpecError(
            f"assignor: {json_text(spec.assignor)}, expected one of {', '.join(names)} ({spec.group_protocol})"
        )
    known = ASSIGNORS[spec.group_protocol, spec.assignor]
    if spec.release < known.since:
        oldest = ".".join(map(str, known.since[:2]))
        raise SpecError(
            f"release: older than {oldest}, the first whose {spec.assignor} ({spec.group_protocol}) is known"
        )
    return known


def assigned_lists(spec: Spec) -> MemberLists:
    """What each member gets."""
    known, group = known_assignor(spec), group_of(spec)
    return member_lists(group, known.assign(group))


def member_lists(group: Group, assignment: Sequence[Sequence[Partition]]) -> MemberLists:
    return [
        (member, [(group.topics[topic], partition) for topic, partition in own])
        for member, own in zip(group.members, assignment, strict=True)
    ]


# -- lines


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
        lists = assigned_lists(spec)
    except SpecError as error:
        problem = str(error)
    except AssignorFailed as error:
        at = doubtful_target(spec) or "members: "
        problem = f"{at}Kafka's assignor would end with an exception: {error}"
    else:
        return {
            "id": asked.get("id"),
            "assignment": [{"member_id": member, "partitions": partitions} for member, partitions in lists],
            # Coordinators go by the order of ids.
            "order": "exact" if spec.release >= known.ordered_since and not spec.assumed else "set",
            **({"assumed": list(spec.assumed)} if spec.assumed else {}),
        }
    return {"id": asked.get("id") if isinstance(asked, dict) else None, "error": f"line {number}: {problem}"}


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


def doubtful_target(spec: Spec) -> str | None:
    """The field of the first target that no coordinator writes and that makes Kafka's assignor fail, and what is wrong
    with it. Members of share groups share partitions."""
    counts = {topic.name: topic.partitions for topic in spec.topics}
    owners: dict[tuple[str, int], int] = {}
    for number, member in enumerate(spec.members):
        for topic, partitions in member.target:
            for partition in partitions:
                owner = owners.setdefault((topic, partition), number)
                if owner != number and spec.group_protocol == GroupProtocol.CONSUMER:
                    return f"members[{number}].target: {topic}-{partition} is in members[{owner}].target too; "
                # A topic that is gone has a count of 0.
                if 0 < counts[topic] <= partition:
                    return f"members[{number}].target: {topic} has {counts[topic]} partitions, and no {partition}; "
    return None
