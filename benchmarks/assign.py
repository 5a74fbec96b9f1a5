"""How long `assign` takes for 10,000 questions about ordinary groups of 2 to 10 members and 1 to 3 topics, of all
assignors in turn. In every second group a member has just joined; the others have what round robin gave them."""

import json
import random
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.commands import groupscope
from benchmarks.durations import Bound, Duration
from benchmarks.run import Run
from benchmarks.start import median_seconds
from udfs.assignors.questions import GroupProtocol, stand_in_id
from udfs.audit.whatif import ALL_CHOICES

LINES = 10_000
MOST_SECONDS = Bound(5.0)


def measure(run: Run) -> Duration:
    file = run.folder / "questions.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in questions(LINES)))
    bare = median_seconds(run, [sys.executable, "-c", "pass"])
    seconds = median_seconds(run, groupscope("assign", file))
    name = f"groupscope assign of {LINES:,} lines about ordinary groups; rival: Python that does nothing"
    return Duration(name, seconds, MOST_SECONDS, bare)


def questions(number: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(7)
    for place in range(number):
        protocol, assignor = ALL_CHOICES[place % len(ALL_CHOICES)]
        topics = {f"topic-{draw.randrange(500)}": draw.choice((3, 6, 12, 24)) for _ in range(draw.randint(1, 3))}
        ids = [f"consumer-{place}-{each}-{draw.getrandbits(64):016x}" for each in range(draw.randint(2, 10))]
        owned: dict[str, dict[str, list[int]]] = {each: {} for each in ids}
        if place % 2:
            for turn, (topic, partition) in enumerate((name, each) for name in topics for each in range(topics[name])):
                owned[ids[turn % (len(ids) - 1)]].setdefault(topic, []).append(partition)
        yield {
            "id": f"group-{place}",
            "group_protocol": protocol,
            "assignor": assignor,
            "topics": [topic_of(name, count, protocol) for name, count in topics.items()],
            "members": [
                {"member_id": each, "subscribed_topics": list(topics)} | claims(owned[each], protocol, assignor)
                for each in ids
            ],
        }


def topic_of(name: str, count: int, protocol: GroupProtocol) -> dict[str, Any]:
    ids = {} if protocol == GroupProtocol.CLASSIC else {"topic_id": stand_in_id(name)}
    return {"name": name, "partitions": count, **ids}


def claims(owned: dict[str, list[int]], protocol: GroupProtocol, assignor: str) -> dict[str, Any]:
    if protocol != GroupProtocol.CLASSIC:
        return {"target": list(owned.items())}
    return {} if assignor == "sticky" or not owned else {"owned": list(owned.items()), "generation": 1}
