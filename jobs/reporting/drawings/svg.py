"""SVG elements as escaped text. Colours are classes, so that the page's style sheet decides them by day and by night:
the page's policy forbids styles of elements."""

from collections.abc import Iterable
from functools import cache, lru_cache

from markupsafe import Markup, escape

from jobs.reporting.names import cut

Number = float | int
# Of every drawing, in units of its own; the page makes it as wide as there is room.
WIDTH = 1_000
GUTTER = 190
MOST_LABEL = 26


def element(name: str, *inner: str, **attributes: str | Number | None) -> Markup:
    """Attributes of None are left out; an underscore in a name is a hyphen, the one at the end of `class_` nothing."""
    told = "".join([f' {named(key)}="{shown(value)}"' for key, value in attributes.items() if value is not None])
    body = joined(inner)
    return Markup(f"<{name}{told}>{body}</{name}>" if body else f"<{name}{told}/>")


@cache
def named(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


@lru_cache(4_096)
def escaped(value: str) -> str:
    """Attributes are classes and the like, most of them alike."""
    return str(escape(value))


def shown(value: str | Number) -> str:
    if isinstance(value, str):
        return escaped(value)
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def joined(elements: Iterable[str]) -> Markup:
    """A report has millions of these: what is markup already is not looked at again, as Markup's own join does."""
    return Markup("".join([each if isinstance(each, Markup) else escape(each) for each in elements]))


def box(
    left: float, top: float, width: float, height: float, kind: str, hint: str | None = None, **more: str | Number
) -> Markup:
    """At least a hair wide: a rebalance of milliseconds must be seen among days."""
    inner = [element("title", cut(hint))] if hint else []
    return element(
        "rect", *inner, x=left, y=top, width=max(width, 1.5), height=height, class_=kind, **more
    )  # fmt: skip


def text(words: str, x: float, y: float, kind: str | None = None, anchor: str | None = None) -> Markup:
    return element("text", words, x=x, y=y, class_=kind, text_anchor=anchor)


def row_label(words: str, y: float) -> Markup:
    """At the left of a row, in full when pointed at."""
    short = cut(words, MOST_LABEL)
    hint = [element("title", cut(words))] if short != words else []
    return element("text", short, *hint, x=GUTTER - 8, y=y, class_="label", text_anchor="end")


def drawing(name: str, summary: str, height: float, *inner: str) -> Markup:
    """`name` and `summary`: what is read out to those who do not see it."""
    return element(
        "svg", element("title", name), element("desc", summary), *inner,
        viewBox=f"0 0 {WIDTH} {shown(float(height))}", role="img", aria_label=f"{name}: {summary}", class_="drawing",
    )  # fmt: skip
