"""What the rules of our own verdict read about each partition of a group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers, known_only
from udfs.rules.facts.commit_cadence import Cadences
from udfs.rules.verdicts.absences import Absences
from udfs.rules.verdicts.group_facts import NEVER
from udfs.rules.verdicts.own_facts import OwnFacts
from udfs.rules.verdicts.own_verdict import OwnAnswer, Rewind, Standing
from udfs.rules.verdicts.silences import Silences, names_of


@dataclass
class OfAllKeys:
    """What keys of other ranges say about a group: how often it commits, when it did so last, and whether that was
    within the window."""

    cadences: Cadences = field(default_factory=Cadences)
    silences: Silences = field(default_factory=Silences)
    absences: Absences = field(default_factory=Absences)
    have_committed: set[str] = field(default_factory=set)

    def add(self, facts: OwnFacts) -> None:
        group_ids = facts.groups.groups.take(pa.array(facts.group))
        self.cadences.add(group_ids, facts.own_cadences)
        self.silences.add(facts)
        self.absences.add(facts)
        self.have_committed |= facts.have_committed

    def absences_of(self, facts: OwnFacts) -> list[OwnAnswer | None]:
        """One for each of `facts.groups`: what it means that the group has no members, where that decides."""
        empty = facts.groups.num_members == 0
        return [
            self.absences.answer(name, facts, self.cadences) if is_empty else None
            for name, is_empty in zip(facts.groups.groups.to_pylist(), empty.tolist(), strict=True)
        ]


def standings(
    facts: OwnFacts,
    of_all: OfAllKeys,
    absences: Sequence[OwnAnswer | None],
    back: Mapping[int, Rewind],
    is_asked: Flags,
) -> Iterator[Standing]:
    """One for each key that is asked about, in their order. `absences`: of `of_all.absences_of`."""
    has_commit, has_owner = facts.live >= 0, facts.owner >= 0
    is_late = has_commit & facts.ends.are_known & (facts.lag_available > facts.rules.allowed_lag)
    cadences = of_all.cadences.or_of_others(facts.own_cadences, facts.groups.groups.to_pylist(), facts.group)
    columns = (
        columns_of(facts)
        | silence_columns(facts, of_all)
        | {
            "absence": [absences[group] for group in facts.group.tolist()],
            "is_group_idle": facts.is_group_idle(of_all.have_committed).tolist(),
            "cadence": known_only(cadences, is_late | (has_owner & ~has_commit)),
            "num_repeats": np.where(is_late, num_repeats(facts), 0).tolist(),
        }
    )
    now, log_until, early_end = facts.history.as_of_time, facts.log_until, facts.history.early_end
    of_asked = zip(*(compress(values, is_asked) for values in columns.values()), strict=True)
    for key, values in zip(np.flatnonzero(is_asked).tolist(), of_asked, strict=True):
        about = dict(zip(columns, values, strict=True))
        yield Standing(now=now, log_until=log_until, early_end=early_end, rewind=back.get(key), **about)


def columns_of(facts: OwnFacts) -> dict[str, list[Any]]:
    ends, has_commit, has_owner = facts.ends, facts.live >= 0, facts.owner >= 0
    beyond = facts.beyond
    return {
        "committed": known_only(facts.committed, has_commit),
        "held_since": known_only(facts.held_since, has_commit),
        "last_commit": known_only(facts.last_commit, has_commit),
        "start_offset": known_only(ends.newest_start, ends.are_known),
        "end_offset": known_only(ends.newest, ends.are_known),
        "end_time": known_only(ends.newest_time, ends.are_known),
        "is_unsubscribed": facts.is_unsubscribed.tolist(),
        "is_recreated": facts.is_recreated.tolist(),
        "is_in_hole": facts.is_in_hole.tolist(),
        "is_beyond_end": facts.is_beyond_end.tolist(),
        "is_clock_doubtful": facts.is_clock_doubtful.tolist(),
        "is_now_doubtful": facts.is_now_doubtful.tolist(),
        "owned_since": known_only(facts.owned_since, has_owner),
        "unread_since": known_only(beyond.time, has_commit & beyond.is_there),
        "time_lag": facts.time_lags(),
        "written_since_owned": known_only(facts.written_since_owned, has_owner),
        "written_since_commit": known_only(facts.written_since_commit, has_commit),
        "written_since_held": known_only(ends.written_since(facts.held_since, has_commit), has_commit),
    }


def silence_columns(facts: OwnFacts, of_all: OfAllKeys) -> dict[str, list[Any]]:
    """Of a group and its members the usual time between commits is that of the group: a member has few partitions. A
    group that has never committed anything has not fallen silent: it may keep its offsets elsewhere."""
    rules, (groups, members) = facts.rules, names_of(facts)
    unknown = np.full(facts.keys.size, NONE)
    usual = of_all.cadences.or_of_others(unknown, facts.groups.groups.to_pylist(), facts.group)
    longest = np.where(
        usual == NONE, rules.window, np.minimum(usual, NEVER // rules.silence_factor) * rules.silence_factor
    )
    patience, heard_until = np.maximum(longest, rules.least_time_lag), min(facts.log_until, facts.history.as_of_time)
    whole_group, whole_member = of_all.silences.groups, of_all.silences.members
    of_group = whole_group.last_of(groups)
    since = whole_member.silent_since(members, heard_until, patience)
    if_whole = whole_group.silent_since(groups, facts.history.as_of_time, patience)
    has_reader = facts.groups.num_members[facts.group] > 0
    columns = {
        "silent_if_whole_since": np.where(has_reader, if_whole, NONE),
        "group_silent_since": whole_group.silent_since(groups, heard_until, patience),
        "member_silent_since": np.where(of_group == NONE, NONE, since),
        "others_until": np.where(facts.owner >= 0, whole_member.last_of(members), of_group),
    }
    return {name: known_only(values, values != NONE) for name, values in columns.items()}


def num_repeats(facts: OwnFacts) -> Numbers:
    """Of each key, how often the value that holds was committed."""
    commits = facts.commits
    is_repeat = commits.is_effective & (commits.record_offset >= facts.from_record_offset[commits.key])
    return np.bincount(commits.key[is_repeat], minlength=facts.keys.size)
