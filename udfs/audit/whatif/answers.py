"""The answers of assignors for groups in their current state, after the groups have become stable."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from udfs.assignors.answers import ASSIGNORS, assigned_lists
from udfs.assignors.groups import Answer, AssignorFailed, Codes, Group, Numbers, Rows, each_once, owned_rows
from udfs.assignors.questions import GroupProtocol, Owned
from udfs.audit.whatif.questions import Question

# A second rebalance assigns what the first withheld. With unequal subscriptions there may be more, and rarely they
# never end.
MOST_ROUNDS = 10
PARTITION_MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class WhatIfAnswer:
    """Before and after, by positions of members and topics."""

    members: Sequence[str]
    topics: Sequence[str]
    before: Rows
    after: Rows

    def imbalance(self, class_of_member: Codes) -> int:
        """Largest difference in numbers of partitions among members of one class."""
        sizes = np.bincount(self.after.members, minlength=len(self.members))
        order = np.argsort(class_of_member, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(class_of_member[order]) != 0))
        return int((np.maximum.reduceat(sizes[order], starts) - np.minimum.reduceat(sizes[order], starts)).max())

    def lists(self, rows: Rows) -> dict[str, list[tuple[str, int]]]:
        by_member: dict[str, list[tuple[str, int]]] = {member: [] for member in self.members}
        columns = (column.tolist() for column in (rows.members, rows.topics, rows.partitions))
        for member, topic, partition in zip(*columns, strict=True):
            by_member[self.members[member]].append((self.topics[topic], partition))
        return by_member


@dataclass(frozen=True)
class Changes:
    """By answer: partitions that members have now, those that some member loses, and those that all their members
    lose."""

    num_owned: Numbers
    num_moved: Numbers
    num_stopped: Numbers


def changes(answers: Sequence[WhatIfAnswer]) -> Changes:
    """For many answers at once: an array call costs more than the work for a small answer."""
    before, of_answer = together(answers, [answer.before for answer in answers])
    after, _ = together(answers, [answer.after for answer in answers])
    _, codes = np.unique(np.concatenate([keys(before), keys(after)]), return_inverse=True)
    num_members = sum(len(answer.members) for answer in answers)
    pairs = codes * num_members + np.concatenate([before.members, after.members])
    is_kept = np.isin(pairs[: len(before)], pairs[len(before) :])
    partitions = codes[: len(before)]
    owned, moved, kept = (
        np.bincount(of_answer[mask][np.unique(partitions[mask], return_index=True)[1]], minlength=len(answers))
        for mask in (np.ones(len(before), np.bool_), ~is_kept, is_kept)
    )
    return Changes(owned, moved, owned - kept)


def together(answers: Sequence[WhatIfAnswer], rows: Sequence[Rows]) -> tuple[Rows, Numbers]:
    """Members and topics numbered across all answers; and the answer of each row."""
    of_answer = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    first_member = np.cumsum([0, *(len(answer.members) for answer in answers)])[of_answer]
    first_topic = np.cumsum([0, *(len(answer.topics) for answer in answers)])[of_answer]
    nothing = np.empty(0, np.int32)
    members, topics, partitions = (
        np.concatenate([nothing, *(getattr(each, name) for each in rows)])
        for name in ("members", "topics", "partitions")
    )
    return Rows(members + first_member, topics + first_topic, partitions), of_answer


def keys(rows: Rows) -> Numbers:
    """Of partitions."""
    return rows.topics.astype(np.int64) << 32 | (rows.partitions.astype(np.int64) & PARTITION_MASK)


def answers(
    questions: Sequence[Question], protocol: GroupProtocol, assignor: str
) -> list[WhatIfAnswer | AssignorFailed]:
    if protocol == GroupProtocol.SHARE:
        return [share_answer(question, assignor) for question in questions]
    is_led = protocol == GroupProtocol.CLASSIC
    groups = [question.of_leader if is_led else question.of_coordinator for question in questions]
    ask = ASSIGNORS[protocol, assignor].answer
    results = at_rest(groups) if assignor == "cooperative-sticky" else [ask(group) for group in groups]
    return [
        rows if isinstance(rows, AssignorFailed) else WhatIfAnswer(of.members, of.topics, of.owned, rows)
        for of, rows in zip(groups, results, strict=True)
    ]


def at_rest(groups: Sequence[Group]) -> list[Answer]:
    """A moving partition is withheld until its owner has given it up: members join once more, and then it is
    assigned."""
    cooperative = ASSIGNORS[GroupProtocol.CLASSIC, "cooperative-sticky"].answer
    results = [cooperative(group) for group in groups]
    questions_by_place = dict(enumerate(groups))
    for _ in range(MOST_ROUNDS):
        assigned = {
            place: rows for place in questions_by_place if not isinstance(rows := results[place], AssignorFailed)
        }
        rounds = [
            WhatIfAnswer(
                questions_by_place[at].members, questions_by_place[at].topics, questions_by_place[at].owned, rows
            )
            for at, rows in assigned.items()
        ]
        is_at_rest = changes(rounds).num_moved == 0
        questions_by_place = {
            at: replace(questions_by_place[at], owned=each_once(rows))
            for (at, rows), rests in zip(assigned.items(), is_at_rest.tolist(), strict=True)
            if not rests
        }
        if not questions_by_place:
            break
        for at, group in questions_by_place.items():
            results[at] = cooperative(group)
    return results


def share_answer(question: Question, assignor: str) -> WhatIfAnswer | AssignorFailed:
    spec = question.spec(GroupProtocol.SHARE, assignor)
    try:
        lists = dict(assigned_lists(spec))
    except AssignorFailed as failure:
        return failure
    names = {topic.name: place for place, topic in enumerate(spec.topics)}
    owned: list[Owned] = [tuple((topic, (each,)) for topic, each in lists[member.member_id]) for member in spec.members]
    before, after = owned_rows([member.target for member in spec.members], names), owned_rows(owned, names)
    return WhatIfAnswer([member.member_id for member in spec.members], list(names), before, after)
