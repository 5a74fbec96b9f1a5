"""What the fold of groups asks about commits: what was committed when a member got or lost a partition, and how long
the commits of a partition paused when it changed owners."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Codes, Flags, Numbers, Positions, first_of
from udfs.commits.chunks import Effects
from udfs.commits.frames import Frame
from udfs.commits.offset_states import written_time


@dataclass(frozen=True)
class Questions:
    """Each is about a key at the record at `offset`, which is included. In any order."""

    group_id: pa.Array
    topic: pa.Array
    partition: Codes
    offset: Numbers
    # Which questions are only about times of commits; the others are only about values. None: all are about both.
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
    is_told: Flags
    # False: the next commit may still come.
    is_settled: Flags

    @classmethod
    def unanswered(cls, count: int) -> "Answers":
        return cls(
            committed=np.full(count, NONE),
            last_commit_time=np.full(count, NONE),
            next_commit_time=np.full(count, NONE),
            newest_offset=np.full(count, NONE),
            is_told=np.zeros(count, np.bool_),
            is_settled=np.zeros(count, np.bool_),
        )

    def cut(self, sizes: Sequence[int]) -> Iterator["Answers"]:
        """The answers to the first questions, to those after them, and so on: so many each."""
        first = 0
        for size in sizes:
            some = slice(first, first + size)
            yield Answers(**{field.name: getattr(self, field.name)[some] for field in fields(Answers)})
            first += size
        assert first == len(self.committed)


class Asked:
    """Questions during a pass through the log. Each is answered at its offset, and then waits for the next commit of
    its key."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        # There are few names: each chunk is searched only for these.
        self.groups_asked, self.group = coded(questions.group_id)
        self.topics_asked, self.topic = coded(questions.topic)
        self.answers = Answers.unanswered(len(questions))
        self.order = np.argsort(questions.offset, kind="stable")
        self.offsets = questions.offset[self.order]
        # Number of answered questions, in that order.
        self.reached = 0
        self.waiting = np.empty(0, np.intp)

    def upto(self, offset: int) -> Positions:
        """Unanswered questions about this offset or earlier ones."""
        return self.order[self.reached : np.searchsorted(self.offsets, offset, side="right")]

    def groups(self, offset: int) -> pa.Array:
        """The groups of these questions."""
        return self.groups_asked.take(pa.array(np.unique(self.group[self.upto(offset)])))

    def answer(self, frame: Frame, effects: Effects, through: int) -> None:
        """Answers questions up to `through`. The frame contains the groups of all these questions."""
        new = self.upto(through)
        self.reached += len(new)
        about_times = self.questions.is_about_times
        values, times = (new, new) if about_times is None else (new[~about_times[new]], new[about_times[new]])
        self.answers.is_told[new] = True
        if len(values):
            self.answer_committed(frame, effects, values)
        waiting = np.append(self.waiting, times)
        key, is_known = self.keys_of(frame, waiting)
        if len(times):
            self.answer_last(frame, times, key[len(self.waiting) :], is_known[len(self.waiting) :])
            self.answer_newest(frame, times, key[len(self.waiting) :], is_known[len(self.waiting) :])
        self.answer_next(frame, waiting, key, is_known)

    def keys_of(self, frame: Frame, which: Positions) -> tuple[Numbers, Flags]:
        """The key of each question in the frame, and whether it is there."""
        group = codes(self.groups_asked, frame.groups)[self.group[which]]
        topic = codes(self.topics_asked, frame.topics)[self.topic[which]]
        return keys_in(frame, group, topic, self.questions.partition[which].astype(np.int64))

    def answer_committed(self, frame: Frame, effects: Effects, new: Positions) -> None:
        key, is_known = self.keys_of(frame, new)
        offset = self.questions.offset[new]
        ranked = effects.key.astype(np.int64) * frame.base + effects.place + 1
        found = np.searchsorted(ranked, key * frame.base + places_of(frame, offset) + 1, side="right") - 1
        is_known &= np.append(effects.key, -1)[found] == key  # place -1 leads to the -1
        effect = found[is_known]
        row = effects.at[effect]
        answers, asked = self.answers, new[is_known]
        answers.committed[asked] = np.where(effects.is_value[effect], frame.committed[row], NONE)
        # A value from the state counts only if it was already in force then.
        since = effects.offset[effect].copy()
        runs = frame.is_carried[row] & ~frame.is_pending[row] & effects.is_value[effect]
        since[runs] = frame.carried("from_offset", row[runs])
        is_later = since > offset[is_known]
        answers.committed[asked[is_later]] = NONE
        answers.is_told[asked[is_later]] = False

    def answer_last(self, frame: Frame, new: Positions, key: Numbers, is_known: Flags) -> None:
        if not is_known.any():
            return
        offset = self.questions.offset[new]
        written = written_rows(frame)
        ranked = frame.key[written].astype(np.int64) * frame.base + frame.place[written] + 1
        found = np.searchsorted(ranked, key * frame.base + places_of(frame, offset) + 1, side="right") - 1
        row = np.append(written, 0)[found]
        is_here = is_known & (found >= 0) & (frame.key[row] == key)
        self.answers.last_commit_time[new[is_here]] = written_time(frame, row[is_here])
        # Else the value in the state for the key, unless it is later than the question.
        first = np.minimum(np.searchsorted(frame.key, key), len(frame.key) - 1)
        is_there = is_known & ~is_here & frame.is_carried[first]
        is_there[is_there] &= frame.seen[first[is_there]] <= offset[is_there]
        self.answers.last_commit_time[new[is_there]] = frame.carried("written_time", first[is_there])

    def answer_newest(self, frame: Frame, new: Positions, key: Numbers, is_known: Flags) -> None:
        if not is_known.any():
            return
        offset = self.questions.offset[new]
        ranked = frame.key.astype(np.int64) * frame.base + frame.place + 1
        row = np.searchsorted(ranked, key * frame.base + places_of(frame, offset) + 1, side="right") - 1
        is_here = is_known & (row >= 0) & (frame.key[row] == key) & (frame.seen[row] <= offset)
        self.answers.newest_offset[new[is_here]] = frame.seen[row[is_here]]

    def answer_next(self, frame: Frame, waiting: Positions, key: Numbers, is_known: Flags) -> None:
        if not is_known.any():
            self.waiting = waiting
            return
        first = np.minimum(np.searchsorted(frame.key, key), len(frame.key) - 1)
        carried = np.flatnonzero(is_known & frame.is_carried[first])
        # Where records are missing, the next commit is unknown.
        is_cut = np.zeros(len(waiting), np.bool_)
        is_cut[carried] = frame.carried("hole_offset", first[carried]) >= self.questions.offset[waiting[carried]]
        written = written_rows(frame)
        ranked = frame.key[written].astype(np.int64) * frame.base + frame.place[written] + 1
        place = places_of(frame, self.questions.offset[waiting])
        found = np.searchsorted(ranked, key * frame.base + place + 1, side="right")
        row = np.append(written, 0)[found]
        has_next = is_known & ~is_cut & (found < len(written)) & (frame.key[row] == key)
        self.answers.next_commit_time[waiting[has_next]] = written_time(frame, row[has_next])
        self.answers.is_settled[waiting[has_next | is_cut]] = True
        self.waiting = waiting[~(has_next | is_cut)]

    def cut(self) -> None:
        """Records after this are missing."""
        self.answers.is_settled[self.waiting] = True
        self.waiting = self.waiting[:0]


def written_rows(frame: Frame) -> Positions:
    """Commits of the chunk, whether they took effect or not."""
    return np.flatnonzero(frame.is_value & ~frame.is_carried)


def places_of(frame: Frame, offset: Numbers) -> Numbers:
    """The last position in the chunk's log at or before the offset; -1: the chunk begins after it."""
    both = (frame.log.offset, frame.markers.offset)
    return np.asarray(sum(np.searchsorted(of, offset, side="right") for of in both) - 1, np.int64)


def keys_in(frame: Frame, group: Numbers, topic: Numbers, partition: Numbers) -> tuple[Numbers, Flags]:
    keys = frame.keys
    if not len(keys.group):
        return np.zeros(len(group), np.int64), np.zeros(len(group), np.bool_)
    # Group and topic as one number, then combined with the partition.
    width = max(len(frame.topics), 1)
    pairs, wanted = keys.group.astype(np.int64) * width + keys.topic, group * width + topic
    is_first = first_of(pairs)
    pair = np.minimum(np.searchsorted(pairs[is_first], wanted), is_first.sum() - 1)
    is_known = (group >= 0) & (topic >= 0) & (pairs[is_first][pair] == wanted)
    known = (np.cumsum(is_first) - 1 << 32) + keys.partition
    found = np.minimum(np.searchsorted(known, (pair << 32) + partition), len(known) - 1)
    return found, is_known & (known[found] == (pair << 32) + partition)


def coded(column: pa.Array) -> tuple[pa.Array, Numbers]:
    encoded = column.dictionary_encode()
    return encoded.dictionary, np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64)


def codes(names: pa.Array, known: pa.Array) -> Numbers:
    return np.asarray(pc.index_in(names, value_set=known).fill_null(-1).to_numpy(), np.int64)
