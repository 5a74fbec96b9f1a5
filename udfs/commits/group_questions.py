"""What the fold of groups asks about commits: what was committed when a member got or lost a partition, and how long
the commits of a partition paused when it changed owners."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Codes, Flags, Numbers
from udfs.commits.effects.fields import Q
from udfs.commits.key_states import KeyStates


@dataclass(frozen=True)
class Questions:
    """Each is about a key at the record at `offset`, which is included. In any order."""

    group_id: pa.Array | pa.ChunkedArray
    topic: pa.Array | pa.ChunkedArray
    partition: Codes
    offset: Numbers
    # Which questions are about values, and which about times of commits. None: all.
    is_about_values: Flags | None = None
    is_about_times: Flags | None = None

    def __len__(self) -> int:
        return len(self.offset)

    @classmethod
    def none(cls) -> "Questions":
        names = pa.array([], pa.string())
        return cls(names, names, np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass
class Answers:
    """One answer per question, in its position; NONE if there is none. Times are microseconds: the broker's clock at
    the commit, else the time of its record. For times every commit counts, even one that never took effect."""

    committed: Numbers
    last_commit_time: Numbers
    next_commit_time: Numbers
    # Newest record of the key up to then, commit or deletion; only for questions about times.
    newest_offset: Numbers
    # False: the question is about a time before the state from which this replay continued, and the state cannot answer
    # it.
    is_answered: Flags
    # False: the next commit may still come.
    is_settled: Flags

    def cut(self, sizes: Sequence[int]) -> Iterator["Answers"]:
        """The answers to the first questions, to those after them, and so on: so many each."""
        first = 0
        for size in sizes:
            some = slice(first, first + size)
            yield Answers(**{field.name: getattr(self, field.name)[some] for field in fields(Answers)})
            first += size
        assert first == len(self.committed)


class QuestionQueue:
    """Questions during a pass through the log, as rows of `fields.Q`. Each is answered at its offset, and then waits
    for the next commit of its key."""

    def __init__(self, questions: Questions, states: KeyStates) -> None:
        self.questions = questions
        self.order = np.argsort(questions.offset, kind="stable")
        self.rows = np.full((len(questions), len(Q)), NONE)
        self.rows[:, Q.offset] = questions.offset[self.order]
        self.rows[:, Q.is_about_values] = self.rows[:, Q.is_about_times] = 1
        if questions.is_about_values is not None and questions.is_about_times is not None:
            self.rows[:, Q.is_about_values] = questions.is_about_values[self.order]
            self.rows[:, Q.is_about_times] = questions.is_about_times[self.order]
        self.rows[:, Q.is_answered] = self.rows[:, Q.is_settled] = 0
        # How many are answered, in that order.
        self.count = 0
        self.find_keys(states)

    def find_keys(self, states: KeyStates) -> None:
        questions = self.questions
        names = {"group_id": questions.group_id, "topic": questions.topic, "partition": pa.array(questions.partition)}
        self.rows[:, Q.key] = states.codes(pa.table(names))[self.order]

    def cut(self, states: KeyStates) -> None:
        """Records are missing after those seen so far. `states`: after the missing ones."""
        self.rows[: self.count, Q.is_settled] |= self.rows[: self.count, Q.is_about_times]
        self.find_keys(states)

    def answers(self) -> Answers:
        """In the order of the questions."""
        values = np.empty_like(self.rows)
        values[self.order] = self.rows
        return Answers(
            committed=values[:, Q.committed],
            last_commit_time=values[:, Q.last_commit_time],
            next_commit_time=values[:, Q.next_commit_time],
            newest_offset=values[:, Q.newest_offset],
            is_answered=values[:, Q.is_answered] == 1,
            is_settled=values[:, Q.is_settled] == 1,
        )
