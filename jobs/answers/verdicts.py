"""What the newest verdicts say of groups at a time. Each audit writes them as of one time: rows of `group_verdicts`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter

from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal
from jobs.output.failure import say
from jobs.output.rows import time_text
from schemas.words.lag import LagVerdict

TABLE = "group_verdicts"
NEVER = datetime.min.replace(tzinfo=UTC)
COLUMNS = (
    "group_id", "group_type", "topic", "topic_id", "partition", "own_verdict", "rule", "reason", "since_time",
    "last_commit_time", "lag", "time_lag_ms", "evidence_partition", "evidence_last_offset", "confidence",
)  # fmt: skip

UNKNOWN = "unknown: all audits are as of later times"


@dataclass(frozen=True)
class Verdicts:
    """`as_of`: None: none is of the time or before. `is_later`: but some are of a later time."""

    as_of: datetime | None = None
    is_later: bool = False
    of_groups: Mapping[str, Row] = field(default_factory=dict)
    # Of one group, by topic and partition, in their order; with the topic's id if nothing names it.
    of_partitions: Mapping[tuple[str, int], Row] = field(default_factory=dict)

    def say_as_of(self, at: datetime) -> None:
        """Said once, and not on each line."""
        if self.as_of is not None and self.as_of != at:
            say(f"verdicts are as of {time_text(self.as_of)}, of the newest audit")
        elif self.as_of is None and self.is_later:
            say(f"verdicts at {time_text(at)} are {UNKNOWN}")

    def group_text(self, group: str, at: datetime) -> str:
        """The verdict on the group, since when, and why."""
        if self.as_of is None:
            return UNKNOWN
        as_of = "" if self.as_of == at else f" as of {time_text(self.as_of)}"
        row = self.of_groups.get(group)
        if row is None:
            return f"none{as_of}: the group has no committed offset, and its members own no partition"
        since = "" if row["since_time"] is None else f"{',' if as_of else ''} since {time_text(row['since_time'])}"
        return f"{row['own_verdict']}{as_of}{since}: {row['reason']}"

    @property
    def is_empty(self) -> bool:
        """Whether no audit wrote any, as of whatever time."""
        return self.as_of is None and not self.is_later


def group_verdicts(history: History, until: datetime | None) -> Verdicts:
    """On all groups, by the newest audit; `until`: by the newest one that is not later."""
    # Rows of groups have no partition.
    return verdicts(history, until, Condition("partition", "<=", -1, or_null=True))


def partition_verdicts(history: History, group: str, until: datetime | None) -> Verdicts:
    """On one group and its partitions."""
    return verdicts(history, until, equal("group_id", group))


def verdicts(history: History, until: datetime | None, which: Condition) -> Verdicts:
    of_cluster = equal("cluster", history.cluster)
    not_later = [] if until is None else [Condition("as_of_time", "<=", until)]
    as_of = history.reader.newest(TABLE, "as_of_time", of_cluster, *not_later)
    if as_of is None:
        is_later = bool(not_later) and history.reader.newest(TABLE, "as_of_time", of_cluster) is not None
        return Verdicts(is_later=is_later)
    rows = history.rows(TABLE, equal("as_of_time", as_of), which, columns=COLUMNS)
    # A group may have records in several offsets partitions: those that it wrote last count, as for findings.
    rows = sorted(rows, key=lambda row: (row["last_commit_time"] or NEVER, -row["evidence_partition"]))
    newest = {row["group_id"]: row["evidence_partition"] for row in rows}
    rows = [row for row in rows if row["evidence_partition"] == newest[row["group_id"]]]
    of_partitions = sorted(((place(row), row) for row in rows if row["partition"] is not None), key=itemgetter(0))
    return Verdicts(
        as_of,
        of_groups={row["group_id"]: row for row in rows if row["partition"] is None},
        of_partitions=dict(of_partitions),
    )


def place(row: Row) -> tuple[str, int]:
    return str(row["topic"] or row["topic_id"]), int(row["partition"])


def is_wrong(row: Row | None) -> bool:
    return row is not None and row["own_verdict"] != LagVerdict.OK
