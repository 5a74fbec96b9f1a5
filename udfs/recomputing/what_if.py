"""What each of Kafka's assignors would give a group as it stands: how even, what moves, what stops meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from schemas.history_words import Confidence
from schemas.vocabulary import GroupType
from udfs.assignors.problems import AssignorFailed
from udfs.assignors.specs import GroupProtocol, SpecError
from udfs.recomputing.audited import Latest
from udfs.recomputing.facts import Facts
from udfs.recomputing.what_if_answers import TopicPartition, answer, held
from udfs.recomputing.what_if_limits import left_out, why_impossible

# By kind of group: whose assignors it could turn to.
OF_LEADERS = tuple((GroupProtocol.CLASSIC, name) for name in ("range", "roundrobin", "sticky", "cooperative-sticky"))
OF_COORDINATORS = tuple((GroupProtocol.CONSUMER, name) for name in ("uniform", "range"))
CHOICES: Mapping[GroupType, Sequence[tuple[GroupProtocol, str]]] = MappingProxyType(
    {
        GroupType.CLASSIC: (*OF_LEADERS, *OF_COORDINATORS),
        GroupType.CONSUMER: (*OF_LEADERS, *OF_COORDINATORS),
        GroupType.STREAMS: OF_COORDINATORS,
        GroupType.SHARE: ((GroupProtocol.SHARE, "simple"),),
    }
)
# Members give up everything before they join again.
EAGER = frozenset({(GroupProtocol.CLASSIC, name) for name in ("range", "roundrobin", "sticky")})


@dataclass(frozen=True)
class WhatIf:
    """Fields are the columns of `assignment_whatif`."""

    group_id: str
    group_type: GroupType
    assignment_offset: int
    group_protocol: GroupProtocol
    assignor: str
    imbalance: int | None
    moves_from_current: int | None
    partitions_stopped: int | None
    is_possible: bool
    reason: str | None
    evidence_first_offset: int
    evidence_last_offset: int
    confidence: Confidence


@dataclass(frozen=True)
class Move:
    """A partition and who has it, before and after. Of share groups, and of assignors that give it to several, all."""

    partition: TopicPartition
    before: tuple[str, ...]
    after: tuple[str, ...]


def what_if(latest: Latest, facts: Facts) -> list[WhatIf]:
    return [of_choice(latest, facts, *choice) for choice in CHOICES[latest.group_type]]


def of_choice(latest: Latest, facts: Facts, protocol: GroupProtocol, assignor: str) -> WhatIf:
    empty = WhatIf(
        latest.group_id, latest.group_type, latest.assignment_offset, protocol, assignor, None, None, None, False, None,
        latest.evidence_first_offset, latest.assignment_offset, Confidence.CERTAIN,
    )  # fmt: skip
    why = why_impossible(latest, protocol, assignor)
    if why is not None:
        return replace(empty, reason=why)
    try:
        given = answer(latest, facts, protocol, assignor)
    except AssignorFailed as failure:
        return replace(empty, reason=f"Kafka's assignor fails: {failure}")
    except SpecError as error:
        return replace(empty, reason=str(error))
    notes = left_out(latest, facts, protocol, assignor)
    moves = moved(held(latest), given)
    return replace(
        empty,
        imbalance=imbalance(latest, given),
        moves_from_current=sum(bool(set(move.before) - set(move.after)) for move in moves),
        partitions_stopped=stopped(latest, moves, (protocol, assignor) in EAGER),
        is_possible=True,
        reason="; ".join(notes) or None,
        confidence=Confidence.LIKELY if notes else Confidence.CERTAIN,
    )


def imbalance(latest: Latest, given: Mapping[str, Sequence[TopicPartition]]) -> int:
    """Largest difference in partitions among members that subscribe to the same."""
    sizes: dict[frozenset[str], list[int]] = {}
    for member in latest.members:
        sizes.setdefault(frozenset(member.subscribed_topics), []).append(len(given.get(member.member_id, ())))
    return max((max(some) - min(some) for some in sizes.values()), default=0)


def moved(before: Mapping[str, Sequence[TopicPartition]], after: Mapping[str, Sequence[TopicPartition]]) -> list[Move]:
    """Partitions that have other members afterwards, in order."""
    old, new = by_partition(before), by_partition(after)
    changed = sorted(each for each in old.keys() | new.keys() if old.get(each) != new.get(each))
    return [Move(each, tuple(sorted(old.get(each, ()))), tuple(sorted(new.get(each, ())))) for each in changed]


def by_partition(members: Mapping[str, Sequence[TopicPartition]]) -> dict[TopicPartition, set[str]]:
    found: dict[TopicPartition, set[str]] = {}
    for member, partitions in members.items():
        for partition in partitions:
            found.setdefault(partition, set()).add(member)
    return found


def stopped(latest: Latest, moves: Sequence[Move], is_eager: bool) -> int:
    """Partitions that have a reader now and none meanwhile: all of an eager group, else those that no reader keeps."""
    if is_eager:
        return len(by_partition(held(latest)))
    return sum(bool(move.before) and not set(move.before) & set(move.after) for move in moves)
