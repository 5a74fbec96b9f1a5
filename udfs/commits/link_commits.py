"""Links the commits of one offsets partition, key by key, into offsets and the time each was in force.

There is no loop over commits: a chunk is sorted by key, together with the earlier state of these keys, and whole
columns are compared with themselves shifted by one row. What a chunk leaves open becomes the state, so the next chunk
and the next run continue in the same way."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.decoded_records import OFFSET_COMMITS, TRANSACTION_MARKERS
from schemas.tables.history import REPLAY_ANOMALIES
from schemas.tables.offsets import OFFSET_HISTORY, TRANSACTIONS
from schemas.tables.state.replayed_offsets import REPLAYED_OFFSETS
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import flags, numbers
from udfs.commits.chunks import Effects, effects_of, exactness, runs_of
from udfs.commits.clock_steps import clock_steps
from udfs.commits.frames import COMMIT_COLUMNS, MARKER_COLUMNS, PENDING, Frame, frame_of
from udfs.commits.group_questions import Answers, Asked, Questions
from udfs.commits.liveness import SCHEMA as LIVENESS
from udfs.commits.liveness import alive_rows, liveness_of
from udfs.commits.offset_endings import OffsetFacts, endings
from udfs.commits.offset_rows import closed_rows, held_rows
from udfs.commits.offset_states import in_order, state_of, unseen_behind
from udfs.commits.preview_offsets import preview_offsets
from udfs.commits.revived_offsets import revived_offsets
from udfs.commits.transactions import Waiting, ended_rows, unended_rows, waiting_of

TABLES = {table.name: table for table in (OFFSET_HISTORY, TRANSACTIONS, REPLAY_ANOMALIES)}
NO_ROWS = {name: table_schema(table).empty_table() for name, table in TABLES.items()}
STATE = table_schema(REPLAYED_OFFSETS)
END_OF_LOG = 2**63 - 1
EMPTY_COMMITS = table_schema(OFFSET_COMMITS).empty_table().select(COMMIT_COLUMNS)
EMPTY_MARKERS = table_schema(TRANSACTION_MARKERS).empty_table().select(MARKER_COLUMNS)


@dataclass(frozen=True)
class Finished:
    """`closed`: rows that were held back until it was clear that no more records of their write follow."""

    closed: dict[str, pa.Table]
    open: dict[str, pa.Table]
    # Rows of table replayed_offsets: every key of the earlier state or of the chunks.
    state: pa.Table
    answers: Answers
    # Intervals in which a group has an offset or a pending one; those that ended in this replay, and open ones:
    # group_id, from_offset, from_time, to_offset, to_time (NULL: still open), is_cut.
    liveness: pa.Table


class OffsetReplay:
    """Takes chunks in log order, with commits and markers of the same span of the log. Returns closed rows of
    offset_history, transactions and replay_anomalies."""

    def __init__(
        self, cluster: str, partition: int, state: pa.Table | None, questions: Questions, facts: OffsetFacts
    ) -> None:
        self.cluster, self.partition, self.facts = cluster, partition, facts
        self.asked = Asked(questions)
        found = STATE.empty_table() if state is None else state.select(STATE.names).cast(STATE)
        self.state = in_order(found)
        self.ended: list[pa.Table] = []
        self.held_back: tuple[pa.Table, pa.Table] | None = None

    def take(self, commits: pa.Table, markers: pa.Table) -> dict[str, pa.Table]:
        commits, markers = commits.select(COMMIT_COLUMNS), markers.select(MARKER_COLUMNS)
        if self.held_back is not None:
            commits = pa.concat_tables([self.held_back[0], commits])
            markers = pa.concat_tables([self.held_back[1], markers])
            self.held_back = None
        offsets = numbers(commits["record_offset"])
        size = whole_writes(commits)
        if size == len(offsets):
            return self.link(commits, markers, last_offset(commits, markers))
        cut = int(offsets[size])
        is_before = numbers(markers["record_offset"]) < cut
        self.held_back = commits.slice(size), markers.filter(pa.array(~is_before))
        return self.link(commits.slice(0, size), markers.filter(pa.array(is_before)), cut - 1)

    def hole(self, last_offset: int, last_time: int | None) -> dict[str, pa.Table]:
        """Records after this offset are missing (time in microseconds)."""
        closed = self.release(last_offset)
        self.state = in_order(self.state)
        hole = (last_offset, last_time)
        held = held_rows(self.state, hole)
        transactions = self.unended(last_offset)
        self.ended.append(alive_rows(self.state, hole))
        self.state = unseen_behind(self.state, last_offset)
        self.asked.cut()
        return together([closed, {OFFSET_HISTORY.name: held, TRANSACTIONS.name: transactions}])

    def finish(self) -> Finished:
        closed = self.release(END_OF_LOG)
        self.state = in_order(self.state)
        opened = {OFFSET_HISTORY.name: held_rows(self.state), TRANSACTIONS.name: self.unended(None)}
        liveness = pa.concat_tables([LIVENESS.empty_table(), *self.ended, alive_rows(self.state)])
        liveness = liveness.sort_by([("group_id", "ascending"), ("from_offset", "ascending")])
        return Finished(closed, opened, self.state, self.asked.answers, liveness)

    def release(self, through: int) -> dict[str, pa.Table]:
        """Releases rows that were held back, and answers all questions up to there."""
        if self.held_back is None and not len(self.asked.upto(through)):
            return NO_ROWS
        commits, markers = self.held_back or (EMPTY_COMMITS, EMPTY_MARKERS)
        self.held_back = None
        return self.link(commits, markers, through)

    def unended(self, hole_offset: int | None) -> pa.Table:
        pending = self.state.filter(pc.equal(self.state["kind"], PENDING))
        return unended_rows(pending, self.cluster, self.partition, hole_offset)

    def link(self, commits: pa.Table, markers: pa.Table, through: int) -> dict[str, pa.Table]:
        touched, untouched = self.split(commits, markers, through)
        frame = frame_of(touched, commits, markers)
        waiting = waiting_of(frame)
        effects = effects_of(frame, waiting)
        runs = runs_of(frame, effects)
        exact = exactness(frame, effects, self.facts.gaps)
        alive = liveness_of(frame, effects, waiting)
        self.asked.answer(frame, effects, through)
        self.ended.append(alive.ended)
        is_ended = runs.ender >= 0
        held, over = runs.chosen(~is_ended), runs.chosen(is_ended)
        state = state_of(frame, effects, held, exact, waiting, alive, self.facts.gaps, self.cluster, self.partition)
        self.state = pa.concat_tables([untouched, state]) if untouched.num_rows else state
        ended_by = endings(frame, effects, over, self.facts)
        return {
            OFFSET_HISTORY.name: closed_rows(frame, effects, over, exact, ended_by, self.cluster, self.partition),
            TRANSACTIONS.name: ended_rows(frame, waiting, self.cluster, self.partition),
            REPLAY_ANOMALIES.name: self.anomalies(frame, effects, waiting),
        }

    def anomalies(self, frame: Frame, effects: Effects, waiting: Waiting) -> pa.Table:
        steps = clock_steps(frame, self.cluster, self.partition)
        revived = revived_offsets(frame, effects, waiting, self.cluster, self.partition)
        preview = preview_offsets(frame, effects, waiting, self.cluster, self.partition)
        if not revived.num_rows and not preview.num_rows:
            return steps
        order = [(column, "ascending") for column in REPLAY_ANOMALIES.order]
        return pa.concat_tables([steps, revived, preview]).sort_by(order)

    def split(self, commits: pa.Table, markers: pa.Table, through: int) -> tuple[pa.Table, pa.Table]:
        """Splits the state: groups that this chunk, or a question, is about, and others. The others stay as they
        are."""
        state = self.state
        if not state.num_rows:
            return state, state
        producers = pc.unique(markers["producer_id"])
        is_ended = pc.and_(pc.equal(state["kind"], PENDING), pc.is_in(state["producer_id"], value_set=producers))
        groups = pa.concat_arrays(
            [
                pc.unique(commits["group_id"]).cast(pa.string()),
                pc.unique(state["group_id"].filter(is_ended)),
                self.asked.groups(through),
            ]
        )
        if not len(groups):
            return state.slice(0, 0), state
        is_touched = pc.is_in(state["group_id"], value_set=groups)
        return state.filter(is_touched), state.filter(pc.invert(is_touched))


def whole_writes(commits: pa.Table) -> int:
    """Rows up to the last write, if that deletes offsets. The reason of a deletion depends on everything the same write
    deletes, and more of it may follow. Records of one write have the same time."""
    size = commits.num_rows
    if not size:
        return 0
    last = commits["record_time"][size - 1]
    is_other = pc.fill_null(pc.not_equal(commits["record_time"], last), True)
    others = np.flatnonzero(is_other.to_numpy())
    begin = int(others[-1]) + 1 if len(others) else 0
    return begin if flags(commits["is_tombstone"].slice(begin)).any() else size


def last_offset(commits: pa.Table, markers: pa.Table) -> int:
    last = [numbers(rows["record_offset"])[-1] for rows in (commits, markers) if rows.num_rows]
    return int(max(last, default=-1))


def together(parts: list[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    """The tables of all parts, each in its table's order."""
    found = {}
    for name, table in TABLES.items():
        rows = pa.concat_tables([table_schema(table).empty_table(), *(part[name] for part in parts if name in part)])
        found[name] = rows.sort_by([(column, "ascending") for column in table.order])
    return found
