"""Finds steps back that are not resets: rewinds, and commits of a previous owner after a partition moved."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from schemas.words.lag import OddCommitKind
from udfs.arrays.nullable import NONE, Flags, Numbers, first_of, numbers
from udfs.arrays.texts import codes_of, encoded
from udfs.lag.as_of import NOWHERE, at, key_codes
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.findings.day_rows import Findings
from udfs.rules.findings.odd_owners import MAY_LINGER_US
from udfs.rules.offset_resets.moved_messages import messages_reread
from udfs.rules.offset_resets.offset_moves import KEY, Moves, key_columns, owners


def rewind_findings(history: PartitionHistory, moves: Moves) -> Iterator[Findings]:
    if not len(moves.place):
        return
    is_late = are_after_move(history, moves)
    for kind, which in ((OddCommitKind.REWIND, ~is_late), (OddCommitKind.AFTER_MOVE, is_late)):
        yield findings(history, kind, moves.take(np.flatnonzero(which)))


def findings(history: PartitionHistory, kind: OddCommitKind, moves: Moves) -> Findings:
    group_type = history.table("group_state_intervals").column("group_type").take(pa.array(moves.states.row))
    return Findings(
        kind=kind, rows=moves.rows, group_type=group_type, time=numbers(moves.rows.column("from_time")),
        offset=numbers(moves.rows.column("from_record_offset")), committed=moves.committed_offsets,
        compared=moves.previous, is_possible=moves.is_possible, num_messages=messages_reread(moves),
    )  # fmt: skip


def are_after_move(history: PartitionHistory, moves: Moves) -> Flags:
    """The partition moved a short time ago and its new owner has committed. This commit is lower than that, but not
    lower than the previous owner's: it is probably from the previous owner, which has not noticed the move yet."""
    owned = history.table("ownership_intervals")
    owner = owners(history, moves)
    since = at(numbers(owned.column("from_time")), owner)
    begin = at(numbers(owned.column("from_record_offset")), owner)
    table = history.table("offset_history")
    from_record_offset = numbers(table.column("from_record_offset"))
    is_soon = numbers(moves.rows.column("from_time")) - since <= MAY_LINGER_US
    has_before = moves.last_commit_time != NONE
    is_after_move = (owner != NOWHERE) & (since != NONE) & is_soon & has_before
    is_after_move[is_after_move] = has_moved(owned, owner[is_after_move])
    if not is_after_move.any():
        return np.asarray(is_after_move, np.bool_)
    committed = numbers(table.column("committed_offset"))
    begins = np.flatnonzero(begin_keys(history.offset_keys))
    for move in np.flatnonzero(is_after_move):
        place = moves.place[move]
        first = begins[np.searchsorted(begins, place, side="right") - 1]
        # The newest row of the key that began no later than the owner.
        before = np.flatnonzero(from_record_offset[first:place] <= begin[move])
        held = first + before[-1] if len(before) else first
        is_after_move[move] = (
            from_record_offset[held] < begin[move] and moves.committed_offsets[move] >= committed[held]
        )
    return np.asarray(is_after_move, np.bool_)


def has_moved(owned: pa.Table, owner: Numbers) -> Flags:
    """From another member, that owned the partition until shortly before."""
    rows = key_columns(owned)
    key, wanted = key_codes(KEY, rows, rows.take(pa.array(owner)))
    kept = np.flatnonzero(np.isin(key, wanted))
    order = kept[np.lexsort((numbers(owned.column("from_record_offset"))[kept], key[kept]))]
    members = owned.column("member_id").to_pylist()
    from_time, to_time = (numbers(owned.column(name)) for name in ("from_time", "to_time"))
    place = {int(row): number for number, row in enumerate(order)}
    has_moved_row = []
    for row in owner.tolist():
        earlier = int(order[place[row] - 1]) if place[row] else row
        is_other = key[earlier] == key[row] and members[earlier] != members[row]
        has_moved_row.append(bool(is_other and to_time[earlier] >= from_time[row] - MAY_LINGER_US))
    return np.array(has_moved_row, np.bool_)


def begin_keys(table: pa.Table) -> Flags:
    """Whether a row is the first of its key; the table is in the order of keys. Rows without a topic's name may be of
    several."""
    group, topic = (codes_of(encoded(table.column(name))) for name in ("group_id", "topic"))
    is_first = first_of(group) | first_of(topic) | first_of(numbers(table.column("partition")))
    return np.asarray(is_first | (topic == NOWHERE), np.bool_)
