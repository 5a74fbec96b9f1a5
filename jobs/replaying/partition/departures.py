"""How members left: for members whose records do not show it, times do: how long each had been a member, and when it
was last active, by its commits."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.partition.row_keys import keys, places_of, with_column
from schemas.words.history import Confidence, LeaveKind, OwnershipEnd
from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, numbers
from udfs.groups.history.departures import are_session_timeouts, are_too_short
from udfs.groups.history.unclear_details import HowLeft
from udfs.log.gaps import Gaps

MEMBERSHIP = "membership_intervals"
KEY = ("group_id", "member_id", "to_record_offset")


@dataclass(frozen=True)
class LeaveKinds:
    """By member, or by move of the owner before it, what times show: at most one of these."""

    timed_out: Flags
    left: Flags

    @classmethod
    def none(cls, size: int) -> "LeaveKinds":
        return cls(np.zeros(size, np.bool_), np.zeros(size, np.bool_))


@dataclass
class Departures:
    """`gone`: members, by `SCHEMA` of `udfs.groups.history.departures`. `stays`: which rows of ownership_intervals
    ended with them. `of_stay`: for each of these rows, the position of its member in `gone`."""

    gone: pa.Table
    owners: pa.Table
    stays: Positions
    of_stay: Positions

    @classmethod
    def of(cls, gone: pa.Table, owners: pa.Table) -> "Departures":
        is_ended = pc.equal(owners.column("ended_by"), OwnershipEnd.MEMBER_LEFT).fill_null(False)
        ended = np.flatnonzero(is_ended.to_numpy())
        places = places_of(keys(owners.take(pa.array(ended)), KEY), keys(gone, KEY))
        return cls(gone, owners, ended[places.is_valid().to_numpy(False)], places.drop_null().to_numpy())

    def kinds(self, last_commits: Numbers, newest_offsets: Numbers, gaps: Gaps) -> LeaveKinds:
        """The answers are about `owners`, each at its end."""
        since, until = (numbers(self.gone.column(name)) for name in ("from_time", "to_time"))
        last = self.last_heard(last_commits[self.stays], newest_offsets[self.stays], gaps)
        has_commit = (last != NONE) & (until != NONE)
        silent_ms = np.where(has_commit, until - last, 0) // 1000
        is_brief = (since != NONE) & (until != NONE) & are_too_short((until - since) // 1000, self.gone)
        left = is_brief | has_commit & are_too_short(silent_ms, self.gone)
        return LeaveKinds(has_commit & are_session_timeouts(silent_ms, self.gone) & ~left, left)

    def of_moves(self, of: LeaveKinds, ends: pa.Table, group_ids: pa.ChunkedArray) -> LeaveKinds:
        """How the owners left whose reading ended. `ends`: rows of reading_ends, each of a group."""
        by_move = LeaveKinds.none(ends.num_rows)
        rows = np.flatnonzero(ends.column("silent_offset").is_valid().to_numpy())
        if len(rows) and self.gone.num_rows:
            some = pa.table([group_ids, ends.column("silent_id"), ends.column("silent_offset")], list(KEY))
            places = places_of(keys(some.take(pa.array(rows)), KEY), keys(self.gone, KEY)).fill_null(-1).to_numpy()
            place, rows = places[places >= 0], rows[places >= 0]
            by_move.timed_out[rows], by_move.left[rows] = of.timed_out[place], of.left[place]
        return by_move

    def with_leave_kinds(self, members: pa.Table, of: LeaveKinds) -> pa.Table:
        """Closed rows of membership_intervals."""
        unclear = pc.equal(members.column("leave_kind"), LeaveKind.LEFT_OR_TIMED_OUT).fill_null(False)
        rows = np.flatnonzero(unclear.to_numpy())
        some = members.take(pa.array(rows))
        places = places_of(keys(some, KEY), keys(self.gone, KEY)).fill_null(-1).to_numpy()
        place, rows = places[places >= 0], rows[places >= 0]
        certain, likely = Confidence.CERTAIN, Confidence.LIKELY
        for are, kind, confidence in (
            (of.timed_out, LeaveKind.SESSION_TIMEOUT_LIKELY, likely), (of.left, LeaveKind.LEFT, certain)
        ):  # fmt: skip
            chosen = np.zeros(members.num_rows, np.bool_)
            chosen[rows] = are[place]
            words = {"leave_kind": kind, "ended_by": kind, "confidence": confidence}
            for name, word in words.items():
                members = with_column(members, name, pc.if_else(pa.array(chosen), word.value, members.column(name)))
        return members

    def by_group(self, of: LeaveKinds) -> Mapping[str, HowLeft]:
        """Members about which times show it, by id and record."""
        by_group: dict[str, dict[tuple[str, int], str]] = {}
        for are, kind in ((of.timed_out, LeaveKind.SESSION_TIMEOUT_LIKELY), (of.left, LeaveKind.LEFT)):
            shown = self.gone.filter(pa.array(are))
            for group_id, *key in zip(*(shown.column(name).to_pylist() for name in KEY), strict=True):
                by_group.setdefault(group_id, {})[key[0], key[1]] = kind.value
        return by_group

    def groups(self) -> set[str]:
        """Of which members left."""
        return set(self.gone.column("group_id").unique().to_pylist())

    def last_heard(self, last_commits: Numbers, newest_offsets: Numbers, gaps: Gaps) -> Numbers:
        """By member, the time of its last commit; NONE: it made none, or later commits may be missing in the log."""
        stays = self.owners.take(pa.array(self.stays))
        last = np.full(self.gone.num_rows, NONE)
        begun = numbers(stays.column("from_time"))
        # An earlier commit belongs to the previous owner.
        is_its_own = (begun != NONE) & (last_commits >= begun)
        np.maximum.at(last, self.of_stay[is_its_own], last_commits[is_its_own])
        is_whole = gaps.are_complete(newest_offsets, numbers(stays.column("to_record_offset")))
        last[self.of_stay[~is_whole]] = NONE
        return last
