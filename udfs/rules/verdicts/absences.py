"""Whether a group without members is down or retired.

Time alone says neither: a group that nobody misses was given up long ago, and one that died at night is missed in the
morning. The log says how its last members went, how regularly it ran before, and whether it ever was away so long."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import TIMED_OUT, StateEnd
from schemas.words.lag import LagVerdict, OwnRule
from schemas.words.records import GroupType
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.lag.as_of import at
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.watermarks import Watermarks
from udfs.rules.facts.commit_cadence import LEAST_COMMITS, Cadences
from udfs.rules.facts.log_reach import known_until
from udfs.rules.facts.subscribed_topics import of_groups
from udfs.rules.verdicts.own_facts import OwnFacts
from udfs.rules.verdicts.own_verdict import OwnAnswer, OwnRules, clock_went_back
from udfs.sentences.counts import counted
from udfs.sentences.durations import SECOND, clock_time, in_words
from udfs.sentences.name_lists import list_names, member_name

DAY = 86_400 * SECOND
# Members of one program go within about a minute.
TOGETHER = 60 * SECOND
MOST_NAMES = 3
# A group that came back so often comes and goes by nature, and so many absences show how long it may be away.
LEAST_STAYS, NEWEST_ABSENCES = 3, 10


class Stay(NamedTuple):
    """A time in which a group was in use."""

    begin: int
    end: int


@dataclass(frozen=True)
class Life:
    """Of a group that has no members now, since it was made or made anew. `stays`: with members. `is_seen`: whether
    the log shows how it lost its last ones. `has_members`: by nature; a program that only commits never had any.
    `left`: who went last."""

    begin: int
    stays: Sequence[Stay]
    is_seen: bool
    has_members: bool
    left: Sequence[Mapping[str, Any]] = ()
    # The record that took its last member.
    emptied_by: int = NONE

    @property
    def went_away(self) -> int:
        return self.stays[-1].end if self.stays else NONE


@dataclass
class Waiting:
    """What waits in the partitions of a group, of all ranges of keys. `written`: messages that were certainly written
    after the group read last."""

    num_partitions: int = 0
    written: int = 0
    last_commit: int = NONE
    snapshot_time: int = NONE

    def add(self, written: int, last_commit: int, snapshot_time: int) -> None:
        self.num_partitions += written > 0
        self.written += written
        self.last_commit = max(self.last_commit, last_commit)
        self.snapshot_time = max(self.snapshot_time, snapshot_time)


@dataclass
class Absences:
    """What the keys of all ranges say of groups without members. `commits`: their times in whole seconds."""

    lives: dict[str, Life] = field(default_factory=dict)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    commits: dict[str, list[Numbers]] = field(default_factory=dict)
    answers: dict[str, OwnAnswer | None] = field(default_factory=dict)

    def add(self, facts: OwnFacts) -> None:
        is_empty = facts.groups.num_members == 0
        if not is_empty.any():
            return
        names = facts.groups.groups.to_pylist()
        for group, times in commit_times(facts, is_empty):
            self.commits.setdefault(names[group], []).append(times)
        is_waiting = are_waiting(facts) & is_empty[facts.group]
        asked = [names[group] for group in np.unique(facts.group[is_waiting]).tolist()]
        self.lives |= lives_of(facts.history, [each for each in asked if each not in self.lives])
        went_away = np.array([self.lives[name].went_away if name in self.lives else NONE for name in names])
        of_key = went_away[facts.group]
        since = np.where(of_key == NONE, facts.last_commit, np.minimum(facts.last_commit, of_key))
        written = facts.ends.written_since(since, is_waiting & was_read(facts, of_key))
        rows = np.flatnonzero(is_waiting)
        columns = (np.maximum(written, 0), facts.last_commit, facts.ends.newest_time)
        for group, *values in zip(*(each[rows].tolist() for each in (facts.group, *columns)), strict=True):
            self.waiting.setdefault(names[group], Waiting()).add(*values)

    def answer(self, group_id: str, facts: OwnFacts, cadences: Cadences) -> OwnAnswer | None:
        """None: its members, or its usual pause, decide."""
        if group_id not in self.lives:
            return None
        if group_id not in self.answers:
            times = np.unique(np.concatenate([*self.commits.get(group_id, []), np.empty(0, np.int64)]))
            absence = Absence(
                self.lives[group_id], self.waiting[group_id], times, cadences.by_group.get(group_id), facts.rules,
                min(facts.log_until, facts.history.as_of_time), facts.history,
            )  # fmt: skip
            self.answers[group_id] = absence.answer()
        return self.answers[group_id]


def are_waiting(facts: OwnFacts) -> Flags:
    """Keys with messages that certainly nobody has read."""
    is_known = (facts.live >= 0) & facts.ends.are_known & (facts.committed >= 0)
    is_known &= ~(facts.is_recreated | facts.is_in_hole | facts.is_beyond_end)
    return np.asarray(is_known & (facts.lag_available > facts.rules.allowed_lag))


def was_read(facts: OwnFacts, went_away: Numbers) -> Flags:
    """What was committed for the first time after the group went away was never its own to read."""
    before = at(numbers(facts.keys.offsets.column("previous_offset")), facts.live, NONE)
    return np.asarray((went_away == NONE) | (facts.last_commit <= went_away) | (before != NONE))


def commit_times(facts: OwnFacts, is_empty: Flags) -> Iterable[tuple[int, Numbers]]:
    """Of each group without members."""
    commits = facts.commits
    group = facts.group[commits.key]
    is_asked = commits.is_effective & is_empty[group] & (commits.commit_time <= facts.history.as_of_time)
    # Both in one number: seconds have 32 bits until 2106.
    both = np.unique(group[is_asked] << 32 | np.maximum(commits.commit_time[is_asked], 0) // SECOND)
    for each in np.split(both, np.flatnonzero(np.diff(both >> 32)) + 1) if len(both) else ():
        yield int(each[0] >> 32), (each & 0xFFFFFFFF) * SECOND


def lives_of(history: PartitionHistory, groups: Sequence[str]) -> dict[str, Life]:
    if not groups:
        return {}
    wanted, as_of = pa.array(groups, pa.string()), history.as_of_time
    states = of_groups(history.table("group_state_intervals"), wanted)
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in in_micros(states, ("from_time", "to_time")).sort_by("from_record_offset").to_pylist():
        if row["from_time"] is None or row["from_time"] <= as_of:
            rows.setdefault(row["group_id"], []).append(row)
    left = last_leaves(history.table("membership_intervals"), wanted, as_of)
    return {group: life_of(of_group, left.get(group, ())) for group, of_group in rows.items()}


def in_micros(rows: pa.Table, names: Iterable[str]) -> pa.Table:
    for name in names:
        rows = rows.set_column(rows.column_names.index(name), name, rows[name].cast(pa.int64()))
    return rows


def last_leaves(members: pa.Table, groups: pa.Array, as_of: int) -> dict[str, list[Mapping[str, Any]]]:
    """Of each group those who went with the last one, or up to a minute before."""
    ended = numbers(members["to_time"])
    is_over = pa.array((ended != NONE) & (ended <= as_of))
    members = of_groups(members.filter(is_over), groups)
    newest: dict[str, int] = {}
    rows = in_micros(members, ["to_time"]).to_pylist()
    for row in rows:
        newest[row["group_id"]] = max(newest.get(row["group_id"], NONE), row["to_time"])
    left: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["to_time"] > newest[row["group_id"]] - TOGETHER:
            left.setdefault(row["group_id"], []).append(row)
    return left


def life_of(rows: Sequence[Mapping[str, Any]], left: Sequence[Mapping[str, Any]]) -> Life:
    """`rows`: of its states, in the order of the log."""
    made_anew = [place for place, row in enumerate(rows[:-1], 1) if row["ended_by"] == StateEnd.DELETED]
    rows = rows[made_anew[-1] if made_anew else 0 :]
    stays: list[Stay] = []
    begun, is_seen, emptied_by = None, False, NONE
    for row in rows:
        if row["num_members"]:
            begun, is_seen = (row["from_time"] if begun is None else begun), True
        elif begun is not None:
            stays.append(Stay(begun, row["from_time"]))
            begun, emptied_by = None, row["from_record_offset"]
        if row["num_members"] is None or row["ended_by"] == StateEnd.COVERAGE_HOLE:
            stays += [] if begun is None else [Stay(begun, row["to_time"])]
            begun, is_seen = None, False
    has_members = any(row["generation_or_epoch"] is not None for row in rows)
    begin = rows[0]["from_time"]
    return Life(NONE if begin is None else begin, stays, is_seen, has_members, left, emptied_by)


@dataclass(frozen=True)
class Absence:
    """`commits`: when any partition was committed, in whole seconds. `cadence`: the usual time between commits; None:
    not known. `now`: up to when the log is known."""

    life: Life
    waiting: Waiting
    commits: Numbers
    cadence: int | None
    rules: OwnRules
    now: int
    history: PartitionHistory

    @cached_property
    def stays(self) -> list[Stay]:
        """With members, or with commits at a rhythm: one commit alone, such as an admin's, does not bring it back."""
        merged: list[Stay] = []
        for stay in sorted([*self.life.stays, *self.commit_stays()]):
            if merged and stay.begin <= merged[-1].end:
                merged[-1] = Stay(merged[-1].begin, max(stay.end, merged[-1].end))
            else:
                merged.append(stay)
        return merged

    def commit_stays(self) -> Iterable[Stay]:
        """Of a group with members only what comes after them."""
        commits = self.commits[self.commits > self.life.went_away]
        for times in np.split(commits, np.flatnonzero(np.diff(commits) > self.patience) + 1):
            if len(times) < LEAST_COMMITS:
                continue
            span, usual = int(times[-1] - times[0]), int(np.median(np.diff(times)))
            if span >= max(self.rules.silence_factor * usual, self.rules.least_time_lag):
                yield Stay(int(times[0]), int(times[-1]))

    @property
    def patience(self) -> int:
        """How long nothing may come of a group that runs."""
        usual = self.rules.window if self.cadence is None else self.rules.silence_factor * self.cadence
        return max(usual, self.rules.least_time_lag)

    @property
    def went_away(self) -> int:
        return self.stays[-1].end

    def answer(self) -> OwnAnswer | None:
        if self.life.has_members and not self.life.is_seen and self.last_is_with_members:
            return self.unseen() if self.waiting.written else None
        if not self.stays:
            return self.retired("it never committed at a rhythm") if self.is_over(self.rules.window) else None
        if self.why is None:
            is_short = not self.life.has_members and not self.is_over(self.rules.window)
            return None if self.is_pause or is_short else self.retired(self.how_it_went())
        if is_doubtful_since(self.history, self.went_away):
            return clock_went_back()
        return self.down(self.why) if self.waiting.written else None

    @cached_property
    def why(self) -> str | None:
        """Why it is missed. None: it may be at its usual pause, or nobody misses it."""
        return self.timed_out or (None if self.is_pause else self.was_in_use()) or self.is_away_too_long()

    @property
    def is_pause(self) -> bool:
        return self.now - self.went_away <= self.patience

    @property
    def last_is_with_members(self) -> bool:
        """Not in commits alone."""
        return not self.stays or not self.life.stays or self.went_away <= self.life.went_away

    def is_over(self, limit: int) -> bool:
        return self.now - max(self.waiting.last_commit, self.life.went_away) > limit

    @property
    def timed_out(self) -> str | None:
        """Only if nothing shows that it runs on without members."""
        return timed_out(self.life) if self.last_is_with_members else None

    def was_in_use(self) -> str | None:
        begin = max(self.life.begin, self.went_away - self.rules.in_use_days * DAY)
        used = sum(max(0, stay.end - max(stay.begin, begin)) for stay in self.stays)
        span = self.went_away - begin
        if span <= 0 or used <= self.rules.in_use_s * SECOND or used < self.rules.in_use_share * span:
            return None
        return f"{self.how_it_went()}; it was in use for {used / span:.0%} of the {in_words(span)} before"

    def is_away_too_long(self) -> str | None:
        if len(self.stays) < LEAST_STAYS:
            return None
        absences = [after.begin - before.end for before, after in zip(self.stays, self.stays[1:], strict=False)]
        longest, away = max(absences[-NEWEST_ABSENCES:]), self.now - self.went_away
        if away <= max(self.rules.absence_factor * longest, self.rules.least_time_lag):
            return None
        return (
            f"{self.how_it_went()}, {in_words(away)} ago; it came and went {len(self.stays):,} times, and was away for "
            f"{in_words(longest)} at most"
        )

    def how_it_went(self) -> str:
        if self.life.stays and self.last_is_with_members:
            return f"its last member left at {clock_time(self.went_away)}"
        return f"its regular commits ended at {clock_time(self.went_away)}"

    def down(self, why: str) -> OwnAnswer:
        meanwhile = ""
        if self.waiting.last_commit > self.went_away:
            when = clock_time(self.waiting.last_commit)
            meanwhile = f"; the commit at {when}, such as an admin makes, does not bring it back"
        reason = f"{why}; {self.written_text()}{meanwhile}{self.known_until()}"
        return OwnAnswer(LagVerdict.STOP, OwnRule.GROUP_DOWN, reason, self.went_away)

    def unseen(self) -> OwnAnswer:
        reason = "the group has no members, and the records that show how it lost them are missing"
        reason = f"{reason}; {self.written_text()}{self.known_until()}"
        return OwnAnswer(LagVerdict.UNKNOWN, OwnRule.WENT_AWAY_UNSEEN, reason)

    def retired(self, why: str) -> OwnAnswer | None:
        # A group may have come back after the end of the data.
        if self.history.as_of_time - self.now > self.patience:
            return None
        return OwnAnswer(LagVerdict.OK, OwnRule.RETIRED, f"the group is not in use: {why}, and nobody seems to miss it")

    def written_text(self) -> str:
        return written_since(self.waiting.written, counted(self.waiting.num_partitions, "partition"))

    def known_until(self) -> str:
        """What is down stays so until something shows a commit."""
        until = min(self.now, self.waiting.snapshot_time)
        if self.history.as_of_time - until <= self.rules.window:
            return ""
        return f"; as of {clock_time(until)}, where the data ends"


def timed_out(life: Life) -> str | None:
    """Who, if its last members went by a timeout."""
    last = [each for each in life.left if each["to_time"] == life.went_away]
    if not last or not {each["leave_kind"] for each in last} <= {*TIMED_OUT}:
        return None
    gone = [each for each in life.left if each["leave_kind"] in TIMED_OUT]
    names = list_names([member_name(each) for each in gone], MOST_NAMES)
    who = "its last member" if len(gone) == 1 else f"its last {len(gone):,} members"
    return f"{who} timed out at {clock_time(life.went_away)} ({names})"


def written_since(number: int, where: str) -> str:
    return f"{counted(number, 'message')} or more {'was' if number == 1 else 'were'} written to {where} since"


def is_doubtful_since(history: PartitionHistory, time: int) -> bool:
    """Whether the log's clock went back between then and now."""
    return bool(history.doubtful.within(np.array([time]), np.array([history.as_of_time])).any())


def share_groups_down(history: PartitionHistory, rules: OwnRules) -> Iterable[tuple[str, Life, str]]:
    """With the reason. They keep their offsets in another topic: no commit shows that a member was silent before it
    went, and of what waits only this is known, that ends of topics rose to which the last members subscribed."""
    states, as_of = history.table("group_state_intervals"), history.as_of_time
    begun, ended = numbers(states["from_time"]), numbers(states["to_time"])
    holds = (begun <= as_of) & ((ended == NONE) | (ended > as_of))
    is_empty = pc.and_(pc.equal(states["group_type"], str(GroupType.SHARE)), pc.equal(states["num_members"], 0))
    empty = states.filter(pc.and_(pc.fill_null(is_empty, False), pa.array(holds)))["group_id"].to_pylist()
    if not empty:
        return
    no_commits, now = np.empty(0, np.int64), min(known_until(history), as_of)
    for group, life in lives_of(history, sorted({*empty})).items():
        if not life.is_seen or not life.stays or is_doubtful_since(history, life.went_away):
            continue
        topics = last_subscription(history.table("generation_members"), group, life.emptied_by)
        waiting = rise_since(history.watermarks, topics, life.went_away, as_of)
        absence = Absence(life, waiting, no_commits, None, rules, now, history)
        if (why := absence.why) is not None and waiting.written:
            written = written_since(waiting.written, ", ".join(sorted(topics)))
            unknown = "how many wait is not known: share groups keep their offsets elsewhere"
            yield group, life, f"{why}; {written}; {unknown}{absence.known_until()}"


def last_subscription(members: pa.Table, group: str, before: int) -> set[str]:
    of_group = members.filter(
        pc.and_(pc.equal(members["group_id"], group), pc.less(members["assignment_offset"], before))
    )
    of_group = of_group.filter(of_group["subscribed_topics"].is_valid())
    newest = pc.max(of_group["assignment_offset"])
    rows = of_group.filter(pc.fill_null(pc.equal(of_group["assignment_offset"], newest), False))
    return {topic for topics in rows["subscribed_topics"].to_pylist() for topic in topics}


def rise_since(watermarks: Watermarks, topics: set[str], since: int, until: int) -> Waiting:
    rows = watermarks.rows.filter(pc.is_in(watermarks.rows["topic"], value_set=pa.array(sorted(topics), pa.string())))
    times = numbers(rows["captured_time"])
    rows, times = rows.filter(pa.array(is_within := (times >= since) & (times <= until))), times[is_within]
    ends = rows.group_by(["topic", "partition"]).aggregate([("log_end_offset", "max"), ("log_end_offset", "min")])
    written = pc.sum(pc.subtract(ends["log_end_offset_max"], ends["log_end_offset_min"])).as_py() or 0
    return Waiting(ends.num_rows, int(written), snapshot_time=int(times.max(initial=NONE)))
