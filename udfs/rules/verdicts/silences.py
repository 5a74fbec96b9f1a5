"""Since when a whole group is silent, or a member of it.

A consumer that dies leaves all its partitions at once. Each of them for itself would count as silent a little earlier
or later than the others, so silence is asked of the group first, then of the member, and of a partition only if its
member went on with others."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.lag.as_of import NOWHERE, at
from udfs.rules.verdicts.group_facts import NEVER
from udfs.rules.verdicts.own_facts import OwnFacts

# No id of a group or of a member has it.
BETWEEN_NAMES = "\0"


@dataclass(frozen=True)
class Whole:
    """Groups, or members of groups. `last`: the newest commit of any partition; `begun`: since when a member owns
    anything; NONE: never. `waiting`: since when messages certainly wait; NEVER: none do."""

    names: pa.Array
    last: Numbers
    begun: Numbers
    waiting: Numbers

    def last_of(self, names: pa.Array) -> Numbers:
        return at(self.last, self.places(names), NONE)

    def silent_since(self, names: pa.Array, heard_until: int, patience: Numbers) -> Numbers:
        """Of the one with each name; NONE: it is not silent for longer than `patience`, or nothing waits."""
        place = self.places(names)
        since, waiting = at(np.maximum(self.last, self.begun), place, NONE), at(self.waiting, place, NEVER)
        is_known = (since != NONE) & (waiting != NEVER)
        silence = heard_until - np.where(is_known, np.maximum(since, waiting), heard_until)
        return np.where(is_known & (silence > patience), since, NONE)

    def places(self, names: pa.Array) -> Numbers:
        return np.asarray(pc.fill_null(pc.index_in(names, value_set=self.names), NOWHERE).to_numpy(), np.int64)


@dataclass
class Silences:
    """What the keys of all ranges say of their groups and members together."""

    ranges: list[tuple[pa.Array, pa.Array, Numbers, Numbers, Numbers, Flags]] = field(default_factory=list)

    def add(self, facts: OwnFacts) -> None:
        waiting = np.where(facts.is_clock_doubtful, NONE, waiting_since(facts))
        self.ranges.append((*names_of(facts), last_commits(facts), facts.owned_since, waiting, facts.live >= 0))

    @cached_property
    def groups(self) -> Whole:
        return self.wholes(0, has_begun=False)

    @cached_property
    def members(self) -> Whole:
        return self.wholes(1, has_begun=True)

    def wholes(self, named_by: int, *, has_begun: bool) -> Whole:
        coded = pa.concat_arrays([each[named_by] for each in self.ranges]).dictionary_encode()
        last, owned, waiting, is_held = (np.concatenate([each[place] for each in self.ranges]) for place in range(2, 6))
        rows = np.flatnonzero(coded.is_valid().to_numpy(zero_copy_only=False))
        code = coded.indices.drop_null().to_numpy().astype(np.int64)
        newest, first = (np.full(len(coded.dictionary), filler) for filler in (NONE, NEVER))
        begun = first.copy()
        np.maximum.at(newest, code, last[rows])
        np.minimum.at(first, code, waiting[rows])
        np.minimum.at(begun, code, owned[rows])
        # Commits of a group that was deleted are none of the one that has its name now.
        holds = np.bincount(code[is_held[rows]], minlength=len(newest)) > 0
        # Of what has a key whose times cannot be compared, nothing is said.
        return Whole(
            coded.dictionary, np.where(holds, newest, NONE), begun if has_begun else np.full_like(begun, NONE),
            np.where(first == NONE, NEVER, first),
        )  # fmt: skip


def names_of(facts: OwnFacts) -> tuple[pa.Array, pa.Array]:
    """The group of each key, and the member that owns it; NULL: none does."""
    group = facts.groups.groups.cast(pa.string()).take(pa.array(facts.group))
    owner = facts.keys.owned.column("member_id").cast(pa.string()).take(pa.array(facts.owner, mask=facts.owner < 0))
    owner = owner.combine_chunks() if isinstance(owner, pa.ChunkedArray) else owner
    return group, pc.binary_join_element_wise(group, owner, BETWEEN_NAMES)


def last_commits(facts: OwnFacts) -> Numbers:
    """Of an offset that holds no more too: its commit was a sign of life."""
    commits, newest = facts.commits, np.full(facts.keys.size, NONE)
    is_past = commits.is_effective & (commits.commit_time <= facts.history.as_of_time)
    np.maximum.at(newest, commits.key[is_past], commits.commit_time[is_past])
    return np.asarray(np.maximum(newest, np.where(facts.live >= 0, facts.last_commit, NONE)))


def waiting_since(facts: OwnFacts) -> Numbers:
    """Only messages count that were certainly written after the commit, or since a member owns the partition."""
    is_committed = (facts.live >= 0) & (facts.committed >= 0) & facts.beyond.is_there
    is_committed &= (facts.written_since_commit > 0) & (facts.lag_available > facts.rules.allowed_lag)
    is_begun = (facts.live < 0) & (facts.owner >= 0) & ~facts.is_in_hole & (facts.written_since_owned > 0)
    waiting = np.where(is_committed, facts.beyond.time, np.where(is_begun, facts.owned_since, NEVER))
    return np.asarray(np.where(facts.is_unsubscribed | facts.is_recreated, NEVER, waiting))
