"""A group during its replay, and what it shares with the other groups of its offsets partition."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.words.history import AnomalyKind, Severity
from udfs.groups.history.anomaly_rows import anomaly_row
from udfs.groups.history.change_details import Change, detail
from udfs.groups.history.departures import Departure
from udfs.groups.history.ledger import Ledger
from udfs.groups.history.reading_ends import (
    ReadingEnd,
    Setting,
    Timeouts,
    grown,
    timeouts_of_record,
    timeouts_of_setting,
)
from udfs.groups.history.rows import RowsByTable
from udfs.groups.history.unclear_details import UnclearDetail, is_unclear
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.modern import Member, Modern
from udfs.log.gaps import Gaps
from udfs.log.release_lines import Lines
from udfs.topics.growths import Growths
from udfs.topics.partition_codes import PARTITION_MASK, TopicCodes

# Smaller steps back are normal for the clocks of a healthy cluster.
CLOCK_STEP_US = 1_000_000


@dataclass
class Context:
    """Shared by all groups of one offsets partition."""

    topics: TopicCodes
    gaps: Gaps = field(default_factory=Gaps)
    # The last offset before each hole; -1: the beginning of the log was not read.
    holes: Collection[int] = ()
    rows: RowsByTable = field(default_factory=RowsByTable)
    # Whose rules apply.
    lines: Lines = field(default_factory=Lines)
    # Members for which commits may show how they left.
    departures: list[Departure] = field(default_factory=list)
    # Details of rebalances that name these members.
    unclear: list[UnclearDetail] = field(default_factory=list)
    # Timeouts by group type, from snapshots.
    timeouts: Mapping[str, Setting] = field(default_factory=dict)
    # Timeouts of groups that set their own, by group and type.
    own_timeouts: Mapping[tuple[str, str], Setting] = field(default_factory=dict)
    # Where another coordinator took over: the first record that it wrote, with its time; ascending.
    failovers: Sequence[tuple[int, int]] = ()
    growths: Growths = field(default_factory=Growths)

    def with_restarts(self, of: Timeouts, at: Moment) -> Timeouts:
        """A coordinator that takes over counts all sessions anew: one that ends soon after says nothing of heartbeats
        before."""
        if at.time is None:
            return of
        is_restarted = any(
            first <= at.offset and time >= at.time - (of.session_ms + of.join_ms) * 1000
            for first, time in self.failovers
        )
        return of._replace(is_restarted=True) if is_restarted else of

    def new_partitions(
        self, tps: Iterable[int], at: int | None, had_since: Callable[[int], int | None]
    ) -> Sequence[tuple[frozenset[int], ReadingEnd]]:
        """Those that snapshots show to be new, by when nobody can have read them before. `had_since`: since when the
        group has had a lower partition of the same topic. None: it has none."""
        by_end: dict[ReadingEnd, list[int]] = {}
        for tp in tps if self.growths.counts else ():
            growth = self.growths.growth(self.topics.name(tp), tp & PARTITION_MASK, at)
            if growth is not None and (since := had_since(tp)) is not None:
                seen = None if growth.seen_time is None else max(growth.seen_time, since)
                by_end.setdefault(grown(at, growth.unseen_time, seen), []).append(tp)
        return [(frozenset(some), end) for end, some in by_end.items()]

    def setting_of(self, group_id: str, group_type: str) -> Setting:
        own = self.own_timeouts.get((group_id, group_type))
        return self.timeouts.get(group_type, Setting()) if own is None else own


@dataclass
class Group:
    group_id: str
    context: Context
    ledger: Ledger
    # Largest record time so far.
    time: int | None = None
    # By key (type and member), offset of its newest record: shows whether the next one is new or a copy of it.
    seen: dict[str, int] = field(default_factory=dict)
    # What is known of the group beyond its ledger. None: no record of the group, so it may have only offsets.
    now: Classic | Modern | None = None

    def moment(self, record: Record) -> Moment:
        """The place of the record with its history time, which never goes back."""
        time = record.time
        if time is not None and self.time is not None and time < self.time:
            if time < self.time - CLOCK_STEP_US:
                line = f"record time lies {(self.time - time) // 1000:,} ms before that of an earlier record"
                self.anomaly(record, AnomalyKind.CLOCK_WENT_BACK, Severity.INFO, line)
            time = self.time
        self.time = self.time if time is None else time
        return Moment(record.offset, self.time)

    def is_exact(self, key: str, record: Record) -> bool:
        """Whether no record of this key can be missing before this one. Marks the key as seen."""
        before = self.seen.get(key, -1)
        self.seen[key] = record.offset
        return self.context.gaps.is_complete(before, record.offset)

    def timeouts_of(self, group_type: str, member: Member | None) -> Timeouts:
        """Of a member of a group that is not classic. None: nothing is known of it."""
        about = None if member is None else member.about
        rebalance_ms = None if about is None else about.rebalance_timeout_ms
        if about is not None and about.session_timeout_ms is not None:
            return timeouts_of_record(about.session_timeout_ms, rebalance_ms)
        return timeouts_of_setting(self.context.setting_of(self.group_id, group_type), rebalance_ms)

    def detail(self, assignment_offset: int, trigger: str, changes: Sequence[Change]) -> str | None:
        """The detail of a rebalance. If commits may show more, it is noted for later."""
        if is_unclear(changes):
            self.context.unclear.append(UnclearDetail(self.group_id, assignment_offset, trigger, changes))
        return detail(trigger, changes)

    def anomaly(
        self, record: Record, kind: AnomalyKind, severity: Severity, line: str, first_offset: int | None = None
    ) -> None:
        at = Moment(record.offset, record.time)
        self.context.rows.add(anomaly_row(self.group_id, kind, severity, at, line, first_offset))
