"""The door of history: logs in, the tables of a replay out, by the code of every replay.

    history(log).of("rebalances trigger confidence")        # ["group_created certain", …]
    assert_says(histories(CASES)[name])                     # cases with what they say

Every log is replayed in one run, and in a run for each operation (a long one in four), which must give the same rows.
Logs that miss no record are replayed together: each stands in the same offsets partition under a group name, offsets,
producers and times of its own, so that hundreds of cases cost as much as one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

from jobs.replaying.task.replay_messages import Rules
from schemas.words.records import OFFSETS_TOPIC
from tests.make.coordinator import topic_id
from tests.make.log import T0, Decoded, Log, LoggedBatch, between, decoded, without_columns
from tests.runs.agreement import difference
from tests.runs.memory_runs import MemoryRuns
from udfs.log.offset_ranges import Range
from udfs.topics.names import Snapshots

# Times and producers of logs that stand side by side are so far apart.
DAYS: Final = 100
PRODUCERS: Final = 1_000
MOST_RUNS: Final = 12
START: Final = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=T0)
TABLES: Final = {
    "states": "group_state_intervals", "members": "membership_intervals", "owners": "ownership_intervals",
    "sets": "generation_members", "moves": "partition_moves", "anomalies": "replay_anomalies",
    "offsets": "offset_history", "rebalances": "rebalances", "transactions": "transactions",
}  # fmt: skip
# Columns that hold an offset of the log, not one that was committed.
PLACES: Final = re.compile(r"((from|to)_record|(evidence_)?(first|last)|assignment|move|record)_offset")
FIRST: Final = ("from_record_offset", "move_offset", "assignment_offset", "record_offset", "first_offset")
Row = dict[str, Any]


@dataclass
class Stream:
    """Logs of one offsets partition: what each run brings, and of each batch the log that it is of."""

    logs: list[tuple[str, Log]]
    batches: list[LoggedBatch] = field(default_factory=list)
    runs: list[list[Range]] = field(default_factory=list)
    # By log, the log's own offset of each offset.
    places: dict[str, dict[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        offset = -1
        for step in range(max((len(log.batches) for _, log in self.logs), default=0)):
            spans = []
            for number, (name, log) in enumerate(self.logs):
                for batch in log.batches[step : step + 1]:
                    first = offset + 1 + batch.skipped
                    shift = timedelta(days=DAYS * number) // timedelta(milliseconds=1)
                    self.batches.append(batch.logged(first, prefix(number), shift, PRODUCERS * number))
                    of = self.places.setdefault(name, {})
                    of |= {at: at - first + batch.first for at in range(first, self.batches[-1].last_offset + 1)}
                    spans.append((offset + 1 + batch.unseen, offset := self.batches[-1].last_offset))
            self.runs.append(spans)

    def several_runs(self) -> list[list[Range]]:
        """One for each operation; of a long log four, which end anywhere."""
        if len(self.runs) <= MOST_RUNS:
            return self.runs
        ends = sorted(Random(len(self.batches)).sample(range(1, len(self.runs)), 3))
        return [[span for run in self.runs[first:last] for span in run] for first, last in pairwise([0, *ends, None])]

    def replayed(
        self, tables: Decoded, runs: Sequence[Sequence[Range]], *, is_at_the_end: bool = False
    ) -> dict[str, pa.Table]:
        """With a replay after each ingest, or only after the last one."""
        known = dict(self.logs[0][1].known)
        topics, lacks, slices = (known.pop(name) for name in ("topics", "lacks", "slices"))
        tables = {name: without_columns(rows, lacks) for name, rows in tables.items()}
        own = {(OFFSETS_TOPIC, None): 50}
        snapshots = Snapshots({
            (T0 + time) * 1000: own | {(name, topic_id(name)): count for name, count in counts.items()}
            for time, counts in topics.items()
        })  # fmt: skip
        release = known.pop("release", "")
        rules = Rules(topic_deletions=tuple(snapshots.deletions()), **known)
        result = MemoryRuns(rules, snapshots, slices, release)
        for spans in runs:
            first, last = spans[0][0], spans[-1][1]
            result.ingest({name: between(rows, first, last) for name, rows in tables.items()}, spans)
            if not is_at_the_end or spans is runs[-1]:
                result.replay()
        return result.history()


def prefix(number: int) -> str:
    return f"{number:03}~"


class History:
    """What a replay says about one log. `differing`: rows that several runs make otherwise."""

    def __init__(self, log: Log, number: int, places: Mapping[int, int]) -> None:
        self.log, self.prefix, self.places = log, prefix(number), places
        self.start = START + timedelta(days=DAYS * number)
        self.producers = PRODUCERS * number
        self.rows: dict[str, list[Row]] = {}
        self.differing: list[str] = []

    def is_of(self, row: Row) -> bool:
        names = row.get("groups") or [row.get("group_id") or ""]
        return names[0].startswith(self.prefix)

    def take(self, table: str, rows: Sequence[Row]) -> None:
        self.rows[table] = [{name: self.own(name, each) for name, each in row.items()} for row in rows]
        for row in self.rows[table]:
            if "partition" in row and "topic" in row:
                row["tp"] = f"{row['topic'] or row['topic_id']}{row['partition']}"

    def own(self, name: str, each: Any) -> Any:
        """As the log alone would have it; ids of topics as their names."""
        if isinstance(each, datetime):
            return (each - self.start) // timedelta(milliseconds=1)
        if isinstance(each, str):
            text = re.sub(r"\b(\w)A{21}\b", r"\1", each.replace(self.prefix, ""))
            return text if name != "message" else re.sub(r"(record )(\d+)", self.own_place, text)
        if name == "producer_id" and each is not None:
            return each - self.producers
        if isinstance(each, int) and PLACES.fullmatch(name):
            return self.places.get(each, each)
        if isinstance(each, list) and (not each or isinstance(each[0], dict)):
            return [f"{of['topic'] or of['topic_id']}{number}" for of in each for number in of["partitions"]]
        return [self.own("", one) for one in each] if isinstance(each, list) else each

    def own_place(self, match: re.Match[str]) -> str:
        return f"{match[1]}{self.places.get(int(match[2]), match[2])}"

    def of(self, question: str) -> list[str]:
        """Cells of the rows of a table, in the order in which they began: `table column… name=cell…`."""
        table, *words = question.split()
        names = [each for each in words if "=" not in each]
        only = [each.split("=", 1) for each in words if "=" in each]
        rows = self.rows.get(TABLES[table], [])
        unknown = {each for each in (*names, *(name for name, _ in only)) if rows and each not in rows[0]}
        assert not unknown, f"{table} has no {unknown}"
        kept = [row for row in rows if all(cell(row[name]) == wanted for name, wanted in only)]
        return [" ".join(cell(row[name]) for name in names) for row in sorted(kept, key=order)]

    def assert_says(self, text: str) -> None:
        """`question => row | row`; "… | row" are the last rows. A line that begins with a table begins a question."""
        wrong = [f"several runs make other rows than one: {each}" for each in self.differing]
        for asked in re.split(rf"\n\s*(?=(?:{'|'.join(TABLES)}) )", text.strip()):
            question, _, answer = re.sub(r"\s*\n\s*", " ", asked).partition("=>")
            wanted = [each.strip() for each in answer.split("|") if each.strip()]
            rows = self.of(question)
            if wanted[:1] == ["…"]:
                rows = ["…", *rows[len(rows) - len(wanted) + 1 :]]
            if rows != wanted:
                wrong.append(f"{question.strip()}\n  expected {' | '.join(wanted)}\n  rows     {' | '.join(rows)}")
        if wrong:
            pytest.fail("\n".join([*wrong, "of the log", self.log.text()]), pytrace=False)


def cell(each: Any) -> str:
    if each is None or isinstance(each, bool):
        return {None: "-", True: "yes", False: "no"}[each]
    if isinstance(each, list):
        return ",".join(map(str, each)) or "."
    return str(each) if each != "" else '""'


def order(row: Row) -> tuple[Any, ...]:
    first = next((row[name] for name in FIRST if name in row), 0)
    name = row.get("tp") or "", row.get("member_id") or ""
    return (row.get("group_id") or "", first, *name, row.get("from_time") or 0, repr(row))


def histories(logs: Mapping[str, Log]) -> dict[str, History]:
    """By name of the log."""
    together: dict[str, list[tuple[str, Log]]] = {}
    for name, log in logs.items():
        together.setdefault(log.company or f"alone {name}", []).append((name, log))
    streams = [*map(Stream, together.values())]
    result: dict[str, History] = {}
    for stream, tables in zip(streams, decoded([each.batches for each in streams]), strict=True):
        of = [History(log, number, stream.places[name]) for number, (name, log) in enumerate(stream.logs)]
        whole = stream.replayed(tables, [[span for run in stream.runs for span in run]])
        differing = difference(whole, stream.replayed(tables, stream.several_runs()))
        for each in of:
            each.differing = [f"{table} {rows}" for table, rows in differing.items() if each.prefix in str(rows)]
            for table, rows in whole.items():
                if {"group_id", "groups"} & {*rows.column_names}:
                    each.take(table, [row for row in rows.to_pylist() if len(of) == 1 or each.is_of(row)])
        result |= {name: each for (name, _), each in zip(stream.logs, of, strict=True)}
    return result


def history(log: Log) -> History:
    return histories({"": log})[""]


def test_of(cases: Mapping[str, tuple[Log, str]]) -> Callable[[str], None]:
    """A test of each case: its log, and what the history says about it."""
    replayed = cache(lambda: histories({name: log for name, (log, _) in cases.items()}))

    @pytest.mark.parametrize("name", cases)
    def test(name: str) -> None:
        replayed()[name].assert_says(cases[name][1])

    return test


test_of.__test__ = False  # type: ignore[attr-defined]
