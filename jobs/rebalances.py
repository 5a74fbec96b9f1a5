"""Lists the events of a group in order: rebalances, static restarts, conversions, deletions, coordinator failovers,
silences that last, and the marks that these followed.

    groupscope rebalances billing --from 2026-11-21T03:00 --to 2026-11-21T04:00

Reads `rebalances`, `partition_moves`, `membership_intervals`, `group_state_intervals`, `coordinator_epochs`,
`group_verdicts` and `marks`. UNREAD is for how long nobody read a partition that a member got by the event, of the
partition that was unread longest. If the event took partitions, and nobody has them yet, it says since when.
A static restart is the restart of a static member (group.instance.id). If it led to a rebalance, only the rebalance is
listed. A conversion changes the group's type, for example from classic to consumer. A silence begins with the last
commit; only those of the newest audit are listed. A mark (`groupscope mark`) is listed if an event began within ten
minutes after it; of several marks, the event followed the newest. CSV and JSON also have the mark's text in the column
`after_mark` of these events.
"""

import argparse
import re
from datetime import UTC, datetime
from typing import Any

from jobs.answers.durations import duration_text, longest_text
from jobs.answers.events.silences import silences
from jobs.answers.events.timeline import COLUMNS, Event, followed_marks, in_order, marks_of, timeline, with_marks
from jobs.answers.history import open_history, print_answer, print_first_line
from jobs.answers.missing_records import unseen_of
from jobs.answers.narrow_tables import member_ids
from jobs.answers.short_ids import with_short_ids
from jobs.output.failure import misuse, say
from jobs.output.rows import Format, clock_text, time_text
from jobs.output.zones import ZONES

# EVENT: the trigger of a rebalance, else the kind of event.
NARROW = ("TIME", "EVENT", "GENERATION", "UNREAD", "DETAIL")
WIDE = (
    "TIME", "END-TIME", "KIND", "GENERATION", "OUTCOME", "TRIGGER", "CONFIDENCE", "UNREAD", "UNREAD-SUM", "EVIDENCE",
    "DETAIL",
)  # fmt: skip
# The text of a member in a detail: instance, client and host.
ABOUT_MEMBER = re.compile(r" \(([^()]*)\)")


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    bounds = ((arguments.first, "--from"), (arguments.last, "--to"))
    first, last = (None if text is None else history.time(text, flag) for text, flag in bounds)
    if first is not None and last is not None and first > last:
        raise misuse(f"--from {time_text(first)} is after --to {time_text(last)}")
    whole = [*timeline(history, arguments.group), *silences(history, arguments.group)]
    events = [event for event in in_order(whole) if is_within(event, first, last)]
    events = with_marks(events, marks_of(history, arguments.group))
    if not events:
        say(f"group {arguments.group}: no event is known{in_that_time(first, last)}")
    if events:
        for each in unseen_of(history.coverage(events[0].row["evidence_partition"])):
            say(f"{each}: what happened in that time is unknown")
    events = in_order([*events, *followed_marks(events)])
    when = in_that_time(first, last).strip()
    if when or ZONES.printed is not UTC:
        print_first_line("Events", when or "of all times", arguments.format)
    if arguments.format != Format.TABLE:
        print_answer(COLUMNS, [list(event.values().values()) for event in events], arguments.format)
    elif arguments.wide:
        print_answer(WIDE, list(map(wide_cells, events)), arguments.format, is_wide=True)
    else:
        cells = with_short_ids(list(map(narrow_cells, events)), member_ids(history, arguments.group))
        print_answer(NARROW, cells, arguments.format)


def is_within(event: Event, first: datetime | None, last: datetime | None) -> bool:
    """Events without any time match every time."""
    is_over = first is not None and event.end is not None and event.end < first
    is_later = last is not None and event.start is not None and event.start > last
    return not is_over and not is_later


def in_that_time(first: datetime | None, last: datetime | None) -> str:
    since = "" if first is None else f" from {time_text(first)}"
    return since + ("" if last is None else f" to {time_text(last)}")


def narrow_cells(event: Event) -> list[Any]:
    detail = None if event.detail is None else ABOUT_MEMBER.sub(without_host, event.detail)
    return [shown_time(event), trigger(event) or event.kind.value, generations(event), unread(event), detail]


def without_host(about: re.Match[str]) -> str:
    """Without the host, so that the line has room for what happened to the member."""
    parts = about[1].split(", ")
    return f" ({parts[0]})" if len(parts) > 1 else ""


def wide_cells(event: Event) -> list[Any]:
    values = event.values()
    first, last = values["evidence_first_offset"], values["evidence_last_offset"]
    evidence = None if first is None else f"{values['evidence_partition']}: {first} to {last}"
    return [
        shown_time(event), None if event.end is None else time_text(event.end), event.kind.value, generations(event),
        values["outcome"], trigger(event), event.confidence, unread(event),
        bounds_text(event.unread.low_ms, event.unread.high_ms), evidence, event.detail,
    ]  # fmt: skip


def shown_time(event: Event) -> str | None:
    return None if event.start is None else time_text(event.start)


def trigger(event: Event) -> str | None:
    return event.row["trigger"] if event.is_rebalance else None


def generations(event: Event) -> str | None:
    """For a classic group; else epochs."""
    before, after = event.from_generation, event.to_generation
    if before == after or None in (before, after):
        known = [str(each) for each in (before, after) if each is not None]
        return known[0] if known else None
    return f"{before} → {after}"


def unread(event: Event) -> str | None:
    """Of the partition that was unread longest. A partition that nobody has yet may be it."""
    if event.unread.since is not None:
        return f"since {clock_text(event.unread.since, event.end or event.unread.since)}, goes on"
    return bounds_text(event.unread.longest_low_ms, event.unread.longest_high_ms)


def bounds_text(low: int | None, high: int | None) -> str | None:
    if high is None:
        return None
    if not low:
        return f"up to {longest_text(high)}" if high else duration_text(high)
    return longest_text(high) if low == high else f"{duration_text(low)} to {longest_text(high)}"
