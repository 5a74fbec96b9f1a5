"""When each member was in the group."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from jobs.reporting.drawings.member_bar import member_bar
from jobs.reporting.drawings.svg import Svg, drawing, join, row_label, text
from jobs.reporting.drawings.time_axis import HEIGHT, TimeAxis
from jobs.reporting.rows.listings import Row, moment
from udfs.sentences.counts import counted

ROW, BAR = 18, 12
MOST_MEMBERS = 30
# What a leave's words need; they are at the left of the end where there is no room at its right.
WORDS_WIDTH = 190


def member_intervals(stays: Sequence[Row], members: Mapping[str, int], axis: TimeAxis) -> Markup:
    """The newest ones; `members`: their numbers."""
    shown = [row for row in stays if axis.shows(row["from_time"], row["to_time"])][-MOST_MEMBERS:]
    height = len(shown) * ROW + 4
    left_out = len(stays) - len(shown)
    more = f", {left_out} more are in the table below" if left_out else ""
    words = f"{counted(len(shown), 'membership')}{more}"
    bars = [member_row(row, place * ROW + 3, members[row["member_id"]], axis) for place, row in enumerate(shown)]
    return drawing("Members", words, height + HEIGHT, axis.draw(height), join(bars))


def member_row(row: Row, top: float, number: int, axis: TimeAxis) -> Svg:
    left, right = axis.x(row["from_time"]), axis.x(row["to_time"])
    until = "now" if row["to_time"] is None else moment(row["to_time"])
    name = f"M{number} {row['client_id'] or row['member_id']}"
    hint = f"M{number} {row['member_id']} at {row['client_host']}, {moment(row['from_time'])} to {until}"
    parts = [row_label(name, top + 10), member_bar(number, left, top, right - left, BAR, hint=hint)]
    if row["leave_kind"]:
        words = row["leave_kind"].replace("_", " ")
        has_room = right + WORDS_WIDTH < axis.x(None)
        place = (right + 5, "start") if has_room else (left - 5, "end")
        if has_room or left - WORDS_WIDTH > axis.x(axis.start):
            parts.append(text(words, place[0], top + 10, "note", place[1]))
    return join(parts)
