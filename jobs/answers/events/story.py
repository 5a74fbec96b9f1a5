"""Describes a rebalance in one sentence: its trigger, what moved, and how long partitions were unread."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs.answers.events.rebalance import TRIGGERS
from jobs.answers.events.unread_cost import unowned_cost, unread_cost
from jobs.answers.events.unread_spans import away_words
from jobs.answers.table_reader import Row
from jobs.output.zones import local_time
from udfs.sentences.counts import counted


def sentence(row: Mapping[str, Any], moves: Sequence[Row], memberships: Sequence[Row]) -> str:
    """Text such as `12:03:07 member m-2 timed out; 6 of 12 partitions moved; 6 partitions were unread for 4 to 6 s
    each`."""
    detail = row["trigger_detail"] or TRIGGERS[row["trigger"]].rstrip(".").lower()
    number = row["num_partitions"]
    moved = "how many partitions moved is unknown"
    if number is not None and row["num_moved"] is not None:
        moved = (
            f"{row['num_moved']:,} of {counted(number, 'partition')} moved"
            if number
            else "no partition is assigned now"
        )
    unread = unread_cost(moves) or unowned_cost(moves) or "the records show no unread partition"
    parts = [f"{clock(row['start_time'])} {detail}", moved, unread, away_words(moves, memberships)]
    return "; ".join(filter(None, parts))


def clock(at: datetime | None) -> str:
    return "at an unknown time" if at is None else f"{local_time(at):%H:%M:%S}"
