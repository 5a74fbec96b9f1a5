"""Findings as the report shows them: what is wrong, in words, the records that show it, and how to look at them."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from jobs.answers.short_ids import ShortIds
from jobs.pages.run_pages import evidence_place
from jobs.reporting.rows.listings import Row
from schemas.words.gate import FindingKind
from schemas.words.records import OFFSETS_TOPIC

MEANINGS = {kind.value: (kind.heading, kind.meaning) for kind in FindingKind}
# Of these the page has the SQL too; of the others, the statement that gives it.
MOST_WITH_SQL = 150
MOST_FINDINGS = 2_000
# Longer names make no command that anybody types.
MOST_IN_COMMAND = 200


@dataclass(frozen=True)
class Finding:
    rank: int
    severity: str
    kind: str
    heading: str
    meaning: str
    group: str | None
    topics: Sequence[str]
    message: str
    at_time: datetime | None
    confidence: str
    evidence: str | None
    dump: str | None
    statement: str
    is_statement_of_query: bool
    waived_until: datetime | None
    is_new: bool


def findings_of(
    rows: Sequence[Row], logs: Mapping[int, str], member_ids: Collection[str], *, has_names: bool = True
) -> list[Finding]:
    """`rows` worst first; `logs`: a segment file of each offsets partition; `has_names`: groups have the names that the
    log has. Waived ones come last, uncounted."""
    in_order = sorted(rows, key=lambda row: row["waived_until_time"] is not None)
    short = ShortIds(member_ids, (row["message"] for row in rows))
    return [
        finding(row, place, short, dump_command(row, logs, has_names=has_names))
        for place, row in enumerate(in_order[:MOST_FINDINGS])
    ]


def finding(row: Row, place: int, short: ShortIds, dump: str | None) -> Finding:
    has_sql = place < MOST_WITH_SQL
    heading, meaning = MEANINGS.get(row["kind"], (row["kind"], ""))
    return Finding(
        rank=row["rank"],
        severity=row["severity"],
        kind=row["kind"],
        heading=heading,
        meaning=meaning,
        group=row["group_id"],
        topics=[each["topic"] for each in row["topic_partitions"] or () if each["topic"]],
        message=short.text(row["message"]),
        at_time=row["at_time"],
        confidence=row["confidence"],
        evidence=evidence_place(row),
        dump=dump,
        statement=row["query"] if has_sql else query_of(row),
        is_statement_of_query=has_sql,
        waived_until=row["waived_until_time"],
        is_new=bool(row["is_new"]),
    )


def query_of(row: Row) -> str:
    return f"SELECT query FROM findings WHERE run_id = '{row['run_id']}' AND rank = {row['rank']}"


def dump_command(row: Row, logs: Mapping[int, str], *, has_names: bool = True) -> str | None:
    """It begins with the first record of the evidence, where that is known."""
    partition = row["evidence_partition"]
    if partition is None:
        return None
    folder = PurePosixPath(logs[partition]).parent if partition in logs else f"{OFFSETS_TOPIC}-{partition}"
    group = (row["group_id"] or "") if has_names else ""
    is_typed = 0 < len(group) <= MOST_IN_COMMAND and group.isprintable()
    only = f" --group {shlex.quote(f'^{re.escape(group)}$')}" if is_typed else ""
    first = row["evidence_first_offset"]
    start = "" if first is None else f" --from-offset {first}"
    return f"groupscope dump{only}{start} {shell_quote(str(folder))}/*.log"


def shell_quote(folder: str) -> str:
    return shlex.quote(folder)
