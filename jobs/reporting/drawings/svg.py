"""SVG elements as escaped text. Colours are classes, so that the page's style sheet decides them by day and by night:
the page's policy forbids styles of elements.

A report has millions of elements. Each is one format of all its numbers; those that are drawn most have functions of
their own.
"""

from collections.abc import Iterable
from functools import cache, lru_cache

from markupsafe import Markup, escape

from jobs.output.failure import visible
from jobs.reporting.rows.names import shorten

Number = float | int
# Of every drawing, in units of its own; the page makes it as wide as there is room.
WIDTH = 1_000
GUTTER = 190
# Of a label, which has the beginning and the end of a long name.
MOST_LABEL, LABEL_END = 26, 8


class Svg(str):
    """Text that is markup already. Markup itself would be the same, but takes three times as long to make."""

    __slots__ = ()


def element(name: str, *inner: str, **attributes: str | Number | None) -> Svg:
    """Attributes of None are left out; an underscore in a name is a hyphen, the one at the end of `class_` nothing."""
    written = "".join(
        [f' {attribute_name(key)}="{number_text(value)}"' for key, value in attributes.items() if value is not None]
    )
    return close_element(f"<{name}{written}", name, join(inner))


def close_element(opened: str, name: str, inner: str) -> Svg:
    """`inner`: markup."""
    return Svg(f"{opened}>{inner}</{name}>" if inner else f"{opened}/>")


@cache
def attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


@lru_cache(4_096)
def escape_value(value: str) -> str:
    """Attributes are classes and the like, most of them alike."""
    return str(escape(value))


def number_text(value: str | Number) -> str:
    if isinstance(value, str):
        return escape_value(value)
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def numbers(text: str) -> str:
    """Attributes that are numbers with one decimal, without those that are zero."""
    return text.replace('.0"', '"')


def join(elements: Iterable[str]) -> Svg:
    """What is markup already is not looked at again."""
    return Svg("".join([each if type(each) is Svg else escape(each) for each in elements]))


def title(hint: str | None) -> str:
    """What a pointer shows."""
    return f"<title>{escape(shorten(hint))}</title>" if hint else ""


def box(
    left: float, top: float, width: float, height: float, kind: str, hint: str | None = None, fill: str | None = None
) -> Svg:
    """At least a hair wide: a rebalance of milliseconds must be seen among days."""
    place = numbers(f'x="{left:.1f}" y="{top:.1f}" width="{max(width, 1.5):.1f}" height="{height:.1f}"')
    filled = "" if fill is None else f' fill="{escape_value(fill)}"'
    return close_element(f'<rect {place} class="{escape_value(kind)}"{filled}', "rect", title(hint))


def upright(x: float, top: float, bottom: float, kind: str) -> Svg:
    """A line at one time."""
    place = numbers(f'x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"')
    return Svg(f'<line {place} class="{escape_value(kind)}"/>')


def disc(x: float, y: float, radius: float, kind: str, hint: str | None = None) -> Svg:
    place = numbers(f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"')
    return close_element(f'<circle {place} class="{escape_value(kind)}"', "circle", title(hint))


def text(words: str, x: float, y: float, kind: str, anchor: str | None = None) -> Svg:
    place = numbers(f'x="{x:.1f}" y="{y:.1f}"')
    anchored = "" if anchor is None else f' text-anchor="{escape_value(anchor)}"'
    return Svg(f'<text {place} class="{escape_value(kind)}"{anchored}>{escape(words)}</text>')


def row_label(words: str, y: float) -> Svg:
    """At the left of a row, in full when pointed at."""
    whole = visible(words)
    short = whole if len(whole) <= MOST_LABEL else f"{whole[: MOST_LABEL - LABEL_END - 1]}…{whole[-LABEL_END:]}"
    hint = [element("title", shorten(words))] if short != words else []
    return element("text", short, *hint, x=GUTTER - 8, y=y, class_="label", text_anchor="end")


def drawing(name: str, summary: str, height: float, *inner: str) -> Markup:
    """`name` and `summary`: what is read out to those who do not see it."""
    return Markup(element(
        "svg", element("title", name), element("desc", summary), *inner,
        viewBox=f"0 0 {WIDTH} {number_text(float(height))}", role="img", aria_label=f"{name}: {summary}",
        class_="drawing",
    ))  # fmt: skip
