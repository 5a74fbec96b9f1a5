"""Prints the question of a what-if as lines for `groupscope assign`, which gives the same answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from udfs.assignors.answers import MemberLists, assigned_lists
from udfs.assignors.questions import GroupProtocol, Member, Owned, Spec, Topic, stand_in_id
from udfs.audit.whatif.answers import MOST_ROUNDS
from udfs.audit.whatif.questions import Question, in_order

Line = dict[str, Any]


def spec_lines(question: Question, protocol: GroupProtocol, assignor: str) -> Iterator[Line]:
    """One line; for cooperative-sticky one line per rebalance: later ones assign what the first withholds, so the
    answer to the last line is the answer of the what-if."""
    rounds = list(specs(question, protocol, assignor))
    for number, spec in enumerate(rounds, 1):
        step = f" rebalance {number}" if len(rounds) > 1 else ""
        yield line_of(spec, f"{question.latest.group_id} {protocol} {assignor}{step}")


def specs(question: Question, protocol: GroupProtocol, assignor: str) -> Iterator[Spec]:
    spec = question.spec(protocol, assignor)
    yield spec
    if assignor != "cooperative-sticky":
        return
    for _ in range(MOST_ROUNDS):
        lists = assigned_lists(spec)
        if not loses_some(spec.members, lists):
            return
        owned = {member: owned_of(partitions) for member, partitions in lists}
        spec = replace(spec, members=tuple(replace(each, owned=owned[each.member_id]) for each in spec.members))
        yield spec


def loses_some(members: Sequence[Member], lists: MemberLists) -> bool:
    owned = {member: set(partitions) for member, partitions in lists}
    return any(
        (topic, partition) not in owned[member.member_id]
        for member in members
        for topic, partitions in member.owned
        for partition in partitions
    )


def owned_of(partitions: Sequence[tuple[str, int]]) -> Owned:
    """An assignor may list a partition of a member twice: the member owns it once."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in dict.fromkeys(partitions):
        by_topic.setdefault(topic, []).append(partition)
    return in_order(tuple((topic, tuple(some)) for topic, some in by_topic.items()))


def line_of(spec: Spec, line_id: str) -> Line:
    return {
        "id": line_id,
        "group_protocol": str(spec.group_protocol),
        "assignor": spec.assignor,
        "topics": [topic_of(topic, spec.group_protocol) for topic in spec.topics],
        "members": [member_of(member, spec) for member in spec.members],
    }


def topic_of(topic: Topic, protocol: GroupProtocol) -> Line:
    """Without a stand-in id: `assign` makes the same one, and says so."""
    is_known = protocol != GroupProtocol.CLASSIC and topic.topic_id != stand_in_id(topic.name)
    racks = None if topic.racks is None else [list(each) for each in topic.racks]
    known_fields = {"topic_id": topic.topic_id if is_known else None, "racks": racks}
    return {"name": topic.name, "partitions": topic.partitions} | without_none(known_fields)


def member_of(member: Member, spec: Spec) -> Line:
    fields: dict[str, Any] = {
        "group_instance_id": member.group_instance_id,
        "rack_id": member.rack_id,
        "subscribed_topics": list(member.subscribed_topics),
    }
    if spec.group_protocol != GroupProtocol.CLASSIC:
        fields["target"] = pairs(member.target)
    elif spec.assignor == "sticky":
        fields["user_data"] = None if member.user_data is None else member.user_data.hex()
        fields["generation"] = member.generation
    else:
        fields["owned"], fields["generation"] = pairs(member.owned), member.generation
    return {"member_id": member.member_id} | without_none(fields)


def pairs(owned: Owned) -> list[list[Any]]:
    return [[topic, list(partitions)] for topic, partitions in owned]


def without_none(fields: Mapping[str, Any]) -> Line:
    return {name: value for name, value in fields.items() if value is not None}
