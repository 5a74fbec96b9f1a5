"""Lag and messages read over time, one above the other, with resets and rebalances marked."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from markupsafe import Markup

from jobs.output.zones import moved
from jobs.reporting.drawings.svg import (
    GUTTER,
    WIDTH,
    Svg,
    box,
    disc,
    drawing,
    element,
    join,
    row_label,
    text,
    upright,
)
from jobs.reporting.drawings.time_axis import HEIGHT, TimeAxis
from jobs.reporting.rows.listings import Row, moment

PLOT, SPACE, TOP = 76, 14, 12
# From a line of a label to the next one.
LINE = 14


def lag_chart(
    points: Sequence[Row], rates: Sequence[Row], resets: Sequence[Row], rebalances: Sequence[Row], axis: TimeAxis
) -> Markup:
    known = [row["lag"] for row in points if row["lag"] is not None]
    most = max(known, default=0)
    fastest = max((row["messages_consumed_per_s"] or 0 for row in rates), default=0)
    lower = TOP + PLOT + SPACE
    height = lower + PLOT
    words = (
        f"lag at {len(points)} snapshots, at most {most:,} messages; at most {fastest:,.1f} messages read a second; "
        f"{len(resets)} resets"
    )
    return drawing(
        "Lag and messages read", words, height + HEIGHT,
        axis.draw(height), join(event_lines(rebalances, "start_time", "rebalance", height, axis)),
        join(event_lines(resets, "at_time", "reset", height, axis)),
        frame(TOP, "lag in messages", f"up to {most:,}"), join(lag_lines(points, max(most, 1), axis)),
        frame(lower, "messages read a second", f"up to {fastest:,.1f}"),
        join(rate_bars(rates, fastest or 1, lower, axis)),
        join(reset_marks(resets, axis)),
    )  # fmt: skip


def frame(top: float, what: str, most: str) -> Svg:
    """Two short lines, since the place for labels is narrow and the number may be long."""
    line = element("line", x1=GUTTER, x2=WIDTH - 10, y1=top + PLOT, y2=top + PLOT, class_="axis")
    return join([line, row_label(what, top + 12), row_label(most, top + 12 + LINE)])


def lag_lines(points: Sequence[Row], most: float, axis: TimeAxis) -> Iterator[Svg]:
    """A point of which not all partitions are known ends the line: what is not known is not zero."""
    for some in known_runs(points):
        places = [(axis.x(row["snapshot_time"]), TOP + PLOT * (1 - row["lag"] / most)) for row in some]
        yield element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_="lag")
        for (x, y), row in zip(places, some, strict=True):
            yield disc(x, y, 2.5, "lag-point", f"{moment(row['snapshot_time'])}: {row['lag']:,} messages")


def known_runs(points: Sequence[Row]) -> Iterator[list[Row]]:
    some: list[Row] = []
    for row in points:
        if row["lag"] is None or row["num_unknown"]:
            if some:
                yield some
            some = []
        else:
            some.append(row)
    if some:
        yield some


def rate_bars(rates: Sequence[Row], fastest: float, top: float, axis: TimeAxis) -> Iterator[Svg]:
    for row in rates:
        end = moved(row["bucket_time"], timedelta(milliseconds=row["bucket_ms"]))
        rate = row["messages_consumed_per_s"]
        if rate is None or not axis.shows(row["bucket_time"], end):
            continue
        left, right = axis.x(row["bucket_time"]), axis.x(end)
        height = PLOT * rate / fastest
        hint = f"{moment(row['bucket_time'])}: {rate:,.1f} messages a second"
        yield box(left, top + PLOT - height, right - left - 1, height, "rate", hint)


def event_lines(rows: Sequence[Row], time: str, kind: str, height: float, axis: TimeAxis) -> Iterator[Svg]:
    for row in rows:
        if axis.shows(row[time], row[time]):
            yield upright(axis.x(row[time]), TOP, height, kind)


def reset_marks(resets: Sequence[Row], axis: TimeAxis) -> Iterator[Svg]:
    for row in resets:
        if axis.shows(row["at_time"], row["at_time"]):
            hint = element("title", f"{moment(row['at_time'])}: {row['topic']} {row['kind']} by {row['actor']}")
            yield element("g", hint, text("▼", axis.x(row["at_time"]), 10, "reset-mark", "middle"), class_="mark")
