"""The pages that users read, cut into their blocks of code. What a block's language promises:

`shell`    commands that tests run over the sample's warehouse
`sh`       commands that need a cluster, a bucket or root: tests check their flags alone
`console`  commands behind `$`, each with the answer that it gives over the sample
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
# Their answers have tests of their own.
COMPARED_ELSEWHERE = frozenset({"history.md", "assignors.md"})
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
CALL = re.compile(r"^(?:\.venv/bin/)?groupscope (.+)$")


@dataclass(frozen=True)
class Block:
    page: Path
    language: str
    text: str


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it with its answer."""

    page: Path
    command: str
    answer: str


def blocks(page):
    result = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [Block(page, language, text) for language, text in result]


def all_blocks():
    for page in PAGES:
        yield from blocks(page)


def lines_of(language):
    """Lines that continue by a backslash are one."""
    wanted = (block for block in all_blocks() if block.language == language)
    return [
        (block.page, line)
        for block in wanted
        for line in re.sub(r"\s*\\\n\s*", " ", block.text).splitlines()
        if line.strip() and not line.startswith("#")
    ]


def calls(language):
    """What follows `groupscope` in each command of blocks of this language."""
    return [(page, call[1]) for page, line in lines_of(language) if (call := CALL.match(line))]


def statements():
    """SQL of the pages: blocks of it, and what is typed behind `groupscope sql`. Without LIMIT, which takes any of tied
    rows: two engines need not take the same."""
    texts = [block.text for block in all_blocks() if block.language == "sql"]
    typed = [call for _, call in calls("shell")]
    typed += [call[1] for page in PAGES for shown in shown_answers(page) if (call := CALL.match(shown.command))]
    texts += [match[1] for call in typed if (match := re.match(r'sql .*?"(SELECT .+?)"', call))]
    return [re.sub(r"\s+LIMIT \d+\s*$", "\n", text) for text in texts]


def shown_answers(page):
    if page.name in COMPARED_ELSEWHERE:
        return []
    texts = [block.text for block in blocks(page) if block.language == "console"]
    parts = [part for text in texts for part in re.split(r"^\$ ", text, flags=re.MULTILINE) if part]
    return [Shown(page, command, answer) for command, _, answer in (part.partition("\n") for part in parts)]
