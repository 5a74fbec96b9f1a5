"""What was committed when partitions changed owners: groups ask, commits answer, and the answers become part of the
rows.

Questions of earlier runs are not asked again: their answers are in the rows that those runs wrote.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.partition.departures import Departures
from jobs.replaying.partition.rebalance_costs import Costs
from jobs.replaying.partition.row_keys import keys, places_of, with_column
from jobs.replaying.partition.unread_times import QuietTimes, reading_times, unread_columns
from schemas.contract.tables import TABLES
from udfs.arrays.arrow_schema import table_schema, with_types
from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.arrays.texts import KIND
from udfs.commits.group_questions import Answers, Questions
from udfs.log.gaps import Gaps
from udfs.topics.end_offsets import Awaited, EndOffsets

OWNERSHIP, MOVES, WAITING = "ownership_intervals", "partition_moves", "replayed_moves"
# Within an offsets partition. A conversion of the group may leave its topics known only by name.
OWNERSHIP_KEY = tuple(name for name in TABLES[OWNERSHIP].key if name not in ("topic_id", "evidence_partition"))
MOVES_KEY = tuple(name for name in TABLES[MOVES].key if name != "evidence_partition")
ASKED_OF_MOVES = ["group_id", "topic", "partition", "move_offset"]
UNREAD = ("unread_low_ms", "unread_high_ms", "unread_basis")


Of = TypeVar("Of")


class Asked(NamedTuple, Generic[Of]):
    """What is asked, or answered, about each of these."""

    owner_starts: Of
    owner_ends: Of
    # Of the moves in `Handovers.compared`: what was committed.
    compared_moves: Of
    # Of all moves: times of the commits before and after.
    moves: Of
    # Ends of ownership of members that left (`Departures.stays`).
    stay_ends: Of


class Subject(NamedTuple):
    """Rows that questions are about, one each, and the offsets at which they are asked."""

    rows: pa.Table
    offset: pa.ChunkedArray
    is_about_times: bool


@dataclass
class Handovers:
    """`owners`, `moves` and `departures`: as the fold made them. `held_owners`: open rows of earlier runs. `waiting`:
    rows of replayed_moves. `through`: the last offset that these runs replayed. `last_hole`: the last offset before the
    newest missing records."""

    owners: pa.Table
    moves: pa.Table
    # The row of reading_ends for each move.
    ends: pa.Table
    departures: Departures
    held_owners: pa.Table
    waiting: pa.Table
    through: int
    last_hole: int
    snapshots: EndOffsets

    def __post_init__(self) -> None:
        self.quiet = QuietTimes(self.snapshots, self.moves)
        size = self.moves.num_rows
        longest = reading_times(self.moves, self.ends, np.zeros(size, np.bool_), np.full(size, NONE))
        # Moves for which the committed offsets matter.
        self.compared = self.quiet.moves_in_question(longest)

    def has_all_answers(self) -> bool:
        """Whether the rows of earlier runs contain the answers that need the log of those runs. They mostly do, but a
        partition that was stopped at the end of those runs may have no row yet."""
        if self.through < 0:
            return True
        sides = ((self.owners, "from_offset", self.held_owners, OWNERSHIP_KEY),
                 (self.moves, "move_offset", self.waiting, MOVES_KEY))  # fmt: skip
        for rows, offset, held, key in sides:
            is_earlier = pc.and_(pc.less_equal(rows.column(offset), self.through), rows.column("topic").is_valid())
            asked = rows.filter(is_earlier)
            if asked.num_rows and places_of(keys(asked, key), keys(held, key)).null_count:
                return False
        return True

    def subjects(self) -> Asked[Subject]:
        moves, stays = self.moves.select(ASKED_OF_MOVES), self.departures.stays
        compared = moves.take(pa.array(self.compared))
        return Asked(
            owner_starts=Subject(self.owners, self.owners.column("from_offset"), False),
            owner_ends=Subject(self.owners, self.owners.column("to_offset").fill_null(-1), False),
            compared_moves=Subject(compared, compared.column("move_offset"), False),
            moves=Subject(moves, moves.column("move_offset"), True),
            stay_ends=Subject(stays, stays.column("to_offset"), True),
        )

    def questions(self) -> Questions:
        """All in one, as `answers` takes them apart again."""
        subjects = self.subjects()
        return Questions(
            whole([of.rows.column("group_id") for of in subjects]),
            whole([of.rows.column("topic") for of in subjects]).fill_null(""),
            np.concatenate([of.rows.column("partition").to_numpy() for of in subjects]),
            np.concatenate([of.offset.to_numpy() for of in subjects]),
            np.concatenate([np.full(of.rows.num_rows, of.is_about_times) for of in subjects]),
        )

    def answers(self, to_questions: Answers) -> Asked[Answers]:
        sizes = Asked(
            owner_starts=self.owners.num_rows,
            owner_ends=self.owners.num_rows,
            compared_moves=len(self.compared),
            moves=self.moves.num_rows,
            stay_ends=self.departures.stays.num_rows,
        )
        return Asked(*to_questions.cut(sizes))

    def answered_owners(self, answers: Asked[Answers]) -> pa.Table:
        """Rows of ownership_intervals."""
        is_named = np.asarray(self.owners.column("topic").is_valid().to_numpy())
        at_start, at_end = answers.owner_starts.committed, answers.owner_ends.committed
        starts = nullable(at_start, is_named & (at_start != NONE))
        is_ended = np.asarray(self.owners.column("to_offset").is_valid().to_numpy())
        ends = nullable(at_end, is_named & is_ended & (at_end != NONE))
        owners = with_column(self.owners, "start_offset", self.with_held_starts(starts))
        return with_column(owners, "end_offset", ends)

    def timed_out(self, answers: Asked[Answers], gaps: Gaps) -> Flags:
        """For each member that left."""
        of_stays = answers.stay_ends
        return self.departures.timed_out(of_stays.last_commit_time, of_stays.newest_offset, gaps)

    def with_held_starts(self, starts: pa.Array) -> pa.Array:
        if not self.held_owners.num_rows:
            return starts
        places = places_of(keys(self.owners, OWNERSHIP_KEY), keys(self.held_owners, OWNERSHIP_KEY))
        held = self.held_owners.column("start_offset").combine_chunks().take(places)
        is_held = pc.less_equal(self.owners.column("from_offset"), self.through).combine_chunks()
        return pc.if_else(is_held, held, starts)

    def answered_moves(self, answers: Asked[Answers], timed_out: Flags) -> "AnsweredMoves":
        moves = self.moves
        last, after = answers.moves.last_commit_time, answers.moves.next_commit_time
        is_named = np.asarray(moves.column("topic").is_valid().to_numpy())
        places = pa.nulls(moves.num_rows, pa.int32())
        if self.waiting.num_rows:
            places = places_of(keys(moves, MOVES_KEY), keys(self.waiting, MOVES_KEY))
        is_held = np.asarray(places.is_valid().to_numpy(zero_copy_only=False))
        held = self.waiting.take(places)
        held_last = micros(held.column("last_commit_time"))
        awaits = np.asarray(held.column("is_awaiting_commit").fill_null(False).to_numpy())
        last = np.where(is_held, held_last, np.where(is_named, last, NONE))
        # The first commit after a move may have been read earlier, or there is none to compare with.
        after = np.where(is_held & ~awaits, NONE, np.where(is_named, after, NONE))
        gaps = nullable((after - last) // 1000, (last != NONE) & (after != NONE))
        known = held.column("commit_gap_ms").combine_chunks()
        gaps = pc.if_else(pa.array(is_held & ~awaits), known, gaps)
        waits = np.where(is_held, awaits, True) & (last != NONE) & (after == NONE)
        waits &= moves.column("move_offset").to_numpy() > self.last_hole
        fell_silent = self.departures.are_of(moves, self.ends.column("silent_offset"), timed_out)
        times = reading_times(moves, self.ends, fell_silent, last)
        committed = self.compared_offsets(answers.compared_moves)
        unread = unread_columns(times, self.quiet, committed)
        moves = with_column(moves, "commit_gap_ms", gaps)
        for name in UNREAD:
            # For a move of an earlier run, the result of that run.
            moves = with_column(moves, name, pc.if_else(pa.array(is_held), held.column(name), unread[name]))
        is_counted = np.asarray(self.ends.column("is_counted").to_numpy())
        is_settled = ~np.asarray(moves.column("is_open").to_numpy())
        costs, settled_costs = (Costs.of(moves, which) for which in (is_counted, is_counted & is_settled))
        moves, waiting = self.split_moves(moves, is_settled, waits, nullable(last, last != NONE))
        return AnsweredMoves(moves, waiting, costs, settled_costs, self.quiet.awaited_ends(times, committed))

    def compared_offsets(self, answers: Answers) -> Numbers:
        """By move, the committed offset, if it matters."""
        offsets = np.full(self.moves.num_rows, NONE)
        is_named = self.moves.column("topic").is_valid().to_numpy()[self.compared]
        offsets[self.compared] = np.where(is_named, answers.committed, NONE)
        return offsets

    def split_moves(
        self, moves: pa.Table, is_settled: Flags, waits: np.ndarray, last: pa.Array
    ) -> tuple[pa.Table, pa.Table]:
        is_open = pa.array(~is_settled | waits)
        moves = with_column(moves, "is_open", is_open)
        columns = {
            **{name: moves.column(name) for name in moves.column_names},
            "is_settled": pa.array(is_settled),
            "is_awaiting_commit": pa.array(waits),
            "last_commit_time": last.cast(pa.timestamp("us", "UTC")),
        }
        schema = table_schema(TABLES[WAITING])
        return moves, with_types(pa.table({name: columns[name] for name in schema.names}).filter(is_open), schema)


@dataclass(frozen=True)
class AnsweredMoves:
    """Rows of partition_moves and replayed_moves; the cost of their rebalances, and the part of it that no later run
    counts again; partitions for which the next snapshot shows whether there was anything to read."""

    moves: pa.Table
    waiting: pa.Table
    costs: Costs
    settled_costs: Costs
    awaited: Collection[Awaited]


def moves_to_ask(
    made: pa.Table, ends: pa.Table, waiting: pa.Table, touched: pa.ChunkedArray
) -> tuple[pa.Table, pa.Table]:
    """Moves that the fold made, and waiting moves of earlier runs that it did not make again. `touched`: for each
    waiting move, whether its group had records. `ends`: rows of reading_ends for the moves that were made."""
    if not waiting.num_rows:
        return made, ends
    kept = waiting.filter(pc.or_(waiting.column("is_settled"), pc.invert(touched)))
    names = made.column_names
    rows = kept.select(names)
    rows = with_column(rows, "is_open", pc.invert(kept.column("is_settled")).combine_chunks())
    is_new = places_of(keys(rows, MOVES_KEY), keys(made, MOVES_KEY)).is_null()
    rows = rows.filter(is_new)
    # For these, the reading end and the cost are already known.
    nothing = {name: pa.nulls(rows.num_rows, ends.schema.field(name).type) for name in ends.column_names}
    nothing["is_counted"] = pa.repeat(False, rows.num_rows)
    rows = with_types(rows, made.schema)
    return pa.concat_tables([made, rows]), pa.concat_tables([ends, pa.table(nothing, ends.schema)])


def whole(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], KIND)


def micros(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(column.cast(pa.int64()).fill_null(NONE).to_numpy())


def nullable(values: np.ndarray, is_valid: np.ndarray) -> pa.Array:
    return pa.array(np.where(is_valid, values, 0), mask=~is_valid)
