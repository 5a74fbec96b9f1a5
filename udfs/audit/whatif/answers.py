"""The answers of assignors for groups in their current state, after the groups have become stable."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from udfs.assignors.questions.problems import Answer, AssignorFailed, Codes, Numbers, Problem, Rows, owned_rows
from udfs.assignors.questions.specs import GroupProtocol, Owned
from udfs.assignors.registry import OF_COORDINATORS, OF_LEADERS, known_assignor
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
    match protocol:
        case GroupProtocol.CLASSIC:
            problems = [question.of_leader for question in questions]
            ask = at_rest if assignor == "cooperative-sticky" else OF_LEADERS[assignor]
            return [
                rows if isinstance(rows, AssignorFailed) else WhatIfAnswer(of.members, of.topics, of.owned, rows)
                for of, rows in zip(problems, ask(problems), strict=True)
            ]
        case GroupProtocol.CONSUMER:
            servers = [question.of_coordinator for question in questions]
            return [
                rows if isinstance(rows, AssignorFailed) else WhatIfAnswer(of.members, of.topics, of.targets, rows)
                for of, rows in zip(servers, OF_COORDINATORS[assignor](servers), strict=True)
            ]
        case GroupProtocol.SHARE:
            return [share_answer(question, assignor) for question in questions]


def at_rest(problems: Sequence[Problem]) -> list[Answer]:
    """A moving partition is withheld until its owner has given it up: members join once more, and then it is
    assigned."""
    cooperative = OF_LEADERS["cooperative-sticky"]
    results = cooperative(problems)
    questions_by_place = dict(enumerate(problems))
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
        for at, rows in zip(questions_by_place, cooperative(list(questions_by_place.values())), strict=True):
            results[at] = rows
    return results


def each_once(rows: Rows) -> Rows:
    """The assignor may list a partition of a member twice; its client owns it once."""
    columns = (rows.members, rows.topics, rows.partitions)
    _, first = np.unique(np.stack(columns), axis=1, return_index=True)
    return rows if len(first) == len(rows) else rows.take(np.sort(first))


def share_answer(question: Question, assignor: str) -> WhatIfAnswer | AssignorFailed:
    spec = question.spec(GroupProtocol.SHARE, assignor)
    try:
        lists = dict(known_assignor(spec).answer(spec))
    except AssignorFailed as failure:
        return failure
    names = {topic.name: place for place, topic in enumerate(spec.topics)}
    owned: list[Owned] = [tuple((topic, (each,)) for topic, each in lists[member.member_id]) for member in spec.members]
    before, after = owned_rows([member.target for member in spec.members], names), owned_rows(owned, names)
    return WhatIfAnswer([member.member_id for member in spec.members], list(names), before, after)
