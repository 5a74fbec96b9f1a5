"""A group's states over time, and above them its rebalances, each marked by the letter of its cause."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from jobs.answers.durations import duration_text
from jobs.reporting.drawings.marks import STATES, letter
from jobs.reporting.drawings.svg import Svg, box, drawing, element, join, row_label, text, upright
from jobs.reporting.drawings.time_axis import HEIGHT, TimeAxis
from jobs.reporting.rows.listings import Row, moment
from udfs.sentences.counts import counted

MARKS, BAR = 30, 26
# Letters nearer to each other would be one blot: their number is written instead.
LETTER_WIDTH = 13
# What a letter of a state's name needs in its bar.
LETTER_SHARE = 8


def state_timeline(states: Sequence[Row], rebalances: Sequence[Row], axis: TimeAxis) -> Markup:
    bars = [state_box(row, axis) for row in states if axis.shows(row["from_time"], row["to_time"])]
    here = [row for row in rebalances if axis.shows(row["start_time"], row["end_time"])]
    words = (
        f"{counted(len(bars), 'time in one state', 'times in one state')} and "
        f"{counted(len(here), 'rebalance')} from {moment(axis.start)} to {moment(axis.end)}"
    )
    return drawing(
        "States and rebalances", words, MARKS + BAR + HEIGHT,
        axis.draw(MARKS + BAR), row_label("rebalances", 16), row_label("state", MARKS + 18), join(bars),
        join(rebalance_lines(here, axis)), join(rebalance_letters(here, axis)),
    )  # fmt: skip


def state_box(row: Row, axis: TimeAxis) -> Svg:
    left, right = axis.x(row["from_time"]), axis.x(row["to_time"])
    state = row["state"] or "unknown"
    until = "now" if row["to_time"] is None else moment(row["to_time"])
    hint = f"{state}, {row['num_members']} members, {moment(row['from_time'])} to {until}"
    bar = box(left, MARKS, right - left, BAR, f"state {STATES.get(state, 'unknown')}", hint)
    has_room = right - left > LETTER_SHARE * len(state)
    return join([bar, text(state, left + 5, MARKS + 17, "on-bar")]) if has_room else bar


def rebalance_lines(rebalances: Sequence[Row], axis: TimeAxis) -> Iterator[Svg]:
    for row in rebalances:
        yield upright(axis.x(row["start_time"]), 20, MARKS + BAR, "rebalance")


def rebalance_letters(rebalances: Sequence[Row], axis: TimeAxis) -> Iterator[Svg]:
    for some in near_each_other(rebalances, axis):
        first, last = axis.x(some[0]["start_time"]), axis.x(some[-1]["start_time"])
        words = letter(some[0]["trigger"]) if len(some) == 1 else f"{len(some)} \u00d7"
        hint = "; ".join(rebalance_hint(row) for row in some[:8])
        yield element(
            "g", element("title", hint), text(words, (first + last) / 2, 15, "cause", "middle"), class_="mark"
        )  # fmt: skip


def near_each_other(rebalances: Sequence[Row], axis: TimeAxis) -> Iterator[list[Row]]:
    some: list[Row] = []
    for row in sorted(rebalances, key=lambda row: row["start_time"]):
        if some and axis.x(row["start_time"]) - axis.x(some[-1]["start_time"]) > LETTER_WIDTH:
            yield some
            some = []
        some.append(row)
    if some:
        yield some


def rebalance_hint(row: Row) -> str:
    took = "" if row["duration_ms"] is None else f" in {duration_text(row['duration_ms'])}"
    return f"{moment(row['start_time'])} {row['trigger']}{took}"
