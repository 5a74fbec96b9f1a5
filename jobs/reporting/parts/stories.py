"""What happened to a group, in words: its costliest rebalances, each with what `groupscope why` says of it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.answers.events.rebalance import EventStory, lines, taken_by
from jobs.answers.events.stale_leaders import StaleLeaders, rows_told
from jobs.answers.events.story import sentence
from jobs.answers.events.timeline import Event, is_empty, rebalance, with_marks, with_unread
from jobs.answers.events.unread_spans import Unread, Waits, unread_by_event
from jobs.answers.short_ids import ShortIds
from jobs.answers.table_reader import Row as DictRow
from jobs.output.rows import time_text
from jobs.reporting.parts.findings import MOST_IN_COMMAND
from jobs.reporting.rows.listings import Row
from jobs.reporting.rows.questions import Answers

MOST_REBALANCES = 5
CLIENT = ("group_instance_id", "client_id", "client_host", "leave_kind")


@dataclass(frozen=True)
class Episode:
    at: datetime
    sentence: str
    # As `why` has them: a label and its text.
    lines: Sequence[tuple[str, str]]
    command: str | None


def story(rows: Answers, marks: Sequence[DictRow], until: datetime | None) -> list[Episode]:
    """The costliest, in the order in which they happened. `rows`: of the group, `marks`: about it."""
    worst = costliest(rows, until)[:MOST_REBALANCES]
    shown_offsets = {row["assignment_offset"] for row in worst}
    moves = [dict(row) for row in rows["moves"]]
    stale, waits = StaleLeaders.of(rows["audits"]), waits_of(rows)
    events = with_marks(map(rebalance, rows_told(rows["rebalances"], stale)), marks)
    events = list(with_unread(events, moves, waits))
    stays = {row["member_id"]: row for row in rows["members"]}
    episodes = []
    for place, event in enumerate(events):
        if event.offset in shown_offsets:
            own = [row for row in moves if row["assignment_offset"] == event.offset]
            before = events[place - 1] if place else None
            after = events[place + 1] if place + 1 < len(events) else None
            changes = membership_changes(event, stays)
            episodes.append(episode(EventStory(event, before, after, changes, own, taken_by(event, moves, waits))))
    return episodes


def waits_of(rows: Answers) -> Waits:
    return Waits(not is_empty(rows["states"]), StaleLeaders.of(rows["audits"]).topics_now)


def costliest(rows: Answers, until: datetime | None) -> list[Row]:
    """Rebalances of a group, the costliest first: those that left partitions unread for longest, all added up. Of equal
    ones the newest first."""
    unread = unread_by_event(rows["moves"], waits_of(rows))

    def cost(row: Row) -> tuple[int, int, int]:
        # Of rows that were left out of the moves, the sum is known.
        here = unread.get(row["assignment_offset"], Unread(high_ms=row["unread_partition_high_ms"]))
        most = max(here.cost_ms(until), row["unread_partition_high_ms"] or 0)
        return -most, -(row["num_moved"] or 0), -row["assignment_offset"]

    return sorted(rows["rebalances"], key=cost)


def membership_changes(event: Event, stays: Mapping[str, Row]) -> list[DictRow]:
    """Who joined and left, with what their stays say of them."""
    both = (("joined", event.row["members_joined"]), ("left", event.row["members_departed"]))
    return [
        {"change": change, "member_id": member, **about(stays.get(member), change)}
        for change, some in both
        for member in some or ()
    ]


def about(stay: Row | None, change: str) -> dict[str, Any]:
    client = {name: None if stay is None else stay[name] for name in CLIENT}
    # How a member that joined left later belongs to another event.
    return client if change == "left" else client | {"leave_kind": None}


def episode(event_story: EventStory) -> Episode:
    row, at = event_story.event.row, event_story.event.row["start_time"]
    members = [row["member_id"] for row in event_story.members]
    members += [move[name] for move in event_story.moves for name in ("from_member_id", "to_member_id") if move[name]]
    whole = [("", sentence(event_story)), *list(lines(event_story, at))[1:]]
    short = ShortIds(set(members), (text for _, text in whole))
    (_, said), *rest = [(label, short.text(text)) for label, text in whole]
    if event_story.event.after_mark is not None:
        said = f"{said}; {event_story.event.after_mark}"
    return Episode(at, said, rest, why_command(row["group_id"], at))


def why_command(group: str, at: datetime) -> str | None:
    if not group.isprintable() or not 0 < len(group) <= MOST_IN_COMMAND:
        return None
    name = f"-- {shlex.quote(group)}" if group.startswith("-") else shlex.quote(group)
    return f"groupscope why --at {time_text(at)} {name}"
