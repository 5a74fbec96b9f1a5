"""Who could read each partition, and for how long nobody could, as the readers themselves wrote it down.

A reader has a partition from its callback that it is assigned. It last could read it

- when the callback began that it is revoked, or when it began to close, or when its process was killed;
- when it began to stand still, or last polled, if its callback then says that the partition is lost, or another reader
  has it before such a callback.

A gap lasts from there to the next reader's callback. A reader that polls on while another one has its partition, which
it hears of later, leaves no gap: such a change is an overlap. New partitions of a topic are without a reader from when
they were asked for; they have been there for `least_ms`. An application of streams that closes reads its last record
some time before its tasks end: the gap begins with that record, and lasts for `least_ms` after the end. Share groups
have no callbacks: their gaps are those between two readers that are alone, up to the first record; it was `least_ms`
until the next one began.

In a group of a deleted topic nobody is asked who reads: Java's classic members try to commit it for up to a minute, in
which they read nothing, and no record says that.

When a member is stuck by a fault of its library, so that it polls on and does not join again, later gaps of its group
are left out: no log shows why they last.
"""

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from tests.kafka.handovers.diaries import BEATS, GIVES_UP, POLLS, Line, Partition, lines_of
from tests.kafka.handovers.play import CONFLUENT, SHARE, STREAMS

Row = dict[str, Any]
# A reader writes a line as often.
POLL_MS: Final = 100
# The coordinator answers as soon, and what it answers so near to a begin or an end counts.
ANSWER_MS: Final = 50
NEAR_MS: Final = 500


@dataclass
class Reader:
    """What one client wrote until now."""

    holds: dict[Partition, int] = field(default_factory=dict)
    polled_ms: int = 0
    standing_ms: int | None = None
    is_leaving: bool = False

    @property
    def last_ms(self) -> int:
        """When it last could read, if it has not gone on since."""
        return self.polled_ms if self.standing_ms is None else self.standing_ms


@dataclass(frozen=True)
class Freed:
    ms: int
    client: str
    word: str


class History:
    """Of one group, line by line."""

    def __init__(
        self, group: str, facts: Row, events: list[Row], lines: list[Line], answers: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.group, self.facts, self.events, self.lines, self.answers = group, facts, events, lines, answers
        self.readers: dict[str, Reader] = defaultdict(Reader)
        self.freed: dict[Partition, Freed] = {}
        self.gaps: list[Row] = []
        self.held: list[Row] = []
        self.overlaps: list[Row] = []
        self.reads: dict[tuple[str, Partition], list[int]] = defaultdict(list)
        self.of_client: dict[str, list[Line]] = defaultdict(list)
        for line in lines:
            self.of_client[line.client].append(line)
            if line.word == "read":
                for at in line.partitions:
                    self.reads[line.client, at].append(line.ms)
        for line in lines:
            self._add(line)
        for client, reader in self.readers.items():
            for at, from_ms in reader.holds.items():
                self._hold(client, at, from_ms, None)

    def _add(self, line: Line) -> None:
        reader = self.readers[line.client]
        if line.word in POLLS:
            reader.polled_ms, reader.standing_ms = line.ms, None
        elif line.word == "standing":
            reader.standing_ms = line.ms
        elif line.word in ("closing", "leaving"):
            reader.is_leaving = True
        elif line.word == "started":
            reader.is_leaving, reader.polled_ms = False, line.ms
        if line.word == "assigned":
            reader.standing_ms = None
            for at in line.partitions:
                self._assigned(line, at)
        elif line.word in GIVES_UP:
            for at in line.partitions if line.word in ("revoked", "lost") else tuple(reader.holds):
                self._gave_up(line, at, reader)

    def _assigned(self, line: Line, at: Partition) -> None:
        others = [client for client, each in self.readers.items() if at in each.holds and client != line.client]
        for client in others:
            other = self.readers[client]
            if other.standing_ms is not None:
                self._hold(client, at, other.holds.pop(at), other.standing_ms)
                self.freed[at] = Freed(other.standing_ms, client, "lost")
            else:
                self.overlaps.append(self._row(at) | {"client": client, "by_client": line.client, "from_ms": line.ms})
        freed = self.freed.pop(at, None)
        if freed is not None and not (set(others) - {freed.client}):
            self._gap(at, freed, line)
        elif freed is None and not others and (grown := self._grown(at, line.ms)):
            self.gaps.append(
                self._row(at) | {"from_ms": grown["from_ms"], "to_ms": line.ms, "least_ms": line.ms - grown["to_ms"],
                                 "from_client": None, "to_client": line.client, "last_read_ms": None,
                                 "first_read_ms": self._first_read(at, line), "stall_ms": 0, "way": "topic_grown"}
            )  # fmt: skip
        self.readers[line.client].holds.setdefault(at, line.ms)

    def _gave_up(self, line: Line, at: Partition, reader: Reader) -> None:
        """Nothing changes for whoever has had it no more."""
        from_ms = reader.holds.pop(at, None)
        if from_ms is None:
            return
        last_ms = reader.last_ms if line.word == "lost" else line.ms
        self._hold(line.client, at, from_ms, last_ms)
        if not any(at in each.holds for each in self.readers.values()):
            word = "closing" if line.word == "revoked" and reader.is_leaving else line.word
            self.freed[at] = Freed(last_ms, line.client, word)

    def _gap(self, at: Partition, freed: Freed, line: Line) -> None:
        row = {
            "from_ms": freed.ms,
            "to_ms": line.ms,
            "from_client": freed.client,
            "to_client": line.client,
            "last_read_ms": self._last_read(at, freed),
            "first_read_ms": self._first_read(at, line),
            "stall_ms": self._stall_ms(freed, line),
        }
        if self.facts["kind"] == STREAMS and freed.word == "closing" and row["last_read_ms"] is not None:
            row |= {"from_ms": row["last_read_ms"], "least_ms": line.ms - freed.ms}
        self.gaps.append(self._row(at) | row | {"way": self._way(freed, line)})

    def _stall_ms(self, freed: Freed, line: Line) -> int:
        """By how much a busy machine was late: with what the old reader did after it gave up, with a poll of the new
        one until it had the partition, or with an answer of the coordinator at the end."""
        new = [each for each in self.of_client[line.client] if freed.ms <= each.ms <= line.ms]
        since = max((number for number, each in enumerate(new) if each.word == "started"), default=0)
        return max(self._late_ms(freed.client, freed.ms, line.ms), self._silence_ms(new[since:]),
                   self._answer_ms(line.ms - NEAR_MS, line.ms))  # fmt: skip

    def _late_ms(self, client: str, ms: int, until_ms: float) -> int:
        """With what a reader did after it gave up, until its next poll: commits of callbacks, for one."""
        lines = [each for each in self.of_client[client] if ms <= each.ms <= until_ms]
        end = next((number for number, each in enumerate(lines) if number and each.word in (*POLLS, "closed")), 0)
        return max(self._silence_ms(lines[: end + 1]), self._answer_ms(ms, ms + NEAR_MS))

    def _silence_ms(self, lines: Sequence[Line]) -> int:
        silences = [after.ms - before.ms - self._callback_ms(before) for before, after in pairwise(lines)]
        return max(0, max(silences, default=0) - POLL_MS)

    def _answer_ms(self, from_ms: int, to_ms: int) -> int:
        answers = [end - begin for begin, end in self.answers if begin <= to_ms and end >= from_ms]
        return max(0, max(answers, default=0) - ANSWER_MS)

    def _callback_ms(self, line: Line) -> int:
        return int(self.facts["slow_ms"]) if line.word == "revoked" and line.partitions else 0

    def _way(self, freed: Freed, line: Line) -> str:
        if any(each["event"] == "restarted" and each["from_ms"] <= line.ms and each["to_ms"] >= freed.ms
               for each in self.events):  # fmt: skip
            return "failover"
        if freed.word == "lost":
            return "stood_still"
        if freed.word == "revoked":
            return "returned" if freed.client == line.client else "handed_over"
        if self.facts["is_static"]:
            return "static_restart" if freed.client == line.client else "static_expired"
        if not any(each.ms >= freed.ms and each.client not in (freed.client, line.client) for each in self.lines
                   if each.ms <= line.ms) and self._joined_ms(line.client) >= freed.ms:  # fmt: skip
            return "only_member_restarted"
        return "killed" if freed.word == "killed" else "left"

    def _joined_ms(self, client: str) -> int:
        return next(line.ms for line in self.lines if line.client == client)

    def _grown(self, at: Partition, ms: int) -> Row | None:
        for event in self.events:
            is_new = event["event"] == "topic_grown" and event["topic"] == at[0]
            if is_new and at[1] >= event["partitions_before"] and ms >= event["from_ms"]:
                return event
        return None

    def _row(self, at: Partition) -> Row:
        return described(self.group, self.facts, at)

    def _hold(self, client: str, at: Partition, from_ms: int, to_ms: int | None) -> None:
        reads = self.reads[client, at]
        number = len(reads) if to_ms is None else bisect_right(reads, to_ms)
        last = reads[number - 1] if number and reads[number - 1] >= from_ms else None
        stall_ms = 0 if to_ms is None else self._late_ms(client, to_ms, inf)
        self.held.append(self._row(at) | {"client": client, "from_ms": from_ms, "to_ms": to_ms, "last_read_ms": last,
                                          "stall_ms": stall_ms})  # fmt: skip

    def _last_read(self, at: Partition, freed: Freed) -> int | None:
        reads = self.reads[freed.client, at]
        number = bisect_right(reads, freed.ms)
        return reads[number - 1] if number else None

    def _first_read(self, at: Partition, line: Line) -> int | None:
        reads = self.reads[line.client, at]
        number = bisect_left(reads, line.ms)
        return reads[number] if number < len(reads) else None


def described(group: str, facts: Row, at: Partition) -> Row:
    return {
        "group": group,
        "group_kind": facts["kind"],
        "commits": facts["commit_ms"] > 0,
        # librdkafka commits when its callback ends: if that takes long, it looks as if it had read until then.
        "commits_late": facts["library"] == CONFLUENT and facts["slow_ms"] > 0,
        "topic": at[0],
        "partition": at[1],
    }


def gaps_of_shares(group: str, facts: Row, lines: list[Line]) -> Iterator[Row]:
    """While nobody is a member: from when the last one began to close to the first records of the next one."""
    started: dict[str, int] = {}
    freed: Line | None = None
    last: dict[Partition, Line] = {}
    for line in lines:
        if line.word == "started":
            started[line.client] = line.ms
        elif line.word == "closing":
            del started[line.client]
            freed = None if started else line
        elif line.word == "read":
            for at in line.partitions:
                before, last[at] = last.get(at), line
                if freed is not None and before is not None and before.ms <= freed.ms <= started.get(line.client, 0):
                    row = {"from_ms": freed.ms, "to_ms": line.ms, "least_ms": started[line.client] - freed.ms,
                           "from_client": before.client, "to_client": line.client, "last_read_ms": before.ms,
                           "first_read_ms": line.ms, "stall_ms": 0, "way": "only_member_restarted"}  # fmt: skip
                    yield described(group, facts, at) | row


def answers_of(lines: list[Line], restarts: list[Row]) -> list[tuple[int, int]]:
    """When the coordinator was asked and when it answered; not while the broker was away."""
    beats = [(asked.ms, answered.ms) for asked, answered in pairwise(sorted(lines, key=attrgetter("ms")))
             if (asked.word, answered.word) == ("asked", "answered")]  # fmt: skip
    return [(begin, end) for begin, end in beats
            if not any(begin <= each["to_ms"] and end >= each["from_ms"] for each in restarts)]  # fmt: skip


def truth(folder: Path) -> Row:
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    groups = json.loads((folder / "groups.json").read_text(encoding="utf-8"))
    by_group: dict[str, list[Line]] = defaultdict(list)
    for path in sorted(folder.glob("diary-*.txt")):
        for line in lines_of(path.read_text(encoding="utf-8")):
            by_group[line.group].append(line)
    answers = answers_of(by_group[BEATS], [each for each in events if each["event"] == "restarted"])
    deleted = {event["topic"] for event in events if event["event"] == "topic_deleted"}
    found: Row = {"events": events, "groups": groups, "gaps": [], "held": [], "overlaps": []}
    for group, facts in groups.items():
        # Of one millisecond: who gives up comes before who gets.
        lines = sorted(by_group[group], key=lambda line: (line.ms, line.word == "assigned"))
        if facts["kind"] == SHARE:
            found["gaps"] += gaps_of_shares(group, facts, lines)
            continue
        history = History(group, facts, events, lines, answers)
        stuck = [each["from_ms"] for each in events if each["event"] == "stuck" and each["group"] == group]
        found["gaps"] += [gap for gap in history.gaps if not stuck or gap["to_ms"] < stuck[0]]
        if not deleted & set(facts["topics"]):
            found["held"] += history.held
        found["overlaps"] += history.overlaps
    found["gaps"].sort(key=lambda gap: (gap["group"], gap["to_ms"], gap["topic"], gap["partition"]))
    return found
