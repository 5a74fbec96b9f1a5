"""What the fold of groups asks about commits: what was committed when a member got or lost a partition, and how long
the commits of a partition paused when it changed hands."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.replay.commit_chunks import Effects
from udfs.replay.commit_frames import Frame
from udfs.replay.nullable import NONE, Codes, Flags, Numbers, Positions, first_of
from udfs.replay.offset_states import written_time


@dataclass(frozen=True)
class Questions:
    """Each about a key as of the record at `offset`, which counts. Any order."""

    group_id: pa.Array
    topic: pa.Array
    partition: Codes
    offset: Numbers

    def __len__(self) -> int:
        return len(self.offset)

    @classmethod
    def none(cls) -> "Questions":
        names = pa.array([], pa.string())
        return cls(names, names, np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass
class Answers:
    """One of each question, in its place; NONE where there is nothing. Times are microseconds: of a commit the
    broker's clock, else the time of its record. Commits count for the times whether they hold in the end or not."""

    committed: Numbers
    last_commit_time: Numbers
    next_commit_time: Numbers
    # False: it is about a time before the state that this replay went on from, and the state does not tell any more.
    is_told: Flags
    # False: a next commit may still come.
    is_settled: Flags

    @classmethod
    def unanswered(cls, count: int) -> "Answers":
        return cls(*(np.full(count, NONE) for _ in range(3)), *(np.zeros(count, np.bool_) for _ in range(2)))


class Asked:
    """Questions on their way through the log: each is answered where its offset stands, and then waits for the next
    commit of its key."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.answers = Answers.unanswered(len(questions))
        self.order = np.argsort(questions.offset, kind="stable")
        self.offsets = questions.offset[self.order]
        # So many in that order are answered.
        self.reached = 0
        self.waiting = np.empty(0, np.intp)

    def upto(self, offset: int) -> Positions:
        """Questions not answered yet about what was so at or before the offset."""
        return self.order[self.reached : np.searchsorted(self.offsets, offset, side="right")]

    def groups(self, offset: int) -> pa.Array:
        """Of these, the groups."""
        return pc.unique(self.questions.group_id.take(pa.array(self.upto(offset))))

    def answer(self, frame: Frame, effects: Effects, through: int) -> None:
        """The frame holds the groups of all questions up to there."""
        new = self.upto(through)
        self.reached += len(new)
        if len(new):
            self.answer_committed(frame, effects, new)
            self.answer_last(frame, new)
        self.answer_next(frame, np.append(self.waiting, new))

    def answer_committed(self, frame: Frame, effects: Effects, new: Positions) -> None:
        key, is_known = keys_of(frame, self.questions, new)
        offset = self.questions.offset[new]
        ranked = effects.key.astype(np.int64) * frame.base + effects.place + 1
        found = np.searchsorted(ranked, key * frame.base + places_of(frame, offset) + 1, side="right") - 1
        is_known &= np.append(effects.key, -1)[found] == key  # place -1 leads to the -1
        effect = found[is_known]
        row = effects.at[effect]
        answers, asked = self.answers, new[is_known]
        answers.committed[asked] = np.where(effects.is_value[effect], frame.committed[row], NONE)
        answers.is_told[new] = True
        # Of what the state says, only what held already then.
        since = effects.offset[effect].copy()
        runs = frame.is_carried[row] & ~frame.is_pending[row] & effects.is_value[effect]
        since[runs] = frame.carried("from_offset", row[runs])
        is_later = since > offset[is_known]
        answers.committed[asked[is_later]] = NONE
        answers.is_told[asked[is_later]] = False

    def answer_last(self, frame: Frame, new: Positions) -> None:
        key, is_known = keys_of(frame, self.questions, new)
        if not is_known.any():
            return
        offset = self.questions.offset[new]
        written = written_rows(frame)
        ranked = frame.key[written].astype(np.int64) * frame.base + frame.place[written] + 1
        found = np.searchsorted(ranked, key * frame.base + places_of(frame, offset) + 1, side="right") - 1
        row = np.append(written, 0)[found]
        is_here = is_known & (found >= 0) & (frame.key[row] == key)
        self.answers.last_commit_time[new[is_here]] = written_time(frame, row[is_here])
        # Else what the state says of the key, unless that is later than asked.
        first = np.minimum(np.searchsorted(frame.key, key), len(frame.key) - 1)
        is_there = is_known & ~is_here & frame.is_carried[first]
        is_there[is_there] &= frame.seen[first[is_there]] <= offset[is_there]
        self.answers.last_commit_time[new[is_there]] = frame.carried("written_time", first[is_there])

    def answer_next(self, frame: Frame, waiting: Positions) -> None:
        key, is_known = keys_of(frame, self.questions, waiting)
        if not is_known.any():
            self.waiting = waiting
            return
        first = np.minimum(np.searchsorted(frame.key, key), len(frame.key) - 1)
        carried = np.flatnonzero(is_known & frame.is_carried[first])
        # Nobody knows which commit came next where the log behind was not seen.
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
        """The log behind was not seen."""
        self.answers.is_settled[self.waiting] = True
        self.waiting = self.waiting[:0]


def written_rows(frame: Frame) -> Positions:
    """Commits of the chunk, whether they hold or not."""
    return np.flatnonzero(frame.is_value & ~frame.is_carried)


def places_of(frame: Frame, offset: Numbers) -> Numbers:
    """The last place of the chunk's log at or before the offset; -1: the chunk begins behind it."""
    both = (frame.log.offset, frame.markers.offset)
    return np.asarray(sum(np.searchsorted(of, offset, side="right") for of in both) - 1, np.int64)


def keys_of(frame: Frame, questions: Questions, which: Positions) -> tuple[Numbers, Flags]:
    """The key of each question in the frame, and whether it is there."""
    rows = pa.array(which)
    group = codes(questions.group_id.take(rows), frame.groups)
    topic = codes(questions.topic.take(rows), frame.topics)
    partition = questions.partition[which].astype(np.int64)
    keys = frame.keys
    if not len(keys.group):
        return np.zeros(len(which), np.int64), np.zeros(len(which), np.bool_)
    # Names of group and topic as one number, then with the partition as another.
    width = max(len(frame.topics), 1)
    pairs, wanted = keys.group.astype(np.int64) * width + keys.topic, group * width + topic
    is_first = first_of(pairs)
    pair = np.minimum(np.searchsorted(pairs[is_first], wanted), is_first.sum() - 1)
    is_known = (group >= 0) & (topic >= 0) & (pairs[is_first][pair] == wanted)
    known = (np.cumsum(is_first) - 1 << 32) + keys.partition
    found = np.minimum(np.searchsorted(known, (pair << 32) + partition), len(known) - 1)
    return found, is_known & (known[found] == (pair << 32) + partition)


def codes(names: pa.Array, known: pa.Array) -> Numbers:
    return np.asarray(pc.index_in(names, value_set=known).fill_null(-1).to_numpy(), np.int64)
