"""What the report asks of the tables: files of plain SQL."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jobs.queries.definitions.dialects import portable_text
from jobs.queries.definitions.views import named_in
from jobs.warehouses.warehouse import Warehouse
from schemas.sql_files import filled, part

if TYPE_CHECKING:
    from jobs.queries.engines.duckdb_engine import Session

# About the cluster; tables about groups that others are asked of; lanes of groups; rows of their stories; names;
# and statements that are only shown: a reader can run one to see the rows that a number counts.
CLUSTER, MADE, LANES, STORIES, REDACTION, ROWS = "cluster", "made", "lanes", "stories", "redaction", "rows"
# The run whose findings the page shows: all that came later and judged anew was narrowed.
SHOWN = f"(SELECT {part('shown_run')} FROM gate_runs WHERE cluster = {{cluster}})"
# When it judged the cluster: the page shows how groups stood then. Later than everything if no run has.
AS_OF = f"""(
    SELECT coalesce(max(as_of_time), TIMESTAMP '9999-12-31 00:00:00+00:00')
    FROM runs WHERE cluster = {{cluster}} AND job = 'gate' AND run_id = {SHOWN}
  )"""
TOTALS = {"total_lag": part("capped_total", "lag"), "total_end": part("capped_total", "log_end_offset")}
TOTALS["is_of_a_tool"] = filled("{is_of_a_tool}", "names of tools", 1)
# Of each lane of a group the rows behind it: their table, and the time that orders them. The page puts the group there.
BEHIND = {
    "states": ("group_state_intervals", "from_time"), "members": ("membership_intervals", "from_time"),
    "owners": ("ownership_intervals", "from_time"), "rebalances": ("rebalances", "start_time"),
    "moves": ("partition_moves", "move_time"), "assignments": ("generation_members", "assignment_offset"),
    "lag": ("lag_points", "snapshot_time"), "commits": ("offset_history", "from_time"),
    "resets": ("offset_resets", "at_time"), "partitions": ("group_verdicts", "as_of_time"),
}  # fmt: skip
# Of what is shown about all groups.
OF_ALL = {"groups": "v_groups_now", "map": "group_state_intervals"}
GROUP = "NAME"
PLACE = re.compile(r"\{(\w+)\}")
ENDING = ".sql"


@cache
def questions(folder: str) -> Mapping[str, str]:
    """By name; with places for the cluster and more."""
    paths = sorted((files("jobs.reporting") / "sql" / folder).iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(ENDING): file.read_text("utf-8") for file in paths if file.name.endswith(ENDING)}


def statements(folder: str, cluster: str, **places: str) -> dict[str, str]:
    """In one pass: a name that looks like a place is a name."""
    shown = portable_text(cluster)
    runs = {"as_of": AS_OF.format(cluster=shown), "shown_run": SHOWN.format(cluster=shown)}
    values = {"cluster": shown, **runs, **TOTALS, **places}
    return {
        name: PLACE.sub(lambda place: values.get(place[1], "NULL"), text).strip()
        for name, text in questions(folder).items()
    }


def shown_statements(cluster: str, names: Collection[str]) -> dict[str, str]:
    """For readers of the page, who run them in any engine: those of these names, and plain ones."""
    where = f"WHERE cluster = {portable_text(cluster)}"
    asked = statements(CLUSTER, cluster)
    return {
        **{name: asked[name] for name in names}, **statements(ROWS, cluster),
        **{name: f"SELECT * FROM {table} {where}" for name, table in OF_ALL.items()},
        **{lane: f"SELECT * FROM {table} {where} AND group_id = '{GROUP}' ORDER BY {time}"
           for lane, (table, time) in BEHIND.items()},
    }  # fmt: skip


def names_in_sql(names: Sequence[str]) -> str:
    return ", ".join(map(portable_text, names)) or "NULL"


@contextmanager
def asking(warehouse: Warehouse, cluster: str, *folders: str) -> "Iterator[Session]":
    """At the versions of the newest run, in one scope: making one takes as long as several answers. A table that is not
    there yet has no rows."""
    # Here, since an audit without anything new asks nothing, only which tables a report rests on.
    from jobs.queries.engines.duckdb_engine import session_of

    with session_of(
        warehouse, [text for folder in folders for text in statements(folder, cluster).values()]
    ) as session:
        yield session


def shown_tables() -> list[str]:
    """Every table that a report may show rows of."""
    return named_in([text for folder in (CLUSTER, MADE, LANES) for text in questions(folder).values()]).tables
