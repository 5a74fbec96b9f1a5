"""Reads the declarations of findings: `schemas/findings/KIND.sql` is one portable SELECT that lists every row of that
kind. One finding is all rows of a kind with one subject that are one event, or one condition that lasts.

Columns of each: group_id, topic, partition, message, at_time (when the event began; NULL: a condition, which still
lasts), evidence_partition, evidence_first_offset, evidence_last_offset, confidence, severity (NULL: that of the kind),
harm (more is worse). Some kinds have columns of OPTIONAL too, named by `AS`. Beside the parameters of all rule files,
a statement may use `:until_time`, up to which events count. `{held TABLE}` and other names in braces are parts
(`schemas/parts`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from jobs.gating.declarations.rule_files import FINDINGS, RuleFile, shipped_files
from jobs.gating.declarations.sql_text import Parameters, time_literal
from jobs.queries.definitions.dialects import portable_text
from schemas.sql_files import part, sql_file
from schemas.words.gate import FindingKind
from udfs.groups.history.reading_ends import GROWN_BASIS

# By DuckDB's type. `subject`: of findings without a group, what they are about. `event`: rows with the same one are one
# event, which began at the first of their times; without it, rows of one time are. `last_time`: when the event was
# added to last; by this time it counts. `num_of_whole`: partitions of the group, or of the members that are named.
OPTIONAL = {
    "subject": "VARCHAR",
    "event": "VARCHAR",
    "last_time": "TIMESTAMPTZ",
    "since_time": "TIMESTAMPTZ",
    "messages_waiting": "BIGINT",
    "topic_id": "VARCHAR",
    "partitions": "INTEGER[]",
    "member_id": "VARCHAR",
    "client_id": "VARCHAR",
    "client_host": "VARCHAR",
    "num_of_whole": "BIGINT",
    "before": "VARCHAR",
}


@dataclass(frozen=True)
class Events:
    """Which events count: those that went on after `since` (None: all), up to `until`."""

    since: datetime | None
    until: datetime

    def added_to(self, parameters: Parameters) -> Parameters:
        return Parameters({**parameters.values, "until_time": time_literal(self.until)})


PLACE = ("group_id", "topic", "partition")
# Of a finding its worst row says these.
OF_WORST = (
    "severity", "message", "topic", "partition", "confidence", "evidence_partition", "evidence_first_offset",
    "evidence_last_offset",
)  # fmt: skip


@dataclass(frozen=True)
class FindingFile:
    """`has`: which columns of OPTIONAL it has."""

    kind: FindingKind
    about: str
    sql: str
    has: frozenset[str]

    @property
    def counted_by(self) -> str:
        return "coalesce(last_time, at_time)" if "last_time" in self.has else "at_time"

    def rows(self, parameters: Parameters, events: Events) -> str:
        """All rows of the kind up to the time until which events count."""
        listed = events.added_to(parameters).fill(self.sql, f"schemas/findings/{self.kind.value}.sql")
        until = time_literal(events.until)
        return f"SELECT * FROM (\n{listed}\n) AS listed\nWHERE (at_time IS NULL OR {self.counted_by} <= {until})"

    def grouped_sql(self, parameters: Parameters, events: Events) -> str:
        """For DuckDB. One row for each finding: what its worst row says, and what all say together."""
        added = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in OPTIONAL.items())
        worst = ",\n    ".join(f"max(CASE WHEN place = 1 THEN {name} END) AS {name}" for name in OF_WORST)
        counts = "TRUE" if events.since is None else f"max(counted_time) > {time_literal(events.since)}"
        return f"""\
WITH listed_rows AS (
{self.rows(parameters, events)}
),
filled AS (
  SELECT {added} WHERE FALSE
  UNION ALL BY NAME
  SELECT * REPLACE (coalesce(severity, '{self.kind.severity.value}') AS severity),
    {"event" if "event" in self.has else "at_time"} AS event_name, {self.counted_by} AS counted_time
  FROM listed_rows
),
ranked AS (
  SELECT filled.*, row_number() OVER (
    PARTITION BY group_id, subject, event_name
    ORDER BY CASE severity WHEN 'critical' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END, harm DESC,
      evidence_partition NULLS LAST, evidence_first_offset NULLS LAST, topic NULLS LAST, partition NULLS LAST, message
  ) AS place
  FROM filled
)
SELECT group_id, subject, event_name,
    {worst},
    count(*) AS num_rows,
    min(at_time) AS at_time,
    max(counted_time) AS last_time,
    min(since_time) AS since_time,
    first(before ORDER BY since_time NULLS LAST, place) AS before,
    {part("capped_total", "messages_waiting")} AS messages_waiting,
    min(num_of_whole) AS num_of_whole,
    list(DISTINCT {{'topic': topic, 'topic_id': topic_id, 'partitions': coalesce(partitions, [partition])}})
      AS topic_partitions,
    list({{'member_id': member_id, 'client_id': client_id, 'client_host': client_host, 'num_of_whole': num_of_whole,
      'since_time': since_time}})
      FILTER (WHERE member_id IS NOT NULL) AS owners,
    sum(harm) AS harm
FROM ranked
GROUP BY group_id, subject, event_name
HAVING max(counted_time) IS NULL OR {counts}"""

    def reported(self, parameters: Parameters, events: Events, severities: Iterable[str]) -> str:
        """About which groups, topics and partitions there ever was a finding of one of these severities. Without the
        number it is about the topic, without the topic about the group."""
        severity = f"coalesce(severity, '{self.kind.severity.value}')"
        some = f"{severity} IN ({', '.join(map(portable_text, severities))})"
        rows = self.rows(parameters, Events(None, events.until))
        return f"SELECT DISTINCT {', '.join(PLACE)} FROM (\n{rows}\n) AS every\nWHERE {some}"

    def listing_of(self, listed: str, row: Mapping[str, Any]) -> str:
        """The statement that lists the rows of one finding, worst first. `listed`: the statement that lists all; `row`:
        of `grouped_sql`."""
        conditions = [is_value("group_id", row["group_id"])]
        if "subject" in self.has:
            conditions.append(is_value("subject", row["subject"]))
        if "event" in self.has:
            conditions.append(is_value("event", row["event_name"]))
        else:
            time = row["at_time"]
            conditions.append("at_time IS NULL" if time is None else f"at_time = {time_literal(time)}")
        return f"{listed}\n  AND {' AND '.join(conditions)}\nORDER BY harm DESC"


def is_value(column: str, value: str | None) -> str:
    return f"{column} IS NULL" if value is None else f"{column} = {portable_text(value)}"


@cache
def finding_files() -> tuple[FindingFile, ...]:
    kinds = {kind.value: kind for kind in FindingKind}
    return tuple(finding_file(kinds[name], file) for name, file in shipped_files(FINDINGS).items())


def finding_file(kind: FindingKind, file: RuleFile) -> FindingFile:
    declared = sql_file(file.text, file.place)
    # How the basis of the unread time of a new partition begins.
    sql = declared.filled({"grown": GROWN_BASIS})
    has = frozenset(name for name in OPTIONAL if re.search(rf"\bAS {name}\b", sql))
    return FindingFile(kind, " ".join(text for _, text in declared.header), sql, has)
