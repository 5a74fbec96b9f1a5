"""What was committed when partitions changed owners: groups ask, commits answer, and the answers become part of the
rows.

Questions of earlier runs are not asked again: their answers are in the rows that those runs wrote.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.partition.departures import Departures, LeaveKinds
from jobs.replaying.partition.rebalance_costs import with_costs
from jobs.replaying.partition.row_keys import keys, places_of, with_column
from jobs.replaying.partition.unread_times import Counted, QuietTimes, ReadingTimes, counted, reading_times
from schemas.tables import TABLES
from schemas.words.history import Confidence, OwnershipPhase, RebalanceOutcome
from udfs.arrays.arrow_schema import table_schema, with_types
from udfs.arrays.nullable import NONE, Flags, Numbers, flags, integers, numbers
from udfs.arrays.texts import KIND, codes_of, encoded
from udfs.commits.group_questions import Answers, Questions
from udfs.log.gaps import Gaps
from udfs.topics.end_offsets import Awaited, EndOffsets

OWNERSHIP, MOVES, WAITING = "ownership_intervals", "partition_moves", "replayed_moves"
# Within an offsets partition. A conversion of the group may leave its topics known only by name.
OWNERSHIP_KEY = tuple(name for name in TABLES[OWNERSHIP].key if name not in ("topic_id", "evidence_partition"))
MOVES_KEY = tuple(name for name in TABLES[MOVES].key if name != "evidence_partition")
ASKED_OF_MOVES = ["group_id", "topic", "partition", "move_offset"]

Of = TypeVar("Of")


class Asked(NamedTuple, Generic[Of]):
    """What is asked, or answered, about each of these."""

    owner_starts: Of
    owner_ends: Of
    # Of the moves in `Handovers.compared`: what was committed.
    compared_moves: Of
    # Of all moves: times of the commits before and after.
    moves: Of


class Subject(NamedTuple):
    """Rows that questions are about, one each, and the offsets at which they are asked."""

    rows: pa.Table
    offset: pa.ChunkedArray
    is_about_values: bool
    is_about_times: bool


@dataclass
class Handovers:
    """`owners`, `moves` and `departures`: as the fold made them. `held_owners`: open rows of earlier runs. `waiting`:
    rows of replayed_moves. `through`: the last offset that these runs replayed. `last_hole`: the last offset before the
    newest missing records. `group_times`: of groups with records, the time of the newest, in microseconds."""

    owners: pa.Table
    moves: pa.Table
    # The row of reading_ends for each move.
    ends: pa.Table
    departures: Departures
    held_owners: pa.Table
    waiting: pa.Table
    through: int
    last_hole: int
    group_times: Mapping[str, int | None]
    snapshots: EndOffsets

    def __post_init__(self) -> None:
        self.quiet = QuietTimes(self.snapshots, self.moves)
        longest = reading_times(self.moves, self.ends, LeaveKinds.none(self.moves.num_rows))
        # Moves for which the committed offsets matter.
        self.compared = self.quiet.moves_in_question(longest)

    def has_all_answers(self) -> bool:
        """Whether the rows of earlier runs contain the answers that need the log of those runs. They mostly do, but a
        partition that was stopped at the end of those runs may have no row yet."""
        if self.through < 0:
            return True
        sides = ((self.owners, "from_record_offset", self.held_owners, OWNERSHIP_KEY),
                 (self.moves, "move_offset", self.waiting, MOVES_KEY))  # fmt: skip
        for rows, offset, held, key in sides:
            is_earlier = pc.and_(pc.less_equal(rows.column(offset), self.through), rows.column("topic").is_valid())
            asked = rows.filter(is_earlier)
            if asked.num_rows and places_of(keys(asked, key), keys(held, key)).null_count:
                return False
        return True

    def subjects(self) -> Asked[Subject]:
        moves = self.moves.select(ASKED_OF_MOVES)
        compared = moves.take(pa.array(self.compared))
        return Asked(
            owner_starts=Subject(self.owners, self.owners.column("from_record_offset"), True, False),
            owner_ends=Subject(self.owners, self.owners.column("to_record_offset").fill_null(-1), True, True),
            compared_moves=Subject(compared, compared.column("move_offset"), True, False),
            moves=Subject(moves, moves.column("move_offset"), False, True),
        )

    def questions(self) -> Questions:
        """All in one, as `answers` takes them apart again."""
        subjects = self.subjects()
        return Questions(
            whole([of.rows.column("group_id") for of in subjects]),
            whole([of.rows.column("topic") for of in subjects]).fill_null(""),
            np.concatenate([of.rows.column("partition").to_numpy() for of in subjects]),
            np.concatenate([of.offset.to_numpy() for of in subjects]),
            np.concatenate([np.full(of.rows.num_rows, of.is_about_values) for of in subjects]),
            np.concatenate([np.full(of.rows.num_rows, of.is_about_times) for of in subjects]),
        )

    def answers(self, to_questions: Answers) -> Asked[Answers]:
        sizes = Asked(
            owner_starts=self.owners.num_rows,
            owner_ends=self.owners.num_rows,
            compared_moves=len(self.compared),
            moves=self.moves.num_rows,
        )
        return Asked(*to_questions.cut(sizes))

    def answered_owners(self, answers: Asked[Answers]) -> pa.Table:
        """Rows of ownership_intervals."""
        is_named = np.asarray(self.owners.column("topic").is_valid().to_numpy())
        at_start, at_end = answers.owner_starts.committed, answers.owner_ends.committed
        starts = nullable(at_start, is_named & (at_start != NONE))
        is_ended = np.asarray(self.owners.column("to_record_offset").is_valid().to_numpy())
        ends = nullable(at_end, is_named & is_ended & (at_end != NONE))
        owners = with_column(self.owners, "start_offset", self.with_held_starts(starts))
        owners = with_column(owners, "end_offset", ends)
        for name, times in self.reader_times(np.where(is_named, answers.owner_ends.last_commit_time, NONE)).items():
            owners = with_column(owners, name, integers(times))
        return owners

    def reader_times(self, last_commits: Numbers) -> dict[str, Numbers]:
        """Until when each owner was the reader for certain, and since when it may not be: its commits prove it."""
        names = ("from_time", "to_time", "reader_doubt_from_time")
        since, until, doubt = (numbers(self.owners.column(name)) for name in names)
        is_known = (since != NONE) & (until != NONE)
        # One that is asked to give a partition up commits what it read before.
        is_reader = pc.equal(self.owners.column("phase").cast(pa.string()), OwnershipPhase.ASSIGNED)
        commit = np.where(flags(is_reader), np.clip(last_commits, since, until), since)
        return {
            "reader_certain_until_time": np.where(is_known, commit, NONE),
            "reader_doubt_from_time": np.where(is_known & (doubt != NONE), np.maximum(doubt, commit), doubt),
        }

    def leave_kinds(self, answers: Asked[Answers], gaps: Gaps) -> LeaveKinds:
        """Of each member that left."""
        at_ends = answers.owner_ends
        return self.departures.kinds(at_ends.last_commit_time, at_ends.newest_offset, gaps)

    def with_held_starts(self, starts: pa.Array) -> pa.Array:
        if not self.held_owners.num_rows:
            return starts
        places = places_of(keys(self.owners, OWNERSHIP_KEY), keys(self.held_owners, OWNERSHIP_KEY))
        held = self.held_owners.column("start_offset").combine_chunks().take(places)
        is_held = pc.less_equal(self.owners.column("from_record_offset"), self.through).combine_chunks()
        return pc.if_else(is_held, held, starts)

    def answered_moves(self, answers: Asked[Answers], kinds: LeaveKinds) -> "AnsweredMoves":
        moves = self.moves
        last, after = answers.moves.last_commit_time, answers.moves.next_commit_time
        is_named = np.asarray(moves.column("topic").is_valid().to_numpy())
        held, is_held = self.held_moves()
        awaits = np.asarray(held.column("is_awaiting_commit").fill_null(False).to_numpy())
        last = np.where(is_held, numbers(held.column("last_commit_time")), np.where(is_named, last, NONE))
        # The first commit after a move may have been read earlier, or there is none to compare with.
        after = np.where(is_held & ~awaits, NONE, np.where(is_named, after, NONE))
        gaps = nullable((after - last) // 1000, (last != NONE) & (after != NONE))
        known = held.column("commit_gap_ms").combine_chunks()
        gaps = pc.if_else(pa.array(is_held & ~awaits), known, gaps)
        waits = np.where(is_held, awaits, True) & is_named & (after == NONE)
        waits &= moves.column("move_offset").to_numpy() > self.last_hole
        owners = self.departures.of_moves(kinds, self.ends, moves.column("group_id"))
        times = reading_times(moves, self.ends, owners, last)
        committed = self.compared_offsets(answers.compared_moves)
        unread = self.counted(times, committed, held, is_held)
        moves = with_column(moves, "commit_gap_ms", gaps)
        for name, column in unread.columns(after).items():
            # What an earlier run knew of its own move, unless the first commit after it came only now.
            is_final = pa.array(is_held & (after == NONE))
            moves = with_column(moves, name, pc.if_else(is_final, held.column(name), column))
        is_possible = pa.array(times.never & ~is_held)
        confidence = pc.if_else(is_possible, Confidence.POSSIBLE.value, moves.column("confidence").cast(pa.string()))
        moves = with_column(moves, "confidence", confidence)
        is_counted = pc.if_else(pa.array(is_held), held.column("is_counted"), self.ends.column("is_counted"))
        has_open_end = waits & (unread.before != NONE) & self.are_recent(unread.delivered, held)
        state = MoveState(
            is_settled=~np.asarray(moves.column("is_provisional").to_numpy()),
            waits=waits & ((last != NONE) | has_open_end),
            has_open_end=has_open_end,
            last=last,
            is_counted=flags(is_counted),
            unread=unread,
        )
        return AnsweredMoves(moves, state, self.quiet.awaited_ends(times, committed))

    def are_recent(self, delivered: Numbers, held: pa.Table) -> Flags:
        """Whether the first commit after a move may still come before the end of delivery: a record of its group that
        is newer shows that none did. Without new ones it is as before."""
        groups = encoded(self.moves.column("group_id"))
        times = [self.group_times.get(name, NONE) for name in groups.dictionary.to_pylist()]
        newest = np.array([NONE if time is None else time for time in [*times, NONE]], np.int64)[codes_of(groups)]
        return np.asarray(np.where(newest == NONE, flags(held.column("has_open_end")), delivered > newest))

    def held_moves(self) -> tuple[pa.Table, Flags]:
        """For each move its row of an earlier run; NULL: there is none."""
        places = pa.nulls(self.moves.num_rows, pa.int32())
        if self.waiting.num_rows:
            places = places_of(keys(self.moves, MOVES_KEY), keys(self.waiting, MOVES_KEY))
        return self.waiting.take(places), np.asarray(places.is_valid().to_numpy(zero_copy_only=False))

    def counted(self, times: ReadingTimes, committed: Numbers, held: pa.Table, is_held: Flags) -> Counted:
        made = counted(times, self.quiet, committed)

        def column(name: str, values: Numbers) -> Numbers:
            return np.where(is_held, numbers(held.column(name)), values)

        basis = pc.if_else(pa.array(is_held), held.column("unread_basis"), made.basis)
        low = np.where(is_held, numbers(held.column("unread_low_ms")), NONE)
        return Counted(
            np.where(is_held, np.where(low == NONE, NONE, low * 1000), made.low),
            column("unread_before_us", made.before),
            column("counted_from_time", made.tail_from),
            column("counted_until_time", made.delivered),
            basis,
        )

    def compared_offsets(self, answers: Answers) -> Numbers:
        """By move, the committed offset, if it matters."""
        offsets = np.full(self.moves.num_rows, NONE)
        is_named = self.moves.column("topic").is_valid().to_numpy()[self.compared]
        offsets[self.compared] = np.where(is_named, answers.committed, NONE)
        return offsets


@dataclass(frozen=True)
class MoveState:
    """By move: whether no record of its group changes it any more; whether it waits for a commit, and for one that may
    end its unread time; the last commit before it; whether its rebalance counts it."""

    is_settled: Flags
    waits: Flags
    has_open_end: Flags
    last: Numbers
    is_counted: Flags
    unread: Counted


@dataclass(frozen=True)
class AnsweredMoves:
    """Rows of partition_moves, and partitions for which the next snapshot shows whether there was anything to read."""

    moves: pa.Table
    state: MoveState
    awaited: Collection[Awaited]

    def with_costs(self, rebalances: pa.Table) -> pa.Table:
        """A rebalance whose unread times may still change is open, even if it is completed."""
        rows = with_costs(rebalances, self.moves, self.state.is_counted)
        changeable = pa.array(np.unique(self.assignments()[self.state.is_counted & self.state.has_open_end]))
        may_change = pc.is_in(rows.column("assignment_offset"), changeable)
        is_unfinished = pc.and_(rows.column("is_provisional"), pc.equal(rows.column("outcome"), RebalanceOutcome.OPEN))
        return with_column(rows, "is_provisional", pc.or_(is_unfinished, may_change).combine_chunks())

    def assignments(self) -> Numbers:
        return numbers(self.moves.column("assignment_offset"))

    def rows(self, rebalances: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Of partition_moves and replayed_moves. All moves of a rebalance wait as long as its row may change."""
        state, may_change = self.state, rebalances.filter(rebalances.column("is_provisional"))
        is_needed = state.is_counted & np.isin(self.assignments(), numbers(may_change.column("assignment_offset")))
        is_provisional = pa.array(~state.is_settled | state.waits | is_needed)
        moves = with_column(self.moves, "is_provisional", is_provisional)
        unread, kind = state.unread, pa.timestamp("us", "UTC")
        columns = {
            **{name: moves.column(name) for name in moves.column_names},
            "is_settled": pa.array(state.is_settled),
            "is_awaiting_commit": pa.array(state.waits),
            "has_open_end": pa.array(state.has_open_end),
            "last_commit_time": integers(state.last, kind),
            "is_counted": pa.array(state.is_counted),
            "unread_before_us": integers(unread.before),
            "counted_from_time": integers(unread.tail_from, kind),
            "counted_until_time": integers(unread.delivered, kind),
        }
        schema = table_schema(TABLES[WAITING])
        return moves, with_types(
            pa.table({name: columns[name] for name in schema.names}).filter(is_provisional), schema
        )


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
    rows = with_column(rows, "is_provisional", pc.invert(kept.column("is_settled")).combine_chunks())
    is_new = places_of(keys(rows, MOVES_KEY), keys(made, MOVES_KEY)).is_null()
    rows = rows.filter(is_new)
    # For these, the reading end is already known.
    nothing = {name: pa.nulls(rows.num_rows, ends.schema.field(name).type) for name in ends.column_names}
    nothing["is_counted"] = pa.repeat(False, rows.num_rows)
    rows = with_types(rows, made.schema)
    return pa.concat_tables([made, rows]), pa.concat_tables([ends, pa.table(nothing, ends.schema)])


def whole(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], KIND)


def nullable(values: np.ndarray, is_valid: np.ndarray) -> pa.Array:
    return pa.array(np.where(is_valid, values, 0), mask=~is_valid)
