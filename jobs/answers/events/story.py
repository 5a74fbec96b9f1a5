"""Describes a rebalance in one sentence: its trigger, what moved, and how long partitions were unread."""

from datetime import datetime

from jobs.answers.events.rebalance import TRIGGERS, EventStory
from jobs.answers.events.unread_cost import taken_cost, unowned_cost, unread_cost
from jobs.output.zones import local_time
from udfs.sentences.counts import counted


def sentence(story: EventStory) -> str:
    """Text such as `12:03:07 member m-2 timed out; 6 of 12 partitions moved; 6 partitions were unread for 4 to 6 s
    each`."""
    row, moves = story.event.row, story.moves
    detail = row["trigger_detail"] or TRIGGERS[row["trigger"]].rstrip(".").lower()
    number = row["num_partitions"]
    moved = "how many partitions moved is unknown"
    if number is not None and row["num_moved"] is not None:
        moved = (
            f"{row['num_moved']:,} of {counted(number, 'partition')} moved"
            if number
            else "no partition is assigned now"
        )
    left = taken_cost(story.taken)
    unread = "; ".join(filter(None, (unread_cost(moves) or unowned_cost(moves), left)))
    return f"{clock(row['start_time'])} {detail}; {moved}; {unread or 'the records show no unread partition'}"


def clock(at: datetime | None) -> str:
    return "at an unknown time" if at is None else f"{local_time(at):%H:%M:%S}"
