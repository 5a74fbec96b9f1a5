"""What a tree of the product answers about a log: every table, view, page and command; and how two trees differ.

Answers of the two trees are compared as users get them: rows whatever their order, but with types, NULLs and the order
inside of lists; texts to the letter. Only ids and clocks of runs, and the places of warehouses, are taken out.
"""

import json
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from tests.compare.logs import Log

# Tables about runs. What only the next run reads lies deeper, in `_state/`, in an order that does not matter.
OF_RUNS: Final = frozenset({"runs", "source_files", "gate_runs"})
# `query` has the run's id within.
COLUMNS_OF_RUNS: Final = frozenset({"run_id", "query"})
RUN_ID: Final = re.compile(r"\b\d{8}-\d{8}T\d{6}Z\b")
CLOCKS: Final = re.compile(
    r"^groupscope_\w*(run_seconds|finished_timestamp_seconds|source_age_seconds).*\n", re.MULTILINE
)
# Of rows that differ so many are shown, and so much of each.
EXAMPLES, EXAMPLE_CHARACTERS = 2, 500
Row = dict[str, Any]


@dataclass
class Answers:
    """`texts` by what was asked: the exit codes, files, and what commands print. `views`: their rows as JSON."""

    warehouse: Path
    texts: dict[str, str] = field(default_factory=dict)
    views: dict[str, list[Row]] = field(default_factory=dict)


@dataclass(frozen=True)
class Renamed:
    """Names of tables and columns that the newer tree has for those of the older one: `a=b`, or `table.a=b`."""

    pairs: Mapping[str, str] = field(default_factory=dict)

    def table(self, name: str) -> str:
        return self.pairs.get(name, name)

    def column(self, table: str, name: str) -> str:
        return self.pairs.get(f"{table}.{name}", name)


def groupscope(tree: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(tree / ".venv" / "bin" / "groupscope"), *map(str, words)]
    # The tree's own product, even where its environment is another tree's.
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tree, env=environment)


def audited(tree: Path, log: Log, folder: Path, engine: str) -> Answers:
    """The log's sources one after the other, as they grow, into one warehouse."""
    warehouse, prometheus, report = folder / "warehouse", folder / "metrics.prom", folder / "report"
    flags = ["--cluster", "c", "--warehouse", warehouse, "--fail-on", "never", "--engine", engine]
    flags += ["--prometheus", prometheus, "--report", report]
    flags += ["--snapshots", log.snapshots] if log.snapshots else []
    flags += ["--config", log.settings] if log.settings else []
    answers = Answers(warehouse)
    for number, source in enumerate(log.sources):
        done = groupscope(tree, "audit", "--source", source, *flags)
        answers.texts[f"exit code of audit {number + 1}"] = str(done.returncode)
        if done.returncode in (1, 2, 21, 23):
            answers.texts[f"error of audit {number + 1}"] = plain(done.stderr, folder)
    if prometheus.exists():
        answers.texts["the Prometheus file"] = CLOCKS.sub("", plain(prometheus.read_text(), folder))
    return answers


def ask(tree: Path, answers: Answers, commands: Iterable[Sequence[str]]) -> None:
    for words in commands:
        done = groupscope(tree, *words, "--warehouse", answers.warehouse)
        text = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        answers.texts[f"groupscope {' '.join(words)}"] = plain(text, answers.warehouse.parent)
    answers.views = views_of(tree, answers.warehouse)


def plain(text: str, folder: Path) -> str:
    return RUN_ID.sub("RUN", text.replace(str(folder), "FOLDER"))


def views_of(tree: Path, warehouse: Path) -> dict[str, list[Row]]:
    printed = groupscope(tree, "sql", "--print-views", "duckdb").stdout
    names = sorted({*re.findall(r'VIEW\s+(?:IF NOT EXISTS\s+)?"?(\w+)', printed)})
    # One process for all of them; a line says whose rows come next.
    statements = [f"SELECT '{name}' AS view_that_follows; SELECT * FROM {name}" for name in names]
    done = groupscope(tree, "sql", "; ".join(statements), "--format", "json", "--warehouse", warehouse)
    views: dict[str, list[Row]] = {}
    for line in plain(done.stdout, warehouse.parent).splitlines():
        row = json.loads(line)
        if [*row] == ["view_that_follows"]:
            views[row["view_that_follows"]] = rows = []
        else:
            rows.append(row)
    if done.returncode:
        views["the statement that reads all views"] = [{"error": done.stderr}]
    return views


def drawn_commands(answers: Answers, chance: random.Random) -> list[list[str]]:
    """Questions of readers about groups, times and partitions that the warehouse has."""
    if not (answers.warehouse / "rebalances").is_dir():
        return [["groups"], ["doctor"]]
    groups = sorted({row["group_id"] for row in rows_of(answers, "group_state_intervals", "group_id")})
    begun = sorted(
        (row["group_id"], row["start_time"].isoformat())
        for row in rows_of(answers, "rebalances", "group_id", "start_time")
        if row["start_time"]
    )
    owned = sorted(
        {
            (row["topic"], str(row["partition"]), row["from_time"].isoformat())
            for row in rows_of(answers, "ownership_intervals", "topic", "partition", "from_time")
            if row["topic"] and row["from_time"]
        }
    )
    commands = [["groups"], ["groups", "--format", "json"], ["doctor"]]
    for group in chance.sample(groups, min(8, len(groups))):
        commands += [[word, group] for word in ("describe", "offsets", "rebalances", "why")]
        commands += [["describe", group, "--members", "--verbose"], ["rebalances", group, "--format", "json"]]
    for group, time in chance.sample(begun, min(10, len(begun))):
        commands += [["why", group, "--at", time], ["offsets", group, "--at", time], ["describe", group, "--at", time]]
        commands += [["diff", group, "--from", begun[0][1], "--to", time]]
    for topic, partition, time in chance.sample(owned, min(8, len(owned))):
        commands += [["owner", topic, partition, "--at", time]]
    return commands


def rows_of(answers: Answers, table: str, *columns: str) -> list[Row]:
    return DeltaTable(answers.warehouse / table).to_pyarrow_table(columns=list(columns)).to_pylist()


def differences(
    old: Answers, new: Answers, but: frozenset[str] = frozenset(), renamed: Renamed = Renamed()
) -> list[str]:
    """A line for each thing that differs, examples below it. `but`: tables, views, texts and TABLE.COLUMN to leave out,
    by their newer names."""
    return [*table_differences(old, new, but, renamed), *text_differences(old, new, but, renamed)]


def text_differences(old: Answers, new: Answers, but: frozenset[str], renamed: Renamed) -> Iterator[str]:
    for asked in dict.fromkeys([*old.texts, *new.texts]):
        before, now = old.texts.get(asked), new.texts.get(asked)
        if before != now and asked not in but:
            yield f"{asked}: {first_lines(before, now)}"
    before_views = {renamed.table(name): (name, rows) for name, rows in old.views.items()}
    for view in sorted({*before_views, *new.views} - but):
        if view not in before_views or view not in new.views:
            yield f"view {view}: only {'before' if view in before_views else 'now'}"
            continue
        left_out = COLUMNS_OF_RUNS | columns_but(but, view)
        name, rows = before_views[view]
        sides = [
            sorted(json.dumps({title(key): value for key, value in row.items() if title(key) not in left_out},
                              sort_keys=True) for row in some)
            for some, title in ((rows, partial(renamed.column, name)), (new.views[view], str))
        ]  # fmt: skip
        if sides[0] != sides[1]:
            yield f"view {view}: {len(rows)} rows before, {len(new.views[view])} now; {first_lines(*sides)}"


def first_lines(before: str | Sequence[str] | None, now: str | Sequence[str] | None) -> str:
    """The first line of each that the other has not."""
    if before is None or now is None:
        return f"only {'now' if before is None else 'before'}"
    sides = [side.splitlines() if isinstance(side, str) else side for side in (before, now)]
    lines = (next((line for line in one if line not in {*other}), "(the same lines)") for one, other in
             (sides, sides[::-1]))  # fmt: skip
    return "".join(f"\n   {sign} {line[:EXAMPLE_CHARACTERS]}" for sign, line in zip("-+", lines, strict=True))


def columns_but(but: frozenset[str], table: str) -> frozenset[str]:
    return frozenset(each.partition(".")[2] for each in but if each.startswith(f"{table}."))


def table_differences(old: Answers, new: Answers, but: frozenset[str], renamed: Renamed) -> Iterator[str]:
    before, now = {renamed.table(name): name for name in tables(old.warehouse)}, tables(new.warehouse)
    for table in sorted({*before, *now} - OF_RUNS - but):
        if table not in before or table not in now:
            yield f"table {table}: only {'before' if table in before else 'now'}"
            continue
        name, left_out = before[table], COLUMNS_OF_RUNS | columns_but(but, table)
        with duckdb.connect() as connection:
            schemas = [
                registered(connection, "old_rows", old.warehouse / name, left_out, partial(renamed.column, name)),
                registered(connection, "new_rows", new.warehouse / table, left_out, str),
            ]
            if schemas[0] != schemas[1]:
                yield f"table {table}: columns {first_lines(*schemas)}"
                continue
            yield from row_differences(connection, table)


def tables(warehouse: Path) -> set[str]:
    return {path.parent.name for path in warehouse.glob("*/_delta_log")}


def registered(
    connection: duckdb.DuckDBPyConnection,
    side: str,
    folder: Path,
    left_out: frozenset[str],
    title: Callable[[str], str],
) -> list[str]:
    """The table's rows under this name, columns in the order of their names; and the columns with their types."""
    rows = DeltaTable(folder).to_pyarrow_dataset()
    titles = {title(field.name): field for field in rows.schema}
    kept = {name: titles[name] for name in sorted(titles.keys() - left_out)}
    connection.register(f"{side}_read", rows)
    selected = ", ".join(f'"{field.name}" AS "{name}"' for name, field in kept.items())
    connection.execute(f"CREATE VIEW {side} AS SELECT {selected} FROM {side}_read")
    return [f"{name} {type_of(field)}" for name, field in kept.items()]


def type_of(field: pa.Field) -> str:
    # How a reader lays texts and lists out in memory is no difference.
    return str(field.type).replace("large_", "").replace("_view", "")


def row_differences(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[str]:
    """By sums of hashes first, since tables may be large: rows are compared only where the sums differ."""
    sums = [
        connection.execute(f"SELECT count(*), sum(hash({side})::HUGEINT) FROM {side}").fetchone()
        for side in ("old_rows", "new_rows")
    ]
    if sums[0] == sums[1]:
        return
    examples = ""
    for sign, one, other in (("-", "old_rows", "new_rows"), ("+", "new_rows", "old_rows")):
        only = f"SELECT * FROM {one} EXCEPT ALL SELECT * FROM {other} LIMIT {EXAMPLES}"
        for (row,) in connection.execute(f"SELECT to_json(t) FROM ({only}) AS t").fetchall():
            examples += f"\n   {sign} {row[:EXAMPLE_CHARACTERS]}"
    yield f"table {table}: {sums[0][0]} rows before, {sums[1][0]} now{examples}"
