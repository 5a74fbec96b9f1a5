"""Names that an earlier contract version had, and what they are called since. Declared here once: errors, the page of
old and new names, and whatever rewrites a warehouse of an earlier version read this.

`RENAMES` has one entry for each old name. `old` is the name before; `new` the name since, or None: it is gone. `since`
is the contract version that renamed it. `where`: for a column, the tables, views and functions that have it, by their
new names; a column `old` of any other table keeps its name (`gate_spans` has a `from_offset` of its own). For tables
and views it is empty. A suite is called as its table.

Tables that only the job's next run reads (`_state/`) are not listed: their rows are made again.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Named(StrEnum):
    """What has the name."""

    TABLE = "table"
    VIEW = "view"
    COLUMN = "column"


@dataclass(frozen=True, slots=True)
class Rename:
    kind: Named
    old: str
    new: str | None
    since: int = 3
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.old} is {self.new or 'gone'} since version {self.since}"


INTERVALS = ("group_state_intervals", "membership_intervals", "ownership_intervals", "offset_history")
PROVISIONAL = (
    *INTERVALS, "rebalances", "generation_members", "partition_moves", "transactions", "topics", "coordinator_epochs",
    "history_coverage", "lag_points", "lag_days", "lag_minutes", "consumption_rates", "offset_resets", "odd_commits",
    "commit_volume", "v_rebalances",
)  # fmt: skip
LAGS = (
    "lag_points", "consumption_rates", "group_verdicts", "v_groups_now", "v_lag_now", "v_group_verdict", "lag_at",
)  # fmt: skip
LAG_DAYS = ("lag_days", "v_lag_daily")


def columns(where: tuple[str, ...], **names: str | None) -> Iterable[Rename]:
    return (Rename(Named.COLUMN, old, new, where=where) for old, new in names.items())


RENAMES: tuple[Rename, ...] = (
    Rename(Named.TABLE, "commit_findings", "odd_commits"),
    *(
        Rename(Named.VIEW, name, f"v_{name}")
        for name in (
            "lag_daily", "rebalances_daily", "topic_consumers", "partition_coverage", "record_headroom",
            "expectation_daily",
        )
    ),
    Rename(Named.VIEW, "dim_enum", "v_enums"),
    *columns((*INTERVALS, "rejected_records"), from_offset="from_record_offset", to_offset="to_record_offset"),
    *columns(PROVISIONAL, is_open="is_provisional"),
    *columns(LAGS, lag_floor="lag"),
    *columns(
        LAG_DAYS, lag_floor_p50="lag_p50", lag_floor_p95="lag_p95", lag_floor_p99="lag_p99", lag_floor_max="lag_max"
    ),
    *columns(("lag_points",), lag_data=None),
)  # fmt: skip


OF_OLD = {each.old: each for each in RENAMES}


def renamed(text: str) -> str:
    """What a message says of the first old name in the text: `is_open is is_provisional since version 3`. Empty: there
    is none."""
    words = re.findall(r"\w+", text.lower())
    return next((str(OF_OLD[word]) for word in words if word in OF_OLD), "")


def renamed_columns(name: str) -> dict[str, str | None]:
    """Of a table, view or function, by its new name: old name and new name of each of its renamed columns. None: the
    column is gone."""
    return {each.old: each.new for each in RENAMES if each.kind is Named.COLUMN and name in each.where}


def old_name(name: str) -> str:
    """What a table or view was called in the version before its rename."""
    return next((each.old for each in RENAMES if each.new == name and each.kind is not Named.COLUMN), name)
