"""How long each partition of a group was without a reader, as the readers themselves wrote it down."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

Partition = tuple[str, int]
FREED: Final = ("revoked", "lost", "killed")
# A share group's readers have no callbacks: readers that are this long without records have a gap.
SHARE_GAP_MS: Final = 1_000


@dataclass(frozen=True)
class Line:
    ms: int
    group: str
    client: str
    word: str
    partitions: tuple[Partition, ...]


def truth(folder: Path) -> dict[str, Any]:
    """All gaps, and the events: each member of an event has the gaps of its group that end after the event began."""
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [*diary(folder / "diary.txt"), *diary(folder / "doomed.txt"), *killed(events)]
    by_group = defaultdict(list)
    for line in sorted(lines, key=attrgetter("ms")):
        by_group[line.group].append(line)
    gaps = [gap for group in sorted(by_group) for gap in gaps_of(by_group[group])]
    for event in events:
        for member in event["members"]:
            member["gaps"] = [
                gap for gap in gaps if gap["group"] == member["group"] and gap["to_ms"] >= event["from_ms"]
            ]
    return {"events": events, "gaps": gaps}


def diary(path: Path) -> Iterator[Line]:
    """Its last line may have been cut by the end of the process."""
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        ms, group, client, word, *partitions = line.split(" ")
        parsed = ((topic, int(number)) for topic, number, *_ in (each.split(":") for each in partitions))
        yield Line(int(ms), group, client, word, tuple(parsed))


def killed(events: list[dict[str, Any]]) -> Iterator[Line]:
    for event in events:
        if event["event"] == "killed":
            for member in event["members"]:
                yield Line(event["to_ms"], member["group"], member["client"], "killed", ())


def gaps_of(lines: list[Line]) -> list[dict[str, Any]]:
    has_callbacks = any(line.word == "assigned" for line in lines)
    return list(gaps_by_callbacks(lines) if has_callbacks else gaps_by_reads(lines))


def gaps_by_callbacks(lines: list[Line]) -> Iterator[dict[str, Any]]:
    """From the instant that a reader was without a partition to the one at which the next reader had it."""
    held: dict[Partition, str] = {}
    freed: dict[Partition, tuple[int, str]] = {}
    for index, line in enumerate(lines):
        if line.word in FREED:
            partitions = line.partitions or tuple(at for at, client in held.items() if client == line.client)
            for at in partitions:
                held.pop(at, None)
                freed[at] = line.ms, line.client
        elif line.word == "assigned":
            for at in line.partitions:
                held[at] = line.client
                if at in freed:
                    from_ms, from_client = freed.pop(at)
                    yield {
                        **described(line.group, at, from_ms, line.ms),
                        "from_client": from_client,
                        "to_client": line.client,
                        "last_read_ms": last_read(lines, at, from_client, from_ms),
                        "first_read_ms": first_read(lines[index:], at, line.client),
                    }


def gaps_by_reads(lines: list[Line]) -> Iterator[dict[str, Any]]:
    last: dict[Partition, Line] = {}
    for line in lines:
        if line.word == "read":
            for at in line.partitions:
                before = last.get(at)
                last[at] = line
                if before is not None and line.ms - before.ms > SHARE_GAP_MS:
                    yield {
                        **described(line.group, at, before.ms, line.ms),
                        "from_client": before.client,
                        "to_client": line.client,
                        "last_read_ms": before.ms,
                        "first_read_ms": line.ms,
                    }


def described(group: str, at: Partition, from_ms: int, to_ms: int) -> dict[str, Any]:
    topic, partition = at
    return {"group": group, "topic": topic, "partition": partition, "from_ms": from_ms, "to_ms": to_ms}


def last_read(lines: list[Line], at: Partition, client: str, until_ms: int) -> int | None:
    reads = (
        line.ms
        for line in lines
        if line.ms <= until_ms and line.word == "read" and line.client == client and at in line.partitions
    )
    return max(reads, default=None)


def first_read(lines: list[Line], at: Partition, client: str) -> int | None:
    reads = (line.ms for line in lines if line.word == "read" and line.client == client and at in line.partitions)
    return next(reads, None)
