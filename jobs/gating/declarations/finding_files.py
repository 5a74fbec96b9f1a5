"""Reads the declarations of findings: `schemas/findings/KIND.sql` is one portable SELECT that lists every row of that
kind.

Its columns: group_id, topic, partition, message, at_time (NULL: it still lasts, so it always counts),
evidence_partition, evidence_first_offset, evidence_last_offset, confidence, severity (NULL: that of the kind), harm
(more is worse). Beside the parameters of all rule files, a statement may use `:since_time` and `:until_time`, between
which an event counts. `{held TABLE}`, `{held_states}` and `{newest_assignments}` are the texts of held_rows.py.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from jobs.gating.declarations.held_rows import with_held_rows
from jobs.gating.declarations.rule_files import FINDINGS, shipped_files
from jobs.gating.declarations.sql_text import Parameters, time_literal
from jobs.queries.definitions.dialects import portable_text
from schemas.words.gate import FindingKind

BEFORE_EVERY_EVENT = datetime(1900, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Events:
    """Which events count: those after `since` (None: all), up to `until`."""

    since: datetime | None
    until: datetime

    @property
    def condition(self) -> str:
        after = "" if self.since is None else f"at_time > {time_literal(self.since)} AND "
        return f"(at_time IS NULL OR ({after}at_time <= {time_literal(self.until)}))"

    def added_to(self, parameters: Parameters) -> Parameters:
        since = BEFORE_EVERY_EVENT if self.since is None else self.since
        times = {"since_time": time_literal(since), "until_time": time_literal(self.until)}
        return Parameters({**parameters.values, **times})


@dataclass(frozen=True)
class FindingFile:
    kind: FindingKind
    about: str
    sql: str

    def rows(self, parameters: Parameters, events: Events) -> str:
        """All rows of the kind that count, each with its severity."""
        listed = events.added_to(parameters).fill(self.sql, f"schemas/findings/{self.kind.value}.sql")
        return f"SELECT * FROM (\n{listed}\n) AS listed\nWHERE {events.condition}"

    def grouped_sql(self, parameters: Parameters, events: Events) -> str:
        """One row per group, topic and severity: the worst of its rows, and their number."""
        return f"""\
WITH listed_rows AS (
{self.rows(parameters, events)}
),
severe AS (
  SELECT group_id, topic, partition, message, at_time, evidence_partition, evidence_first_offset,
    evidence_last_offset, confidence, harm, coalesce(severity, '{self.kind.severity.value}') AS severity
  FROM listed_rows
),
ranked AS (
  SELECT severe.*, row_number() OVER (
    PARTITION BY group_id, topic, severity
    ORDER BY harm DESC, evidence_partition NULLS LAST, evidence_first_offset NULLS LAST, partition NULLS LAST, message
  ) AS place
  FROM severe
)
SELECT group_id, topic, severity,
  count(*) AS num_rows,
  count(DISTINCT partition) AS num_partitions,
  min(partition) AS partition,
  max(at_time) AS at_time,
  max(CASE WHEN place = 1 THEN message END) AS message,
  max(CASE WHEN place = 1 THEN evidence_partition END) AS evidence_partition,
  max(CASE WHEN place = 1 THEN evidence_first_offset END) AS evidence_first_offset,
  max(CASE WHEN place = 1 THEN evidence_last_offset END) AS evidence_last_offset,
  max(CASE WHEN place = 1 THEN confidence END) AS confidence,
  sum(harm) AS harm
FROM ranked
GROUP BY group_id, topic, severity"""

    def some_of(self, listed: str, group_id: str | None, topic: str | None, severity: str) -> str:
        """The statement that lists the rows of one finding, worst first. `listed`: the statement that lists all."""
        conditions = [
            is_value("group_id", group_id),
            is_value("topic", topic),
            f"coalesce(severity, '{self.kind.severity.value}') = '{severity}'",
        ]
        return f"{listed}\n  AND {' AND '.join(conditions)}\nORDER BY harm DESC"


def is_value(column: str, value: str | None) -> str:
    return f"{column} IS NULL" if value is None else f"{column} = {portable_text(value)}"


@cache
def finding_files() -> tuple[FindingFile, ...]:
    kinds = {kind.value: kind for kind in FindingKind}
    return tuple(finding_file(kinds[name], file.text) for name, file in shipped_files(FINDINGS, ".sql").items())


def finding_file(kind: FindingKind, text: str) -> FindingFile:
    lines = text.splitlines()
    about = " ".join(line.removeprefix("--").strip() for line in lines if line.startswith("--"))
    sql = "\n".join(line for line in lines if not line.startswith("--")).strip()
    return FindingFile(kind, about, with_held_rows(sql))
