"""Finds commits that move an offset in another way than by reading on, with signs of who may have made them.

These rows of offset_history are candidates:
- steps back;
- in an empty group that had members before, also steps forward and first commits: its members are away;
- in a group that never had members, steps forward to the start of a log, or those that end a series of commits of
  another kind: everything else is a program that reads on and commits by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import CommitVia, OffsetEnd
from udfs.arrays.nullable import NONE, Flags, Numbers, flags, numbers
from udfs.arrays.texts import as_texts, is_value, of_texts
from udfs.lag.as_of import NOWHERE, at, holding_at, key_codes
from udfs.lag.confidence import possible_steps
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import codes_in, combine_columns, joined
from udfs.rules.facts.group_states import StatesAt
from udfs.rules.facts.log_between import LogBetween
from udfs.rules.facts.log_ends import EndsAround

KEY = ("group_id", "topic", "partition")
# Arrays of moves that do not depend on other moves.
OF_MOVES = (
    "place",
    "is_plain",
    "is_first",
    "delta",
    "is_bare",
    "was_bare",
    "is_in_series",
    "was_carried_over",
    "last_commit_time",
    "is_possible",
    "batch",
)


@dataclass(frozen=True)
class Moves:
    """A row for each candidate. `rows`: of offset_history, `place`: which of them. `operation`: a number for what one
    write of one group holds. `batch`: its first record's offset in the log, of transactions the marker."""

    rows: pa.Table
    place: Numbers
    states: StatesAt
    is_plain: Flags
    is_first: Flags
    delta: Numbers
    # Neither leader epoch nor metadata, as admin tools commit; and the same of the commit before, if that is known.
    is_bare: Flags
    was_bare: Flags
    # The commit before was as bare, and the group had no members then either.
    is_in_series: Flags
    # The commit before was the first one for a topic of this name and repeated the last offset of the deleted one: its
    # client had not noticed yet.
    was_carried_over: Flags
    last_commit_time: Numbers
    # Its commit or the one before may have been aborted: the archive does not show it.
    is_possible: Flags
    batch: Numbers
    operation: Numbers
    ends: EndsAround
    # Since the commit before.
    log: LogBetween

    @property
    def committed_offsets(self) -> Numbers:
        return numbers(self.rows.column("committed_offset"))

    @property
    def previous(self) -> Numbers:
        return numbers(self.rows.column("previous_offset"))

    @property
    def is_back(self) -> Flags:
        return self.delta < 0

    @property
    def is_at_start(self) -> Flags:
        return self.ends.is_at_start(self.committed_offsets)

    @property
    def is_at_end(self) -> Flags:
        """Nobody steps back to the end of a log, unless from beyond it."""
        is_forward = ~self.is_back | (self.previous > self.ends.after.end)
        return self.ends.is_at_end(self.committed_offsets) & is_forward

    @property
    def is_cut(self) -> Flags:
        """The group followed a log that lost its end, or goes on in another topic of this name."""
        return (self.is_back & (self.log.is_cut | self.was_carried_over)) | (self.log.is_anew & ~self.is_first)

    def take(self, which: Numbers) -> "Moves":
        return Moves(
            rows=self.rows.take(pa.array(which)),
            place=self.place[which],
            states=self.states.take(which),
            is_plain=self.is_plain[which],
            is_first=self.is_first[which],
            delta=self.delta[which],
            is_bare=self.is_bare[which],
            was_bare=self.was_bare[which],
            is_in_series=self.is_in_series[which],
            was_carried_over=self.was_carried_over[which],
            last_commit_time=self.last_commit_time[which],
            is_possible=self.is_possible[which],
            batch=self.batch[which],
            operation=self.operation[which],
            ends=self.ends.take(which),
            log=self.log.take(which),
        )

    @staticmethod
    def together(parts: Sequence["Moves"]) -> "Moves":
        """Of several ranges of keys. `place` remains one in the rows of the range."""
        rows = pa.concat_tables([each.rows for each in parts])
        states = StatesAt(*joined([each.states for each in parts]))
        ends = EndsAround.together([each.ends for each in parts])
        log = LogBetween.together([each.log for each in parts])
        arrays = {name: np.concatenate([getattr(each, name) for each in parts]) for name in OF_MOVES}
        operation = operations(rows, arrays["is_plain"], arrays["batch"])
        return Moves(rows=rows, states=states, ends=ends, log=log, operation=operation, **arrays)

    def number_by_operation(self, flag: Flags) -> Numbers:
        """For each row, of how many rows of its operation this is true."""
        return np.bincount(self.operation, weights=flag, minlength=1).astype(np.int64)[self.operation]

    def is_true_of_all(self, flag: Flags) -> Flags:
        return np.asarray(self.number_by_operation(~flag) == 0, np.bool_)


def moves_of(history: PartitionHistory, since: int | None) -> Moves:
    """Of commits whose time is not before `since`."""
    table = history.table("offset_history")
    time, delta = numbers(table.column("from_time")), numbers(table.column("delta"))
    is_first = ~table.column("previous_offset").is_valid().to_numpy() & flags(table.column("is_from_exact"))
    is_due = (time <= history.as_of_time) & (time >= (NONE if since is None else since))
    place = np.flatnonzero(is_due & (((delta != NONE) & (delta != 0)) | is_first))
    whole = len(place) == table.num_rows
    group_ids = table.column("group_id") if whole else table.column("group_id").take(pa.array(place))
    offsets = numbers(table.column("from_record_offset"))[place]
    states = StatesAt.of(history, group_ids, offsets)
    kept = candidates(history, place, states, is_first[place], delta[place])
    kept = kept[~is_of_new_topic(table, place[kept])]
    place = place[kept]
    moves = make_moves(history, table, place, states.take(kept), is_first[place], delta[place])
    return moves.take(np.flatnonzero(~is_reading_on(moves)))


def candidates(history: PartitionHistory, place: Numbers, states: StatesAt, is_first: Flags, delta: Numbers) -> Numbers:
    """Which of the steps may be a move: a first pass over all commits, by what costs little."""
    table = history.table("offset_history")
    is_plain = is_value(table.column("via"), CommitVia.PLAIN)[place]
    bare = are_bare(table)
    starts = history.watermarks.rows.column("log_start_offset")
    is_below_a_start = numbers(table.column("previous_offset"))[place] < numbers(starts).max(initial=NONE)
    is_other_make = bare[place] & ~bare[np.maximum(place - 1, 0)]
    is_back = (delta < 0) & ~is_first
    is_away = states.has_had_members & bare[place]
    is_alone = ~states.has_had_members & ~is_first & (is_other_make | is_below_a_start)
    return np.flatnonzero(is_back | (states.is_empty & is_plain & (is_away | is_alone)))


def is_of_new_topic(table: pa.Table, place: Numbers) -> Flags:
    """The value before was of another topic of this name: that is a row of its own."""
    before = rows_before(table, place)
    ended = is_value(table.column("ended_by").take(pa.array(np.maximum(before, 0))), OffsetEnd.TOPIC_RECREATED)
    return np.asarray(ended & (before != NOWHERE), np.bool_)


def make_moves(
    history: PartitionHistory, table: pa.Table, place: Numbers, states: StatesAt, is_first: Flags, delta: Numbers
) -> Moves:
    rows = as_texts(table.take(pa.array(place)))
    before = rows_before(table, place)
    earlier = table.take(pa.array(np.maximum(before, 0)))
    was_bare = are_bare(earlier) & (before != NOWHERE)
    batch = batches(history.commits, rows)
    is_plain = is_value(rows.column("via"), CommitVia.PLAIN)
    bare = are_bare(rows)
    time = history.doubtful.without(numbers(rows.column("from_time")))
    known = table.select(["topic_id", "from_time"]).take(pa.array(before, mask=before == NOWHERE))
    known_time = history.doubtful.without(numbers(known.column("from_time")))
    return Moves(
        rows=rows,
        place=place,
        states=states,
        is_plain=is_plain,
        is_first=is_first,
        delta=np.where(is_first, 0, delta),
        is_bare=bare,
        was_bare=was_bare,
        is_in_series=bare & was_bare & (numbers(earlier.column("from_record_offset")) >= states.from_record_offset),
        was_carried_over=were_carried_over(table, before),
        last_commit_time=np.where(before == NOWHERE, NONE, numbers(earlier.column("last_commit_time"))),
        is_possible=possible_steps(history)[place],
        batch=batch,
        operation=operations(rows, is_plain, batch),
        ends=EndsAround.of(history.watermarks, rows, time),
        log=LogBetween.of(history.watermarks, known, rows, known_time, time),
    )


def were_carried_over(table: pa.Table, place: Numbers) -> Flags:
    """`place`: NOWHERE is none."""
    before = np.maximum(place - 1, 0)
    is_begun = (place > 0) & ~table.column("previous_offset").is_valid().to_numpy()[place]
    is_begun &= is_value(table.column("ended_by"), OffsetEnd.TOPIC_DELETED)[before]
    offsets = table.column("committed_offset").to_numpy()
    is_begun &= offsets[place] == offsets[before]
    some = np.flatnonzero(is_begun)
    here, there = (table.select([*KEY]).take(pa.array(each[some])) for each in (place, before))
    for name in KEY:
        is_begun[some] &= flags(pc.equal(as_texts(here).column(name), as_texts(there).column(name)))
    return np.asarray(is_begun, np.bool_)


def operations(rows: pa.Table, is_plain: Flags, batch: Numbers) -> Numbers:
    group = codes_in(pc.unique(rows.column("group_id")), rows.column("group_id"))
    return combine_columns(group, is_plain, batch, numbers(rows.column("commit_time")) * is_plain)


def is_reading_on(moves: Moves) -> Flags:
    """Steps forward that are no move. The second pass, by the ends of logs."""
    states, is_forward = moves.states, ~moves.is_back
    is_other_make = moves.is_bare & ~moves.was_bare & (moves.last_commit_time != NONE)
    is_past_gap = moves.is_at_start & (moves.previous < moves.ends.before.start) & ~moves.is_first
    is_alone = states.is_empty & ~states.has_had_members
    return np.asarray(is_forward & is_alone & ~is_other_make & ~is_past_gap, np.bool_)


def are_bare(rows: pa.Table) -> Flags:
    lengths = of_texts(rows.column("metadata"), pc.binary_length, 0)
    return np.asarray((lengths == 0) & ~rows.column("leader_epoch").is_valid().to_numpy(), np.bool_)


def rows_before(table: pa.Table, place: Numbers) -> Numbers:
    """Of each row the one of the same key that it ended; NOWHERE: none is known. The table is in the order of keys."""
    earlier = place - 1
    here, there = (
        as_texts(table.select([*KEY]).take(pa.array(place))),
        as_texts(table.select([*KEY]).take(pa.array(np.maximum(earlier, 0)))),
    )
    is_before = earlier >= 0
    for name in KEY:
        is_before &= flags(pc.equal(here.column(name), there.column(name)))
    to_record_offset = numbers(table.column("to_record_offset"))[np.maximum(earlier, 0)]
    is_before &= to_record_offset == numbers(table.column("from_record_offset"))[place]
    return np.where(is_before, earlier, NOWHERE)


def batches(commits: pa.Table, rows: pa.Table) -> Numbers:
    """First offset of the batch in which each commit was written; of one in a transaction the marker's own."""
    return batches_of(commits, numbers(rows.column("from_record_offset")))


def batches_of(commits: pa.Table, offsets: Numbers) -> Numbers:
    known = numbers(commits.column("record_offset"))
    places = np.searchsorted(known, offsets)
    is_known = places < len(known)
    is_known[is_known] = known[places[is_known]] == offsets[is_known]
    batch = np.array(offsets)
    batch[is_known] = numbers(commits.column("batch_first_offset"))[places[is_known]]
    return batch


def owners(history: PartitionHistory, moves: Moves) -> Numbers:
    """Of each move the row of ownership_intervals that holds then; NOWHERE: nobody owns the partition."""
    owned = history.table("ownership_intervals")
    owned_key, key = key_codes(KEY, key_columns(owned), key_columns(moves.rows))
    froms, tos = (numbers(owned.column(name)) for name in ("from_record_offset", "to_record_offset"))
    return holding_at(owned_key, froms, tos, key, numbers(moves.rows.column("from_record_offset")))


def same_owners(history: PartitionHistory, moves: Moves) -> Flags:
    """The member that owns the partition had it already at the commit before."""
    owner = owners(history, moves)
    since = at(numbers(history.table("ownership_intervals").column("from_time")), owner)
    return np.asarray((owner != NOWHERE) & (since <= moves.last_commit_time), np.bool_)


def key_columns(rows: pa.Table) -> pa.Table:
    """The columns of the key; tables differ in which of them may be NULL."""
    return pa.table({name: rows.column(name) for name in KEY})
