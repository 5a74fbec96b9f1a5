"""What the report asks of the tables. Each question is a file of plain SQL, which the page shows beside its answer."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

from jobs.queries.definitions.dialects import portable_text
from jobs.queries.definitions.views import named_in
from jobs.queries.results import QueryResult
from jobs.reporting.rows.listings import Row
from jobs.warehouses.warehouse import Warehouse
from schemas.sql_files import part

# Queries of the kind ROWS are only shown: a reader can run one to see the rows that a number counts.
OVERVIEW, GROUPS, REDACTION, ROWS = "overview", "groups", "redaction", "rows"
# Newest rows of each group: more would make a drawing that nobody can read.
MOST_OF_GROUP: Mapping[str, int] = {
    "audits": 100,
    "generations": 240,
    "lag": 200,
    "members": 120,
    "moves": 240,
    "owners": 240,
    "rates": 200,
    "rebalances": 120,
    "resets": 60,
    "states": 200,
    "verdicts": 100,
}
# The run whose findings the page shows: all that came later and judged anew was narrowed.
SHOWN = f"(SELECT {part('shown_run')} FROM gate_runs WHERE cluster = {{cluster}})"
# When it judged the cluster: the page shows how groups stood then. Later than everything if no run has.
AS_OF = f"""(
    SELECT coalesce(max(as_of_time), TIMESTAMP '9999-12-31 00:00:00+00:00')
    FROM runs WHERE cluster = {{cluster}} AND job = 'gate' AND run_id = {SHOWN}
  )"""
TOTALS = {"total_lag": part("capped_total", "lag"), "total_consumed": part("capped_total", "messages_consumed")}
PLACE = re.compile(r"\{(\w+)\}")
ENDING = ".sql"

Answers = dict[str, list[Row]]
# Rows by the names of the statements that give them.
Ask = Callable[[Mapping[str, str]], Answers]


@cache
def questions(folder: str) -> Mapping[str, str]:
    """By name; with places for the cluster and, about groups, for their names and how many rows each has."""
    paths = (files("jobs.reporting") / "sql" / folder).iterdir()
    return {file.name.removesuffix(ENDING): file.read_text("utf-8") for file in paths if file.name.endswith(ENDING)}


def overview_statements(cluster: str) -> dict[str, str]:
    return {name: fill_in(text, cluster) for name, text in questions(OVERVIEW).items()}


def row_statements(cluster: str) -> dict[str, str]:
    return {name: fill_in(text, cluster) for name, text in questions(ROWS).items()}


def group_statements(cluster: str, groups: Sequence[str], share: int = 1) -> dict[str, str]:
    """Of each group the newest rows: as many as a drawing shows, or one in `share` of that."""
    return {
        name: fill_in(text, cluster, groups, MOST_OF_GROUP[name] // share) for name, text in questions(GROUPS).items()
    }


def name_statement(cluster: str) -> str:
    """Every name that a text of a report may hold."""
    (statement,) = questions(REDACTION).values()
    return fill_in(statement, cluster)


def fill_in(statement: str, cluster: str, groups: Sequence[str] = (), most: int = 0) -> str:
    """In one pass: a name that looks like a place is a name."""
    names = ", ".join(map(portable_text, groups)) or "NULL"
    shown = portable_text(cluster)
    runs = {"as_of": AS_OF.format(cluster=shown), "shown_run": SHOWN.format(cluster=shown)}
    values = {"cluster": shown, "groups": names, "most": str(most), **runs, **TOTALS}
    return PLACE.sub(lambda place: values[place[1]], statement).strip()


@contextmanager
def asking(warehouse: Warehouse, cluster: str) -> Iterator[Ask]:
    """Answers to all questions at the versions of the newest run, in one scope: making one takes as long as several
    answers. A table that is not there yet has no rows."""
    statements = [*overview_statements(cluster).values(), *group_statements(cluster, ()).values()]
    with asking_these(warehouse, [*statements, name_statement(cluster)]) as ask:
        yield ask


@contextmanager
def asking_of_groups(warehouse: Warehouse, cluster: str) -> Iterator[Ask]:
    with asking_these(warehouse, list(group_statements(cluster, ()).values())) as ask:
        yield ask


@contextmanager
def asking_these(warehouse: Warehouse, statements: Sequence[str]) -> Iterator[Ask]:
    # Here, since an audit without anything new asks nothing, only which tables a report rests on.
    from jobs.queries.engines.duckdb_engine import scope_of

    with scope_of(warehouse, statements) as answer:
        yield lambda asked: {name: rows_of(answer, text) for name, text in asked.items()}


def shown_tables() -> list[str]:
    """Every table that a report may show rows of."""
    return named_in([*questions(OVERVIEW).values(), *questions(GROUPS).values()]).tables


def rows_of(answer: Callable[[str], QueryResult], statement: str) -> list[Row]:
    names, rows = answer(statement)
    return [dict(zip(names, row, strict=True)) for row in rows]
