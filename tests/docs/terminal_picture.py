"""Draws what `why` prints on the sample, as a terminal of some columns shows it: docs/why.svg, by the golden output.

python -m tests.docs.terminal_picture
"""

import re
from html import escape

from jobs.output.rows import label_lines
from jobs.why import LABEL_WIDTH
from tests.terminals.golden_output import GOLDEN, ROOT

PICTURE = ROOT / "docs" / "why.svg"
OUTPUT = GOLDEN / "why-killed.txt"
COLUMNS = 100
# Of a character, in pixels. Each text says how long it is, so that columns stand below each other in any font.
WIDTH, HEIGHT, EDGE = 8, 18, 16
STYLE = (
    "text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8dee9;white-space:pre}"
    ".typed{fill:#a3be8c}.label{fill:#88c0d0}.unread{fill:#ebcb8b}.unowned{fill:#bf616a}rect{fill:#20242c}"
)
# A row of the drawing: a partition, then who had it; letters are members.
DRAWN = re.compile(r"(?<=  )[A-Z?.]{20,}$")
PARTS = re.compile(r"\?+|\.+|[^?.]+")
CLASSES = {"?": "unread", ".": "unowned"}


def lines():
    """As on a terminal, without the exit code."""
    typed, *printed = OUTPUT.read_text().splitlines()
    yield typed
    for line in printed[: printed.index("--- exit code 0")]:
        label, text = line[:LABEL_WIDTH].rstrip(), line[LABEL_WIDTH + 1 :]
        yield from label_lines(label, text, LABEL_WIDTH, COLUMNS)


def picture():
    shown = list(lines())
    width, height = COLUMNS * WIDTH + 2 * EDGE, len(shown) * HEIGHT + 2 * EDGE
    about = f"What groupscope prints for: {shown[0].removeprefix('$ ')}"
    texts = "\n".join(line_of(number, line) for number, line in enumerate(shown))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n<title>{escape(about)}</title>\n<style>{STYLE}</style>\n'
        f'<rect width="{width}" height="{height}" rx="8"/>\n{texts}\n</svg>\n'
    )


def line_of(number, line):
    y = EDGE + number * HEIGHT + 13
    return "".join(text_of(part, place, y, name) for part, place, name in parts(number, line) if part.strip())


def parts(number, line):
    """Each with its column and its class."""
    if number == 0:
        yield line, 0, "typed"
        return
    label, text = line[:LABEL_WIDTH], line[LABEL_WIDTH:]
    yield label, 0, "label"
    drawn = DRAWN.search(text)
    start = drawn.start() if drawn else len(text)
    yield text[:start], LABEL_WIDTH, ""
    for result in PARTS.finditer(text, start):
        yield result[0], LABEL_WIDTH + result.start(), CLASSES.get(result[0][0], "")


def text_of(part, column, y, name):
    text = part.strip()
    x = EDGE + (column + len(part) - len(part.lstrip())) * WIDTH
    styled = f' class="{name}"' if name else ""
    length = f'textLength="{len(text) * WIDTH}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x}" y="{y}" {length}{styled}>{escape(text)}</text>'


def main(path=PICTURE):
    path.write_text(picture())


if __name__ == "__main__":
    main()
