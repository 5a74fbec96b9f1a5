"""What happened to a group, in words: its costliest rebalances, each with what `groupscope why` says of it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.answers.events.rebalance import EventStory, lines
from jobs.answers.events.story import sentence
from jobs.answers.events.timeline import Event, rebalance, with_marks
from jobs.answers.short_ids import ShortIds
from jobs.answers.table_reader import Row as DictRow
from jobs.output.rows import time_text
from jobs.reporting.parts.findings import MOST_IN_COMMAND
from jobs.reporting.rows.listings import Row

MOST_REBALANCES = 5
CLIENT = ("group_instance_id", "client_id", "client_host", "leave_kind")


@dataclass(frozen=True)
class Episode:
    at: datetime
    sentence: str
    # As `why` has them: a label and its text.
    lines: Sequence[tuple[str, str]]
    command: str | None


def story(
    rebalances: Sequence[Row], moves: Sequence[Row], members: Sequence[Row], marks: Sequence[DictRow]
) -> list[Episode]:
    """The costliest, in the order in which they happened. `marks`: about the group."""
    shown_offsets = {row["assignment_offset"] for row in sorted(rebalances, key=cost)[:MOST_REBALANCES]}
    events = with_marks((rebalance(dict(row)) for row in rebalances), marks)
    stays = {row["member_id"]: row for row in members}
    memberships = [dict(row) for row in members]
    episodes = []
    for place, event in enumerate(events):
        if event.offset in shown_offsets:
            own = [dict(row) for row in moves if row["assignment_offset"] == event.offset]
            before = events[place - 1] if place else None
            after = events[place + 1] if place + 1 < len(events) else None
            changes = membership_changes(event, stays)
            episodes.append(episode(EventStory(event, before, after, changes, own, memberships)))
    return episodes


def cost(row: Row) -> tuple[int, int, int]:
    """Of equal ones the newest first."""
    return -(row["unread_partition_high_ms"] or 0), -(row["num_moved"] or 0), -row["assignment_offset"]


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
    whole = [("", sentence(row, event_story.moves, event_story.memberships)), *list(lines(event_story, at))[1:]]
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
