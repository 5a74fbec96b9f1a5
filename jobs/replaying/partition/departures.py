"""How members left: for members whose records do not show it, commits show when each was last active."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.partition.row_keys import keys, places_of, with_column
from schemas.words.history import Confidence, LeaveKind, OwnershipEnd
from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, numbers
from udfs.groups.history.departures import are_session_timeouts
from udfs.log.gaps import Gaps

MEMBERSHIP = "membership_intervals"
KEY = ("group_id", "member_id", "to_offset")


@dataclass
class Departures:
    """`gone`: members, by `SCHEMA` of `udfs.groups.history.departures`. `stays`: rows of ownership_intervals that ended
    with them.
    `of_stay`: for each of these rows, the position of its member in `gone`."""

    gone: pa.Table
    stays: pa.Table
    of_stay: Positions

    @classmethod
    def of(cls, gone: pa.Table, owners: pa.Table) -> "Departures":
        ended = owners.filter(pc.equal(owners.column("ended_by"), OwnershipEnd.MEMBER_LEFT))
        places = places_of(keys(ended, KEY), keys(gone, KEY))
        return cls(gone, ended.filter(places.is_valid()), places.drop_null().to_numpy())

    def timed_out(self, last_commits: Numbers, newest_offsets: Numbers, gaps: Gaps) -> Flags:
        """Whether each member timed out. The answers are about `stays`, each at its end."""
        last, until = self.last_heard(last_commits, newest_offsets, gaps), numbers(self.gone.column("to_time"))
        are_known = (last != NONE) & (until != NONE)
        are_silent = are_session_timeouts(np.where(are_known, until - last, 0) // 1000, self.gone)
        return np.asarray(are_known & are_silent)

    def are_of(self, moves: pa.Table, silent_offsets: pa.ChunkedArray, timed_out: Flags) -> Flags:
        """Whether the previous owners in these moves are among those that timed out."""
        are_among = np.zeros(moves.num_rows, np.bool_)
        rows = np.flatnonzero(silent_offsets.is_valid().to_numpy())
        if len(rows) and self.gone.num_rows:
            some = moves.select(["group_id", "from_member_id"]).append_column("to_offset", silent_offsets)
            some = some.take(pa.array(rows)).rename_columns(list(KEY))
            places = places_of(keys(some, KEY), keys(self.gone, KEY)).fill_null(-1).to_numpy()
            are_among[rows] = (places >= 0) & timed_out[places]
        return are_among

    def with_leave_kinds(self, members: pa.Table, are_silent: Flags) -> pa.Table:
        """Closed rows of membership_intervals."""
        unclear = pc.equal(members.column("leave_kind"), LeaveKind.LEFT_OR_TIMED_OUT).fill_null(False)
        rows = np.flatnonzero(unclear.to_numpy())
        some = members.take(pa.array(rows))
        places = places_of(keys(some, KEY), keys(self.gone, KEY)).fill_null(-1).to_numpy()
        place, rows = places[places >= 0], rows[places >= 0]
        timed_out = np.zeros(members.num_rows, np.bool_)
        timed_out[rows] = are_silent[place]
        words = {"leave_kind": LeaveKind.SESSION_TIMEOUT_LIKELY, "ended_by": LeaveKind.SESSION_TIMEOUT_LIKELY,
                 "confidence": Confidence.LIKELY}  # fmt: skip
        for name, word in words.items():
            members = with_column(members, name, pc.if_else(pa.array(timed_out), word.value, members.column(name)))
        return members

    def by_group(self, are_silent: Flags) -> dict[str, dict[tuple[str, int], bool]]:
        """Whether each timed out, by id and record."""
        by_group: dict[str, dict[tuple[str, int], bool]] = {}
        columns = (self.gone.column(name).to_pylist() for name in KEY)
        for group_id, member_id, offset, is_silent in zip(*columns, are_silent.tolist(), strict=True):
            by_group.setdefault(group_id, {})[member_id, offset] = is_silent
        return by_group

    def last_heard(self, last_commits: Numbers, newest_offsets: Numbers, gaps: Gaps) -> Numbers:
        """By member, the time of its last commit; NONE: it made none, or later commits may be missing in the log."""
        last = np.full(self.gone.num_rows, NONE)
        begun = numbers(self.stays.column("from_time"))
        # An earlier commit belongs to the previous owner.
        is_its_own = (begun != NONE) & (last_commits >= begun)
        np.maximum.at(last, self.of_stay[is_its_own], last_commits[is_its_own])
        is_whole = gaps.are_complete(newest_offsets, numbers(self.stays.column("to_offset")))
        last[self.of_stay[~is_whole]] = NONE
        return last
