"""How members look: by colour, and by a pattern and a number for those who see no colours.

The colours are Okabe and Ito's, which people with any kind of colour blindness tell apart; the style sheet has them.
"""

from collections.abc import Iterable

from markupsafe import Markup

from jobs.reporting.drawings.svg import Svg, box, element, join
from jobs.reporting.rows.listings import Row

NUM_COLOURS = 7
PATTERNS = ("plain", "stripes", "dots")
SWATCH = 14


def member_numbers(members: Iterable[Row]) -> dict[str, int]:
    """From 1, in the order in which they joined."""
    numbers: dict[str, int] = {}
    for row in members:
        numbers.setdefault(row["member_id"], len(numbers) + 1)
    return numbers


def member_bar(
    number: int, left: float, top: float, width: float, height: float, kind: str = "", hint: str | None = None
) -> Svg:
    bar = box(left, top, width, height, f"{member_class(number)}{kind}", hint)
    pattern = member_pattern(number)
    return bar if pattern == "plain" else join([bar, box(left, top, width, height, "over", fill=f"url(#{pattern})")])


def swatch(number: int) -> Markup:
    """For the legend, whose text says the rest."""
    bar = member_bar(number, 0, 0, SWATCH, SWATCH)
    return Markup(element("svg", bar, viewBox=f"0 0 {SWATCH} {SWATCH}", class_="swatch", aria_hidden="true"))


def member_class(number: int) -> str:
    return f"m{(number - 1) % NUM_COLOURS}"


def member_pattern(number: int) -> str:
    """Of those that have a colour in common."""
    return PATTERNS[(number - 1) // NUM_COLOURS % len(PATTERNS)]
