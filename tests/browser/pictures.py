"""Takes the pictures of the report that README and tour show, in both colour schemes:

    groupscope report --warehouse warehouse --report report
    python -m tests.browser.pictures report/index.html docs

of the sample, after `make audit`. Look at them before you commit them. Each picture holds the texts that it shows, so
that a test finds out when the report says something else.
"""

import json
import sys
import zlib
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import arguments, chromium

GROUP = "#group/modern-static"
# Fragment, colour scheme, width and height.
PICTURES = {
    "report.png": ("", "light", 1440, 900),
    "report-dark.png": ("", "dark", 1440, 900),
    "report-group.png": (GROUP, "light", 1440, 900),
    "report-group-dark.png": (GROUP, "dark", 1440, 900),
}
# Of a PNG: its first bytes, what each chunk adds to its content, and the chunk of a text with its name.
SIGNATURE, AROUND_CONTENT, TEXT_CHUNK = b"\x89PNG\r\n\x1a\n", 12, b"tEXt"
NAME = b"texts\0"
SHOWN_TEXTS = """() => {
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const isInside = [...range.getClientRects()].some(each => each.bottom > 0 && each.top < innerHeight);
    const isDrawn = node.parentElement.checkVisibility({visibilityProperty: true, opacityProperty: true});
    if (isInside && isDrawn && node.data.trim()) texts.push(node.data.trim());
  }
  return texts;
}"""


def take(page, folder):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments())
        for name, (fragment, scheme, width, height) in PICTURES.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(f"{page.resolve().as_uri()}{fragment}")
            tab.wait_for_selector("main svg")
            (folder / name).write_bytes(with_texts(tab.screenshot(), shown_texts(tab)))
            context.close()
        browser.close()


def shown_texts(tab):
    return list(tab.evaluate(SHOWN_TEXTS))


def with_texts(picture, texts):
    content = TEXT_CHUNK + NAME + json.dumps(texts).encode("ascii")
    chunk = len(content[4:]).to_bytes(4, "big") + content + zlib.crc32(content).to_bytes(4, "big")
    # The last chunk, which says that the picture ends, has no content.
    return picture[:-AROUND_CONTENT] + chunk + picture[-AROUND_CONTENT:]


def texts_of(picture):
    result = [content for kind, content in chunks(picture) if kind == TEXT_CHUNK and content.startswith(NAME)]
    return list(json.loads(result[0].removeprefix(NAME))) if result else []


def chunks(picture):
    place = len(SIGNATURE)
    while place < len(picture):
        size = int.from_bytes(picture[place : place + 4], "big")
        yield picture[place + 4 : place + 8], picture[place + 8 : place + 8 + size]
        place += AROUND_CONTENT + size


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
