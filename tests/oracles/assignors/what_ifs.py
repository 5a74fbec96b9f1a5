"""What Kafka's own assignors would give groups as they stand, and what that would cost, member by member."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.oracles.assignors.kafka_assignors import JAVA, answers, server_answers

# As many as a group may need to come to rest, and one: that which gives what was withheld.
ROUNDS = 11
# By member.
Lists = Mapping[str, Sequence[tuple[str, int]]]


def now(spec: Mapping[str, Any]) -> Lists:
    return {
        member["member_id"]: sorted((topic, each) for topic, of in member["target"] for each in of)
        for member in spec["members"]
    }


def asked(spec: Mapping[str, Any], protocol: str, assignor: str, lists: Lists) -> dict[str, Any]:
    """The spec of a group whose members have these lists, and say so."""
    members = []
    for member in spec["members"]:
        grouped: dict[str, list[int]] = {}
        # Where the assignor lists a partition twice its client owns it once.
        for topic, partition in dict.fromkeys(lists[member["member_id"]]):
            grouped.setdefault(topic, []).append(partition)
        pairs = [[topic, of] for topic, of in grouped.items()]
        reported = {key: value for key, value in member.items() if key != "target"}
        if protocol != "classic":
            members.append({**reported, "target": pairs})
        elif assignor == "sticky":
            members.append({**reported, "generation": 1, "user_data": sticky_data(grouped).hex()})
        else:
            members.append({**reported, "generation": 1, "owned": pairs})
    return {**spec, "group_protocol": protocol, "assignor": assignor, "members": members}


def sticky_data(grouped: Mapping[str, Sequence[int]]) -> bytes:
    """As Kafka's sticky assignor writes it: topics with partitions, and the generation."""
    parts = [struct.pack(">i", len(grouped))]
    for topic, of in grouped.items():
        parts += [struct.pack(">h", len(topic)), topic.encode(), struct.pack(f">{len(of) + 1}i", len(of), *of)]
    return b"".join([*parts, struct.pack(">i", 1)])


def kafka_answers(specs: list[dict[str, Any]]) -> list[Lists | None]:
    """None: Kafka's class fails."""
    if specs[0]["group_protocol"] == "classic":
        result = answers("ClientAssignors", [JAVA / "client" / "ClientAssignors.java"], KAFKA_4_3_1, specs, None)
    else:
        result = server_answers(specs)
    return [
        None
        if "error" in answer
        else {of["member_id"]: sorted((topic, each) for topic, each in of["partitions"]) for of in answer["assignment"]}
        for answer in result
    ]


def kafka_in_the_end(specs: Sequence[dict[str, Any]], protocol: str, assignor: str) -> list[Lists | None]:
    """What members have when none of them has to give anything up any more."""
    result: list[Lists | None] = [now(spec) for spec in specs]
    going_on = list(range(len(specs)))
    for _ in range(ROUNDS):
        before = [result[i] or {} for i in going_on]
        again = kafka_answers(
            [asked(specs[i], protocol, assignor, had) for i, had in zip(going_on, before, strict=True)]
        )
        revoked = []
        for i, had, has in zip(going_on, before, again, strict=True):
            result[i] = has
            if has is not None and any(each not in has[member] for member in had for each in had[member]):
                revoked.append(i)
        going_on = revoked
        if assignor != "cooperative-sticky" or not going_on:
            break
    return result


def expected(spec: Mapping[str, Any], after: Lists, is_eager: bool) -> tuple[int, int, int]:
    """Imbalance, moves and partitions that stop, partition by partition and member by member."""
    before = now(spec)
    partitions = {each for lists in (before, after) for some in lists.values() for each in some}
    moves = stops = 0
    for each in partitions:
        had = {member for member, some in before.items() if each in some}
        has = {member for member, some in after.items() if each in some}
        moves += any(member not in has for member in had)
        stops += bool(had) and (is_eager or not any(member in has for member in had))
    spread = 0
    for one in spec["members"]:
        for other in spec["members"]:
            if set(one["subscribed_topics"]) == set(other["subscribed_topics"]):
                spread = max(spread, len(after[one["member_id"]]) - len(after[other["member_id"]]))
    return spread, moves, stops
