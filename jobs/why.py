"""Explains what is wrong with a group, and why it rebalanced: shows the event at the given time, or the nearest one
before or after it. Without a time, it shows the newest event, and begins with the verdict on the group unless that is
OK, and with what the newest audit found to have happened to the group lately, such as a reset of its offsets.

    groupscope why billing
    groupscope why billing --at 2026-11-21T03:00
    groupscope why billing --at 'yesterday 05:27' --tz Europe/Berlin

An event is a rebalance, a static restart, a conversion, a deletion or a coordinator failover. If the event, or what is
wrong, began within ten minutes after a mark (`groupscope mark`), the answer says so. CSV output is the line of the
event as `groupscope rebalances` prints it. JSON output has, for a rebalance, its row of the table `rebalances`, the
`members` that joined and left with the fields of their records, the `moves` of partitions (also for a static restart),
and the events `before` and `after`. Without a time, it also has `verdict`, `verdict_reason`, `verdict_since_time`,
`verdict_as_of_time` and `last_commit_time`.
"""

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from jobs.answers.events.drawing import drawing
from jobs.answers.events.rebalance import EventStory, event_at, lines, text_or_none
from jobs.answers.events.story import sentence
from jobs.answers.events.timeline import distance, marks_of
from jobs.answers.history import History, column_names, open_history, print_time, state_at
from jobs.answers.marks import after_words, mark_before
from jobs.answers.missing_records import Unseen, unseen_of
from jobs.answers.narrow_tables import member_ids
from jobs.answers.short_ids import with_short_ids
from jobs.answers.standing import Standing
from jobs.answers.verdicts import Verdicts, is_wrong, partition_verdicts
from jobs.output.failure import misuse, say
from jobs.output.rows import LABEL_WIDTH, Format, clock_text, print_facts, print_object
from jobs.output.terminal import terminal_width
from schemas.tables import TABLES

# Width of the drawing, unless the terminal is narrower.
WIDTH = 80
MOST_EVENTS = 3


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    at, group = history.instant(arguments.at), arguments.group
    story = event_at(history, group, at)
    verdicts = partition_verdicts(history, group, None) if arguments.at is None else None
    now = verdict_line(history, verdicts, group, at) if verdicts and is_wrong(verdicts.of_groups.get(group)) else []
    now += lately(history, verdicts, group, at) if verdicts and arguments.format == Format.TABLE else []
    if story is None:
        state = state_at(history, group, at)
        missed = "".join(f"; {each}" for each in unseen_of(history.coverage(state["evidence_partition"]))[-1:])
        message = f"group {group}: the data has no rebalance, restart or failover{missed}"
        if not now or arguments.format != Format.TABLE:
            raise misuse(message)
        print_time(arguments, at, LABEL_WIDTH)
        say(message)
        print_lines(history, group, [("Group", f"{group} ({text_or_none(state['group_type'])})"), *now], arguments)
        return
    print_time(arguments, at, LABEL_WIDTH)
    for each in unseen_around(history, story, at):
        say(f"{each}; the group may have rebalanced in that time")
    if arguments.format == Format.TABLE:
        (first, *facts) = lines(story, at)
        drawn = story_lines(history, story, terminal_width() or WIDTH)
        print_lines(history, group, [first, *now, *drawn, *facts], arguments)
    elif arguments.format == Format.CSV:
        print_object(story.event.values(), arguments.format)
    else:
        whole = as_object(story) | (verdict_fields(verdicts, group) if verdicts else {})
        print_object(whole, arguments.format)


def verdict_line(history: History, verdicts: Verdicts, group: str, at: datetime) -> list[tuple[str, str]]:
    text, since = verdicts.group_text(group, at), verdicts.of_groups[group]["since_time"]
    mark = mark_before(marks_of(history, group), since)
    return [("Verdict", text if mark is None else f"{text}; it began {after_words(mark, since)}")]


def lately(history: History, verdicts: Verdicts, group: str, at: datetime) -> list[tuple[str, str]]:
    """The event below is a rebalance or the like: what else happened may be what somebody asks about."""
    events = Standing(history, verdicts, {}).events_of(group)
    texts = [f"{clock_text(row['at_time'], at)} {row['message']}" for row in events[:MOST_EVENTS]]
    texts += [f"and {len(events) - MOST_EVENTS:,} more: groupscope status {group}"] if len(events) > MOST_EVENTS else []
    return [("" if place else "Lately", text) for place, text in enumerate(texts)]


def verdict_fields(verdicts: Verdicts, group: str) -> dict[str, Any]:
    row = verdicts.of_groups.get(group, {})
    names = {"verdict": "own_verdict", "verdict_reason": "reason", "verdict_since_time": "since_time"}
    columns = {name: row.get(column) for name, column in names.items()}
    as_of = verdicts.as_of if row else None
    return {**columns, "verdict_as_of_time": as_of, "last_commit_time": row.get("last_commit_time")}


def print_lines(history: History, group: str, rows: Sequence[Sequence[str]], arguments: argparse.Namespace) -> None:
    print_facts(rows if arguments.wide else with_short_ids(rows, member_ids(history, group)))


def story_lines(history: History, story: EventStory, width: int) -> Iterator[tuple[str, str]]:
    """One sentence about what happened, and the drawing, with empty lines around it."""
    if not story.event.is_rebalance:
        return
    yield "Story", sentence(story)
    drawn = drawing(history, story, min(width, WIDTH) - LABEL_WIDTH - 1)
    if drawn:
        yield from (("", line) for line in ("", *drawn, ""))


def as_object(story: EventStory) -> dict[str, Any]:
    columns: dict[str, Any] = story.event.values()
    if story.event.is_rebalance:
        columns |= {name: story.event.row[name] for name in column_names(TABLES["rebalances"])}
    if story.event.has_moves:
        columns |= {"moves": story.moves}
    before, after = (each and each.values() for each in (story.before, story.after))
    return {**columns, "members": story.members, "before": before, "after": after}


def unseen_around(history: History, story: EventStory, at: datetime) -> list[Unseen]:
    """Ranges of the log without records in which a nearer event may be: between the two events around the time."""
    event = story.event
    if distance(event, {}, at)[1] == 0:
        return []
    is_later = event.start is not None and event.start > at
    first, last = (story.before, event) if is_later else (event, story.after)
    return [
        each
        for each in unseen_of(history.coverage(event.row["evidence_partition"]))
        if (first is None or each.after_offset >= first.offset) and (last is None or each.after_offset < last.offset)
    ]
