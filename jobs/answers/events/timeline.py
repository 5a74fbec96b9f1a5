"""A group's events in order: rebalances, static restarts, conversions, deletions, coordinator failovers; and the marks
that they followed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from jobs.answers.durations import time_between
from jobs.answers.events.stale_leaders import rows_told, stale_leaders
from jobs.answers.events.unread_spans import NO_UNREAD, OF_MOVES, Unread, Waits, unread_by_event
from jobs.answers.history import History, states_of
from jobs.answers.marks import after_words, current_marks, delay_words, mark_before, marks_about
from jobs.answers.table_reader import Condition, Row, equal
from jobs.command_line.values import EPOCH
from schemas.words.history import Confidence, LeaveKind, MemberChange, StateEnd, TimelineKind
from schemas.words.records import OFFSETS_TOPIC
from udfs.sentences.counts import counted

COLUMNS = (
    "group_id", "group_type", "time", "end_time", "kind", "trigger", "detail", "outcome", "from_generation",
    "to_generation", "unread_partition_low_ms", "unread_partition_high_ms", "longest_unread_high_ms", "confidence",
    "evidence_partition", "evidence_first_offset", "evidence_last_offset", "after_mark", "after_mark_ms",
    "longest_unread_low_ms", "unread_since_time",
)  # fmt: skip
OF_REBALANCE = ("outcome", "from_generation", "to_generation")


# Of marks, which come before events of the same time.
NO_RECORD = -1


@dataclass(frozen=True)
class Event:
    """`row`: of `rebalances`, or of the table that shows the event. An open rebalance has no end."""

    kind: TimelineKind
    start: datetime | None
    end: datetime | None
    # The record that shows it: it orders events with equal times.
    offset: int
    detail: str | None
    row: Row
    confidence: str
    from_generation: int | None = None
    to_generation: int | None = None
    # For a static restart: the old and the new member id.
    members: tuple[str, ...] = ()
    # How long partitions were unread that a member got by it.
    unread: Unread = NO_UNREAD
    # The newest mark within the ten minutes before it.
    mark: Row | None = None
    # Before what began at this time, though its own first record is later.
    no_later: datetime | None = None

    @property
    def is_rebalance(self) -> bool:
        return self.kind == TimelineKind.REBALANCE

    @property
    def has_moves(self) -> bool:
        """Whether rows of partition_moves may be about it."""
        return self.kind in (TimelineKind.REBALANCE, TimelineKind.STATIC_RESTART)

    def values(self) -> dict[str, Any]:
        values = dict.fromkeys(COLUMNS)
        values |= {name: self.row.get(name) for name in ("group_id", "group_type", "evidence_partition")}
        values |= {"time": self.start, "end_time": self.end, "kind": self.kind.value, "detail": self.detail}
        values |= {"from_generation": self.from_generation, "to_generation": self.to_generation}
        low, high, low_sum, high_sum, since, _ = self.unread
        values |= {"longest_unread_low_ms": low, "longest_unread_high_ms": high, "unread_since_time": since}
        values |= {"unread_partition_low_ms": low_sum, "unread_partition_high_ms": high_sum}
        if self.offset != NO_RECORD:
            values |= {"evidence_first_offset": self.offset, "evidence_last_offset": self.offset}
        if self.is_rebalance:
            values |= {name: self.row[name] for name in (*OF_REBALANCE, "trigger", "evidence_first_offset")}
            values["evidence_last_offset"] = self.row["evidence_last_offset"]
        if self.mark is not None and self.start is not None:
            values["after_mark"] = self.mark["text"]
            values["after_mark_ms"] = (self.start - self.mark["mark_time"]) // timedelta(milliseconds=1)
        return {**values, "confidence": self.confidence}

    @property
    def after_mark(self) -> str | None:
        """Such as `23 s after the mark "billing 2.4.1"`."""
        if self.mark is None or self.start is None:
            return None
        return after_words(self.mark, self.start)


def timeline(history: History, group: str) -> list[Event]:
    """Fails with a message if the group does not exist."""
    states = sorted(states_of(history, group), key=lambda row: int(row["from_record_offset"]))
    stale = stale_leaders(history, group)
    rebalances = rows_told(history.rows("rebalances", equal("group_id", group)), stale)
    moves = history.rows("partition_moves", equal("group_id", group), columns=OF_MOVES)
    events = [
        *map(rebalance, rebalances),
        *static_restarts(history, group),
        *endings(states),
        *failovers(history, group, states, rebalances),
    ]
    return in_order(with_unread(events, moves, Waits(not is_empty(states), stale.topics_now)))


def waits_of(history: History, group: str) -> Waits:
    states = sorted(states_of(history, group), key=lambda row: int(row["from_record_offset"]))
    return Waits(not is_empty(states), stale_leaders(history, group).topics_now)


def with_unread(events: Iterable[Event], moves: Sequence[Row], waits: Waits) -> Iterator[Event]:
    """`moves`: of the group."""
    unread = unread_by_event(moves, waits)
    for event in events:
        yield replace(event, unread=unread[event.offset]) if event.has_moves and event.offset in unread else event


def is_empty(states: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the group has no members now. `states`: in order. Without any, that is not known."""
    return bool(states) and states[-1]["to_time"] is None and states[-1]["num_members"] == 0


def with_marks(events: Iterable[Event], marks: Sequence[Row]) -> list[Event]:
    """Each with the mark that it followed. `marks`: about the group."""
    return [replace(event, mark=mark_before(marks, event.start)) for event in events]


def marks_of(history: History, group: str) -> list[Row]:
    return marks_about(current_marks(history.reader.warehouse, history.cluster), group)


def followed_marks(events: Sequence[Event]) -> Iterator[Event]:
    """Marks as events of their own: those that some of these events followed."""
    followers: dict[int, list[Event]] = {}
    for event in events:
        if event.mark is not None:
            followers.setdefault(event.mark["number"], []).append(event)
    for some in followers.values():
        first = min(some, key=place)
        mark, row = first.mark, {name: first.row.get(name) for name in ("group_id", "group_type")}
        assert mark is not None and first.start is not None
        at, which = mark["mark_time"], "" if len(some) == 1 else "the first "
        detail = f"{counted(len(some), 'event')}, {which}{delay_words(mark, first.start)} after the mark"
        yield Event(TimelineKind.MARK, at, at, NO_RECORD, f"{mark['text']}: {detail}", row, Confidence.CERTAIN)


def in_order(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=place)


def place(event: Event) -> tuple[datetime, bool, int, bool]:
    """A conversion and a failover come before the rebalance that they trigger, of which the record may be the same."""
    at = event.no_later or event.start or event.end or EPOCH
    return at, event.kind != TimelineKind.CONVERSION, event.offset, event.kind != TimelineKind.COORDINATOR_FAILOVER


def rebalance(row: Row) -> Event:
    generations = row["from_generation"], row["to_generation"]
    end, offset, detail = row["end_time"], row["assignment_offset"], row["trigger_detail"]
    return Event(
        TimelineKind.REBALANCE, row["start_time"], end, offset, detail, row, row["confidence"], *generations
    )  # fmt: skip


def static_restarts(history: History, group: str) -> Iterator[Event]:
    """Without those that a rebalance followed: its detail names them."""
    columns = ["assignment_offset", "member_id"]
    of_group, restarted = equal("group_id", group), equal("change", MemberChange.RESTARTED.value)
    restarted_ids = {
        row["member_id"] for row in history.rows("generation_members", of_group, restarted, columns=columns)
    }
    stays = history.rows("membership_intervals", of_group)
    begun = {(row["group_instance_id"], row["from_record_offset"]): row for row in stays}
    for row in stays:
        after = begun.get((row["group_instance_id"], row["to_record_offset"]))
        if row["leave_kind"] != LeaveKind.STATIC_REPLACED or after is None or after["member_id"] in restarted_ids:
            continue
        ids, away = (row["member_id"], after["member_id"]), row["away_since_time"]
        was_away = "" if away is None or row["to_time"] is None else f", away for {time_between(away, row['to_time'])}"
        yield Event(
            kind=TimelineKind.STATIC_RESTART,
            start=away or row["to_time"],
            end=row["to_time"],
            offset=row["to_record_offset"],
            detail=f"instance {row['group_instance_id']} restarted: {ids[0]} → {ids[1]}{was_away}",
            row=row,
            confidence=row["confidence"],
            from_generation=row["left_generation"],
            to_generation=row["left_generation"],
            members=ids,
        )


def endings(states: Sequence[Row]) -> Iterator[Event]:
    """`states`: in order."""
    for row, after in zip(states, [*states[1:], None], strict=True):
        if row["ended_by"] not in (StateEnd.CONVERTED, StateEnd.DELETED):
            continue
        generation = row["generation_or_epoch"]
        at, offset = row["to_time"], row["to_record_offset"]
        if row["ended_by"] == StateEnd.CONVERTED and after is not None:
            detail = f"{row['group_type']} → {after['group_type']}"
            kind, generations = TimelineKind.CONVERSION, (generation, after["generation_or_epoch"])
        else:
            state = "state not known" if row["state"] is None else f"was {row['state']}"
            detail = state if generation is None else f"{state} at {generation_or_epoch(row)} {generation}"
            kind, generations = TimelineKind.DELETION, (generation, None)
        yield Event(kind, at, at, offset, detail, row, Confidence.CERTAIN, *generations)


def generation_or_epoch(row: Row) -> str:
    return "generation" if row["group_type"] == "classic" else "epoch"


def failovers(history: History, group: str, states: Sequence[Row], rebalances: Sequence[Row]) -> Iterator[Event]:
    """Failovers while the group existed. A new leader is known from its first record, of any group."""
    partition = states[-1]["evidence_partition"]
    rows = history.rows("coordinator_epochs", equal("offsets_partition", partition))
    in_order = sorted(rows, key=lambda row: int(row["partition_leader_epoch"]))
    for before, row in pairwise(in_order):
        offset = row["first_offset"]
        there = next((each for each in states if is_there(each, offset)), None)
        if there is None:
            continue
        epochs = f"leader epoch {before['partition_leader_epoch']} → {row['partition_leader_epoch']}"
        place = {"group_id": group, "group_type": there["group_type"], "evidence_partition": partition}
        generation = there["generation_or_epoch"]
        yield Event(
            kind=TimelineKind.COORDINATOR_FAILOVER,
            start=row["from_time"],
            end=row["from_time"],
            offset=offset,
            detail=f"{epochs} of {OFFSETS_TOPIC}-{partition}{lost_text(history, there, row)}",
            row=place,
            confidence=Confidence.CERTAIN,
            from_generation=generation,
            to_generation=generation,
            no_later=first_begun(before, row, [each for each in rebalances if each["evidence_partition"] == partition]),
        )


def first_begun(before: Row, row: Row, rebalances: Sequence[Row]) -> datetime | None:
    """When the first rebalance began that the new coordinator ran: its members joined before it wrote anything. One
    that began before the old coordinator's last record is the old one's, and goes on."""
    times = [each["start_time"] for each in rebalances if each["assignment_offset"] >= row["first_offset"]]
    ends = row["from_time"], before["to_time"]
    if None in ends:
        return None
    return min((each for each in times if each is not None and ends[1] < each < ends[0]), default=None)


def lost_text(history: History, there: Row, row: Row) -> str:
    """What the group had, and the new coordinator has not: records of lower epochs where those of the new one are."""
    wanted = (
        equal("group_id", there["group_id"]),
        equal("offsets_partition", row["offsets_partition"]),
        Condition("record_offset", ">", row["first_offset"] - 1),
        Condition("partition_leader_epoch", "<=", row["partition_leader_epoch"] - 1),
    )
    generations = [
        {each[column] for each in history.rows(table, *wanted, columns=[column])} - {None, there["generation_or_epoch"]}
        for table, column in (
            ("classic_group_metadata", "generation"),
            ("target_assignment_metadata", "assignment_epoch"),
        )
    ]
    commits = [
        each for each in history.rows("offset_commits", *wanted, columns=["is_tombstone"]) if not each["is_tombstone"]
    ]
    counts = ((len(commits), "commit"), (sum(map(len, generations)), "generation"))
    lost = " and ".join(counted(number, thing) for number, thing in counts if number)
    return f"; {lost} lost" if lost else ""


def is_there(state: Row, offset: int) -> bool:
    return bool(
        state["from_record_offset"] < offset
        and (state["to_record_offset"] is None or offset <= state["to_record_offset"])
    )


# -- the event at a time


def nearest(events: Sequence[Event], begins: dict[int, datetime], at: datetime) -> int:
    """The position of the event that covers the time, else of the nearest one before or after. `begins`: by assignment,
    since when partitions that it took from their owners may have been unread. This counts if no event itself covers the
    time."""
    # What a failover set off says more than it does.
    return min(
        range(len(events)),
        key=lambda place: (
            distance(events[place], begins, at),
            events[place].kind == TimelineKind.COORDINATOR_FAILOVER,
        ),
    )


def distance(event: Event, begins: dict[int, datetime], at: datetime) -> tuple[float, float]:
    """In seconds: from the event with its unread time, then from the event itself."""
    own = seconds_outside(event.start, event.end, at)
    begin = begins.get(event.offset) if event.has_moves else None
    whole = own if begin is None else min(own, seconds_outside(begin, event.end, at))
    return whole, own


def seconds_outside(start: datetime | None, end: datetime | None, at: datetime) -> float:
    """Records of the oldest format have no time."""
    if start is None and end is None:
        return float("inf")
    if start is not None and at < start:
        return (start - at).total_seconds()
    return 0.0 if end is None or at <= end else (at - end).total_seconds()
