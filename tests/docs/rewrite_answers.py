"""Writes into the pages what their commands answer over the sample now:

    python -m tests.docs.rewrite_answers

An answer with a line `…`, for lines left out, stays as it is: mend it by hand where the tests call it wrong.
"""

import sys
import tempfile
from pathlib import Path

from tests.audited_sample import audit_sample
from tests.docs.pages import PAGES, shown_answers
from tests.docs.workplace import laid_out, typed

LEFT_OUT = "…"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        audited = folder / "audited"
        audit_sample(audited)
        place = folder / "place"
        place.mkdir()
        laid_out(place, audited)
        for page in PAGES:
            rewrite(page, place)
    return 0


def rewrite(page, place):
    text = page.read_text(encoding="utf-8")
    for shown in shown_answers(page):
        if LEFT_OUT not in shown.answer.splitlines():
            text = text.replace(block_text(shown, shown.answer), block_text(shown, typed(shown.command, place).stdout))
    page.write_text(text, encoding="utf-8")


def block_text(shown, answer):
    return f"$ {shown.command}\n{answer}"


if __name__ == "__main__":
    sys.exit(main())
