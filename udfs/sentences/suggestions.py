"""Suggests a known word for a mistyped one."""

import difflib
from collections.abc import Collection, Iterable, Sequence

from schemas.renames import renamed
from udfs.sentences.counts import counted

# Characters of a name, in a message of one line.
MOST_SHOWN = 100
FEW = 3


def near(word: str, known: Collection[str]) -> str | None:
    """The most similar known word, in upper or lower case. A longer one that begins with the word counts most."""
    lowered = {bare(each): each for each in known}
    begins = sorted((each for each in lowered if bare(word) and each.startswith(bare(word))), key=len)
    nearest = begins[:1] or difflib.get_close_matches(bare(word), lowered, n=1)
    return lowered[nearest[0]] if nearest else None


def bare(word: str) -> str:
    """Without the hyphens, which make all flags similar."""
    return word.lower().lstrip("-")


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Text such as ` (did you mean --format?)`, or nothing. Of an old name: what it is called since."""
    if since := renamed(word):
        return f" ({since})"
    nearest = near(word, known)
    return "" if nearest is None else f" (did you mean {nearest}?)"


def nearest_to(word: str, known: Iterable[str], cutoff: float = 0.3) -> str:
    """For names in files: text such as `, the nearest is billing`, or nothing. Of an old name: what it is called
    since."""
    if since := renamed(word):
        return f", {since}"
    return "".join(
        f", the nearest is {each}" for each in difflib.get_close_matches(word, sorted(known), n=1, cutoff=cutoff)
    )


def unknown(what: str, name: str, known: Sequence[str], lister: str = "") -> str:
    """Text such as `no group "biling"; did you mean "billing"? (5 groups: groupscope groups)`. `lister`: the command
    that lists all."""
    shown = name if len(name) <= MOST_SHOWN else name[: MOST_SHOWN - 1] + "…"
    # There may be a group without a name.
    meant = near(name, [each for each in known if each])
    # For a few, a list is more useful than the command that lists them.
    which = ", ".join(known) if len(known) <= FEW else lister
    number = counted(len(known), what) if known else f"there is no {what} yet; run `groupscope audit`"
    question = "" if meant is None else f'; did you mean "{meant}"?'
    return f'no {what} "{shown}"{question} ({number}{f": {which}" if which else ""})'
