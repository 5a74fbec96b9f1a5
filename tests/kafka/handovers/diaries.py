"""Lines of diaries: what readers did and what their callbacks saw, `ms group client word topic:partition[:offset]…`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

Partition = tuple[str, int]
# Words after which a client has these partitions no more; without any named: none of those that it had.
GIVES_UP: Final = ("revoked", "lost", "closing", "killed")
# What a reader writes ten times a second.
POLLS: Final = ("polled", "read")


@dataclass(frozen=True)
class Line:
    ms: int
    group: str
    client: str
    word: str
    partitions: tuple[Partition, ...] = ()


def lines_of(text: str) -> Iterator[Line]:
    """The last line may have been cut by the end of its process."""
    for line in text.split("\n")[:-1]:
        ms, group, client, word, *partitions = line.split(" ")
        parsed = ((topic, int(number)) for topic, number, *_ in (each.split(":") for each in partitions))
        yield Line(int(ms), group, client, word, tuple(parsed))
