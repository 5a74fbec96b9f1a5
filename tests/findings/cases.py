"""Cases of findings: few words for rows of tables, and the findings that the gate lists for them. For example:

    let stopped
        group_verdicts own_verdict=STOP partition=1 as_of_time=now
    a partition that stopped is critical
        stopped topic=t reason="no commit for 2 min"
        > critical partition_stopped message="t-1: no commit for 2 min"
    a partition that is fine is no finding
        stopped own_verdict=OK

A case is a sentence and its lines. A row begins with its table, or with what `let` named before; values are read by the
table's declaration (tests/make/tables.py). `no TABLE` takes back the rows so far. After `>` are severity and kind of a
finding, and values of its row in `findings`. A case names all of its findings, in the order of their ranks. `with`
gives settings of the gate, times and groups. `each` names words and gives their values, a line each; what follows, up
to `end`, is repeated with each line of values.
"""

import dataclasses
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jobs.configuration.settings import Gate, Settings, number_settings
from jobs.gating.declarations.finding_files import Events
from jobs.gating.declarations.sql_text import parameters
from jobs.gating.declarations.waivers import Waiver
from jobs.gating.findings import Choice, Reported, find, finding_rows, finding_statements
from jobs.queries.definitions.views import named_in
from jobs.queries.engines.duckdb_engine import scope_of
from jobs.queries.results import QueryResult
from schemas.views import VIEWS
from tests.make.tables import NOW, Row, make, time_of, worded

Answer = Callable[[str], QueryResult]
# What is indented further goes on from the line before.
LONG_LINE = re.compile(r"\n {5,}")
REPEATED = re.compile(r"^each (.+)\n((?:    .+\n)+)((?:.*\n)*?)end$", re.MULTILINE)
TIMES = ("as_of", "started", "since", "until")


@dataclass
class Case:
    name: str
    cluster: str = ""
    text: list[str] = field(default_factory=list)
    rows: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    wanted: list[Row] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)

    @property
    def limits(self) -> list[Row]:
        """Rows of gate_limits: what the gate that lists the case's findings compares with."""
        names = {each.name for each in dataclasses.fields(Gate)}
        settings = Gate(**{name: value for name, value in self.asked.items() if name in names})
        return [{"setting": name, "value": value} for name, value in number_settings(settings)]

    def tables(self, **more: Any) -> dict[str, list[Row]]:
        result: dict[str, list[Row]] = {name: [] for name in self.named}
        for table, values in self.rows:
            result.setdefault(table, []).extend({**row, **more} for row in worded(table, values))
        return result


def all_cases() -> dict[str, Case]:
    """Of all files, by file and sentence. Each is a cluster of its own."""
    files = sorted(Path(__file__).parent.glob("*.cases"))
    found = {f"{file.stem}: {name}": case for file in files for name, case in cases(file.read_text()).items()}
    for number, case in enumerate(found.values()):
        case.cluster = f"c{number}"
    return found


def cases(text: str) -> dict[str, Case]:
    made: dict[str, Case] = {}
    lets: dict[str, Case] = {}
    case = Case("")
    for line in REPEATED.sub(repeated, LONG_LINE.sub(" ", text)).splitlines():
        if line.startswith(" "):
            case.text.append(line)
            add_line(case, lets, *shlex.split(line))
        elif line and not line.startswith("#"):
            name, known = (line[4:], lets) if line.startswith("let ") else (line, made)
            assert name not in known, f"twice: {name}"
            case = known[name] = Case(name)
    return made


def repeated(each: re.Match[str]) -> str:
    names, lines = each[1].split(), ""
    for row in map(shlex.split, each[2].splitlines()):
        values = dict(zip(names, row, strict=True))
        lines += re.sub("|".join(names), lambda name, values=values: values[name[0]], each[3])
    return lines


def add_line(case: Case, lets: Mapping[str, Case], word: str, *words: str) -> None:
    values = dict(each.split("=", 1) for each in words if "=" in each)
    match word:
        case "no":
            case.named.add(words[0])
            case.rows = [row for row in case.rows if row[0] != words[0]]
        case ">":
            (wanted,) = worded("findings", {"severity": words[0], "kind": words[1], **values})
            case.wanted.append(wanted)
        case "with":
            case.asked |= {name: time_of(text) if name in TIMES else int(text) if text.isdigit() else text
                           for name, text in values.items()}  # fmt: skip
        case _:
            rows = lets[word].rows if word in lets else [(word, {})]
            if len(rows) > 1:
                # A value takes the place of another one.
                assert all(any(name in row for _, row in rows) for name in values), f"{case.name}: {word} {words}"
            for table, row in rows:
                new = values if len(rows) == 1 else {name: values[name] for name in row if name in values}
                case.rows.append((table, row | new))


@contextmanager
def answers(folder: Path, known: Iterable[Case]) -> Iterator[Answer]:
    """One warehouse for all cases: each is a cluster of its own, with the same groups and topics as others."""
    tables: dict[str, list[Row]] = {"gate_limits": []}
    for case in known:
        tables["gate_limits"].extend({"cluster": case.cluster, **row} for row in case.limits)
        for table, rows in case.tables(cluster=case.cluster).items():
            tables.setdefault(table, []).extend(rows)
    statements = finding_statements(parameters("a", NOW, NOW, Settings()), Events(None, NOW))
    with scope_of(make(folder, tables), statements) as answer:
        yield answer


def findings(
    answer: Answer, cluster: str, *, as_of: datetime = NOW, started: datetime = NOW, since: datetime | None = None,
    until: datetime | None = None, group: str | None = None, exclude_group: str | None = None,
    waivers: Sequence[Waiver] = (), seen: Mapping[Any, datetime | Reported] | None = None, **limits: Any,
) -> list[Row]:  # fmt: skip
    """Rows of the table `findings`, as the gate makes them. `limits`: settings of [gate]."""
    settings = Settings(gate=Gate(**limits))
    choice = Choice(group, exclude_group, settings.gate.tool_groups)
    filled, events = parameters(cluster, as_of, started, settings), Events(since, until or as_of)
    found = find(filled, events, choice, answer)
    reported = {key: each if isinstance(each, Reported) else Reported(each, "critical")
                for key, each in (seen or {}).items()}  # fmt: skip
    return finding_rows(found.findings, {"cluster": cluster, "run_id": "r"}, as_of, reported, waivers)


def only_about(tables: set[str], answer: Answer) -> Answer:
    """Leaves out what reads none of the tables: it takes hundredths of a second to find nothing there."""
    names = re.compile(rf"\b({'|'.join([*tables, *(view for view in VIEWS if tables & read_by(view))])})\b")

    def answered(statement: str) -> QueryResult:
        return answer(statement) if names.search(statement) else QueryResult([], [])

    return answered


@cache
def read_by(view: str) -> frozenset[str]:
    return frozenset(named_in([view]).tables)


def rows_of(answer: Answer, statement: str) -> list[Row]:
    names, rows = answer(statement)
    return [dict(zip(names, row, strict=True)) for row in rows]
