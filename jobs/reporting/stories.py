"""What happened to a group, in words: rebalances, each with what `groupscope why` says of it."""

from collections.abc import Mapping, Sequence

from jobs.answers.events.changed_members import CLIENT, left_only
from jobs.answers.events.rebalance import EventStory, lines, taken_by_event
from jobs.answers.events.stale_leaders import StaleLeaders, rows_told
from jobs.answers.events.timeline import is_empty, rebalance, with_marks, with_unread
from jobs.answers.events.unread_spans import Waits
from jobs.answers.short_ids import ShortIds
from jobs.answers.table_reader import Row
from jobs.output.failure import visible
from jobs.reporting.columns import Answer

UNKNOWN = dict.fromkeys(CLIENT)
Lines = list[list[str]]


def told_lines(stories: Mapping[str, Answer], group: str, marks: Sequence[Row]) -> dict[int, Lines]:
    """Labels and texts, by assignment. `marks`: about the group."""
    rows = {name: answer.dicts(group) for name, answer in stories.items()}
    if not rows["rebalances"]:
        return {}
    stale = StaleLeaders.of(rows["audits"])
    waits = Waits(not is_empty(rows["states"]), stale.topics_now)
    events = with_marks(map(rebalance, rows_told(rows["rebalances"], stale)), marks)
    events = list(with_unread(events, rows["moves"], waits))
    stays = {row["member_id"]: row for row in rows["members"]}
    by_assignment: dict[int, list[Row]] = {}
    for move in rows["moves"]:
        by_assignment.setdefault(move["assignment_offset"], []).append(move)
    taken = taken_by_event(rows["moves"], waits)
    result = {}
    for place, event in enumerate(events):
        if not event.row["is_told"]:
            continue
        before, after = events[place - 1] if place else None, events[place + 1] if place + 1 < len(events) else None
        members = [
            {"change": change, **UNKNOWN, **stays.get(member, {}), "member_id": member, **left_only(change)}
            for change, some in (("joined", "members_joined"), ("left", "members_departed"))
            for member in event.row[some] or ()
        ]
        moves = by_assignment.get(event.offset, [])
        of_event = taken.get(event.offset, ()) if event.has_moves else ()
        story = EventStory(event, before, after, members, moves, of_event)
        # The page names the group.
        whole = [each for each in lines(story, event.row["start_time"]) if each[0] != "Group"]
        ids = {row["member_id"] for row in members} | {
            move[name] for move in moves for name in ("from_member_id", "to_member_id") if move[name]
        }
        short = ShortIds(ids, (text for _, text in whole))
        result[event.offset] = [[label, visible(short.text(text))] for label, text in whole]
    return result
