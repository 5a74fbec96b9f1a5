"""Describes an event of a group in words: who joined and left, what moved, what it cost, and which records show it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.answers.durations import duration_text, time_between
from jobs.answers.events.changed_members import changed_members
from jobs.answers.events.timeline import Event, generation_or_epoch, marks_of, nearest, timeline, waits_of, with_marks
from jobs.answers.events.unread_cost import taken_cost, unread_cost
from jobs.answers.events.unread_spans import OF_MOVES, OF_STAYS, AnyRow, Waits, place_of, taken
from jobs.answers.history import History
from jobs.answers.table_reader import Row, equal
from jobs.output.rows import time_text
from schemas.words.history import MoveKind, RebalanceTrigger, TimelineKind
from schemas.words.records import OFFSETS_TOPIC
from udfs.sentences.counts import counted

TRIGGERS = {trigger.value: trigger.meaning for trigger in RebalanceTrigger}
KINDS = {kind: kind.meaning for kind in TimelineKind}
OF_OWNERS = (*OF_STAYS, "to_record_offset", "is_provisional")
# Limit of partitions listed one by one. The counts and the other formats include all.
SHOWN_MOVES = 20
COUNTS = {
    "num_moved": "moved",
    "num_returned": "revoked and reassigned to the same member",
    "num_withheld": "withheld: assigned to no member until the next generation",
    "num_unknown_owned": "of deleted topics",
    "num_unowned": "left without an owner",
}


@dataclass(frozen=True)
class EventStory:
    """The event at a time, its neighbors, the members it is about, and its rows of partition_moves. `taken`: of those
    that gave a partition to nobody, each with the later one that gave it to somebody, or that waits for one."""

    event: Event
    before: Event | None
    after: Event | None
    members: list[Row]
    moves: list[Row]
    taken: Sequence[tuple[AnyRow, AnyRow | None]]


def event_at(history: History, group: str, at: datetime) -> EventStory | None:
    """The event that covers the time, else the nearest one before or after."""
    events = with_marks(timeline(history, group), marks_of(history, group))
    if not events:
        return None
    moves = history.rows("partition_moves", equal("group_id", group), columns=[*OF_MOVES, "unread_basis"])
    owners = history.rows_at("ownership_intervals", at, equal("group_id", group), columns=OF_OWNERS)
    here = nearest(events, unread_since(moves, owners), at)
    event = events[here]
    return EventStory(
        event,
        events[here - 1] if here else None,
        events[here + 1] if here + 1 < len(events) else None,
        members_of(history, event),
        moves_of(history, event),
        taken_by_event(moves, waits_of(history, group)).get(event.offset, ()) if event.has_moves else (),
    )


def unread_since(moves: Sequence[AnyRow], owners: Sequence[AnyRow]) -> dict[int, datetime]:
    """By assignment, the earliest time since when a partition that it took from one of these owners may have been
    unread. `moves`: of the group."""
    since: dict[int, datetime] = {}
    for owner in owners:
        doubt, ended = owner["reader_doubt_from_time"], owner["to_record_offset"]
        if doubt is None or ended is None:
            continue
        later = (move for move in moves if place_of(move) == place_of(owner) and move["move_offset"] >= ended)
        took = min(later, key=lambda move: int(move["move_offset"]), default=None)
        if took is not None:
            offset = took["assignment_offset"]
            since[offset] = min(doubt, since.get(offset, doubt))
    return since


def taken_by_event(moves: Sequence[AnyRow], waits: Waits) -> dict[int, list[tuple[AnyRow, AnyRow | None]]]:
    """By assignment. `moves`: of one group."""
    pairs: dict[int, list[tuple[AnyRow, AnyRow | None]]] = {}
    for move, giving in taken(moves):
        if giving is not None or waits.has(move):
            pairs.setdefault(move["assignment_offset"], []).append((move, giving))
    return pairs


def moves_of(history: History, event: Event) -> list[Row]:
    if not event.has_moves:
        return []
    of_group = equal("group_id", event.row["group_id"])
    moves = history.rows("partition_moves", of_group, equal("assignment_offset", event.offset))
    return sorted(moves, key=move_place)


def move_place(row: Row) -> tuple[str, int, int]:
    return str(row["topic"] or row["topic_id"]), int(row["partition"]), int(row["move_offset"])


def members_of(history: History, event: Event) -> list[Row]:
    if event.is_rebalance:
        joined = [("joined", member) for member in event.row["members_joined"]]
        changes = [*joined, *(("left", member) for member in event.row["members_departed"])]
        return changed_members(history, event.row, changes, event.row["evidence_last_offset"])
    changes = list(zip(("left", "joined"), event.members, strict=False))
    return changed_members(history, event.row, changes, event.offset) if changes else []


def lines(story: EventStory, at: datetime) -> Iterator[tuple[str, str]]:
    """Labels and texts, for people."""
    event = story.event
    yield "Group", f"{event.row['group_id']} ({text_or_none(event.row['group_type'])})"
    if event.after_mark is not None:
        yield "Mark", event.after_mark
    if event.is_rebalance:
        yield from rebalance_lines(story, at)
    else:
        yield "Event", f"{event.kind.value}: {KINDS[event.kind]}"
        yield "Detail", text_or_none(event.detail)
        yield "Time", instant_text(event, at)
        yield from member_lines(story)
        if story.moves:
            yield from move_lines(story)
            yield "Cost", cost(story)
    values = event.values()
    first, last = values["evidence_first_offset"], values["evidence_last_offset"]
    records = f"record {first}" if first == last else f"records {first} to {last}"
    yield "Evidence", f"{OFFSETS_TOPIC}-{values['evidence_partition']}, {records}"
    for label, other in (("Before", story.before), ("After", story.after)):
        yield label, "no event in the data" if other is None else one_line(other)


def rebalance_lines(story: EventStory, at: datetime) -> Iterator[tuple[str, str]]:
    row = story.event.row
    word = "generation" if row["group_type"] == "classic" else "target epoch"
    yield "Rebalance", f"{word} {text_or_none(row['from_generation'])} to {row['to_generation']}, {row['outcome']}"
    yield "Trigger", f"{row['trigger']} ({row['confidence']}): {row['trigger_detail'] or TRIGGERS[row['trigger']]}"
    yield "Time", times(row, at)
    if row["mode"]:
        withheld = "; assigns partitions that the previous generation withheld" if row["is_follow_up"] else ""
        yield "Mode", f"{row['mode']}{withheld}"
    # A group without members has none.
    if row["num_members_after"] and (row["assignor_before"] or row["assignor_after"]):
        yield "Assignor", assignors(row)
    yield from member_lines(story)
    yield "Members", f"{row['num_members_before']} before, {row['num_members_after']} after"
    if row["leader_before"] != row["leader_after"]:
        yield "Leader", f"{text_or_none(row['leader_before'])}, then {text_or_none(row['leader_after'])}"
    yield "Partitions", partitions(row)
    yield from move_lines(story)
    yield "Cost", cost(story)
    if row["unpersisted_rounds"]:
        number = row["unpersisted_rounds"]
        yield "Not completed", f"{number} earlier rebalance{'' if number == 1 else 's'}"


def move_lines(story: EventStory) -> Iterator[tuple[str, str]]:
    # The moves of a rebalance are listed below their number.
    first = "" if story.event.is_rebalance else "Partitions"
    yield from ((first if not place else "", move_text(move)) for place, move in enumerate(story.moves[:SHOWN_MOVES]))
    if len(story.moves) > SHOWN_MOVES:
        yield "", f"and {len(story.moves) - SHOWN_MOVES} more: see the table partition_moves"


def member_lines(story: EventStory) -> Iterator[tuple[str, str]]:
    return ((member["change"].capitalize(), member_text(member)) for member in story.members)


def text_or_none(value: Any) -> str:
    return "none" if value is None else str(value)


def assignors(row: Row) -> str:
    before, after = row["assignor_before"], row["assignor_after"]
    return str(after) if before in (None, after) else f"{before}, then {text_or_none(after)}"


def times(row: Row, at: datetime) -> str:
    bound = "" if row["is_start_exact"] else " or earlier"
    began = f"from {shown_time(row['start_time'])}{bound}"
    end = row["end_time"]
    if end is None:
        return f"{began}; its end is not in the data{away_from(row['start_time'], None, at)}"
    length = "" if row["duration_ms"] is None else duration_text(row["duration_ms"])
    least = "" if row["is_start_exact"] or not length else "at least "
    return f"{began} to {time_text(end)}: {least}{length}{away_from(row['start_time'], end, at)}"


def shown_time(value: datetime | None) -> str:
    return "an unknown time" if value is None else time_text(value)


def away_from(start: datetime | None, end: datetime | None, at: datetime) -> str:
    if start is not None and at < start:
        return f"; began {time_between(at, start)} after {time_text(at)}"
    return "" if end is None or at <= end else f"; ended {time_between(end, at)} before {time_text(at)}"


def instant_text(event: Event, at: datetime) -> str:
    when = shown_time(event.start)
    until = "" if event.end in (None, event.start) else f" to {shown_time(event.end)}"
    return f"{when}{until}{away_from(event.start, event.end, at)}"


def one_line(event: Event) -> str:
    """One line, for a neighbor of the requested event."""
    what = event.kind.value
    if event.is_rebalance:
        what += f" to {generation_or_epoch(event.row)} {event.to_generation}, {event.row['trigger']}"
    return f"{shown_time(event.start)} {what}{f': {event.detail}' if event.detail else ''}"


def member_text(member: Row) -> str:
    instance = f", instance {member['group_instance_id']}" if member["group_instance_id"] else ""
    kind = f", {member['leave_kind']}" if member["change"] == "left" and member["leave_kind"] else ""
    client = f"client {text_or_none(member['client_id'])}, host {text_or_none(member['client_host'])}{instance}"
    return f"{member['member_id']} ({client}){kind}"


def partitions(row: Row) -> str:
    moves = [f"{row[name]} {words}" for name, words in COUNTS.items() if row[name]]
    number = row["num_partitions"]
    if not number:
        return ", ".join(["unknown" if number is None else "none assigned", *moves])
    return f"{counted(number, 'partition')}: {', '.join(moves) or 'none changed its owner'}"


def move_text(move: Row) -> str:
    place = f"{move['topic'] or move['topic_id']}-{move['partition']}"
    idle = "" if move["idle_ms"] is None else f", unowned for {duration_text(move['idle_ms'])}"
    gap = (
        ""
        if move["commit_gap_ms"] is None
        else f"; commits before and after are {duration_text(move['commit_gap_ms'])} apart"
    )
    role = f" as {move['role']}" if move["role"] else ""
    before, after = move["from_member_id"], move["to_member_id"]
    between = " ".join([*([f"from {before}"] if before else []), *([f"to {after}"] if after else [])])
    if before == after:
        # Lost: the member came back without the partition and was assigned it again.
        between = f"{after} came back and was assigned it again" if move["kind"] == MoveKind.LOST else f"to {after}"
    return f"{place} {move['kind']}{role}: {between}{idle}{gap}"


def cost(story: EventStory) -> str:
    row = story.event.row
    gaps = [move["commit_gap_ms"] for move in story.moves if move["commit_gap_ms"] is not None]
    left = taken_cost(story.taken)
    sync_ms = row.get("sync_ms")
    parts = [
        unread_cost(story.moves) or (None if left else unowned_text(row)),
        left,
        f"commits before and after are up to {duration_text(max(gaps))} apart" if gaps else None,
        None if sync_ms is None else f"the leader took {duration_text(sync_ms)} to assign",
    ]
    return "; ".join(filter(None, parts)) or "the records do not show the cost"


def unowned_text(row: Row) -> str | None:
    stopped = row.get("stopped_partition_ms")
    return None if stopped is None else f"unowned for {duration_text(stopped)} in all, summed over partitions"
