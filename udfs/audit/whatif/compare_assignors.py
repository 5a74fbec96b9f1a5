"""What each of Kafka's assignors would give a group in its current state: balance, moves, and partitions that stop
during the change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from schemas.words.history import Confidence
from schemas.words.records import GroupType
from udfs.assignors.questions import LEADERS, GroupProtocol
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.whatif.answers import WhatIfAnswer, answers, changes
from udfs.audit.whatif.limits import left_out, why_refused
from udfs.audit.whatif.present import at_present
from udfs.audit.whatif.questions import Question

Choice = tuple[GroupProtocol, str]
# By group type: the group protocols whose assignors it could use.
BY_LEADERS = tuple((GroupProtocol.CLASSIC, name) for name in LEADERS)
BY_COORDINATORS = tuple((GroupProtocol.CONSUMER, name) for name in ("uniform", "range"))
CHOICES: Mapping[GroupType, Sequence[Choice]] = MappingProxyType(
    {
        GroupType.CLASSIC: (*BY_LEADERS, *BY_COORDINATORS),
        GroupType.CONSUMER: (*BY_LEADERS, *BY_COORDINATORS),
        GroupType.STREAMS: BY_COORDINATORS,
        GroupType.SHARE: ((GroupProtocol.SHARE, "simple"),),
    }
)
ALL_CHOICES = tuple(dict.fromkeys(choice for choices in CHOICES.values() for choice in choices))
# Members give up everything before they join again.
EAGER = frozenset({(GroupProtocol.CLASSIC, name) for name in ("range", "roundrobin", "sticky")})
# Small groups are computed together; this many at a time are in memory.
GROUPS_AT_ONCE = 1_000


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


class Costs(NamedTuple):
    imbalance: int
    num_moved: int
    num_stopped: int


def what_ifs(groups: Sequence[Latest], facts: Facts) -> list[WhatIf]:
    """By group, then by choice of assignor."""
    rows: list[WhatIf] = []
    for first in range(0, len(groups), GROUPS_AT_ONCE):
        some = groups[first : first + GROUPS_AT_ONCE]
        questions = [Question(at_present(latest, facts), facts) for latest in some]
        of_choices = {choice: dict(rows_of_choice(questions, *choice)) for choice in ALL_CHOICES}
        for place, latest in enumerate(some):
            rows += [of_choices[choice][place] for choice in CHOICES[latest.group_type]]
    return rows


def rows_of_choice(
    questions: Sequence[Question], protocol: GroupProtocol, assignor: str
) -> Iterator[tuple[int, WhatIf]]:
    """For all groups with this choice, with the positions of their questions."""
    answerable: list[int] = []
    for place, question in enumerate(questions):
        if (protocol, assignor) in CHOICES[question.latest.group_type]:
            why = question.obstacle or why_refused(question.latest, protocol, assignor)
            if why is None:
                answerable.append(place)
            else:
                yield place, row(question, protocol, assignor, None, [why])
    possible: list[tuple[int, WhatIfAnswer]] = []
    for place, answer in zip(
        answerable, answers([questions[each] for each in answerable], protocol, assignor), strict=True
    ):
        if isinstance(answer, WhatIfAnswer):
            possible.append((place, answer))
        else:
            why = f"Kafka's assignor would end with an exception: {answer}"
            yield place, row(questions[place], protocol, assignor, None, [why])
    changed = changes([answer for _, answer in possible])
    num_stopped = changed.num_owned if (protocol, assignor) in EAGER else changed.num_stopped
    for (place, answer), moved, stopped in zip(possible, changed.num_moved.tolist(), num_stopped.tolist(), strict=True):
        question = questions[place]
        costs = Costs(answer.imbalance(question.class_of_member), moved, stopped)
        notes = left_out(question.latest, question.facts, protocol, assignor)
        yield place, row(question, protocol, assignor, costs, [*notes])


def row(
    question: Question, protocol: GroupProtocol, assignor: str, costs: Costs | None, notes: Sequence[str]
) -> WhatIf:
    """`costs`: None if it is not possible; then the notes say why. Else they say what was left out."""
    latest = question.latest
    imbalance, num_moved, num_stopped = costs or (None, None, None)
    return WhatIf(
        group_id=latest.group_id,
        group_type=latest.group_type,
        assignment_offset=latest.assignment_offset,
        group_protocol=protocol,
        assignor=assignor,
        imbalance=imbalance,
        moves_from_current=num_moved,
        partitions_stopped=num_stopped,
        is_possible=costs is not None,
        reason="; ".join(notes) or None,
        evidence_first_offset=latest.evidence_first_offset,
        evidence_last_offset=latest.assignment_offset,
        confidence=Confidence.LIKELY if costs and notes else Confidence.CERTAIN,
    )
