"""Findings on pages: the worst of those that are new, and how many are known; or all of them by kind, each with its
worst findings and where their records are."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from jobs.output.failure import visible
from schemas.words.gate import FindingKind
from schemas.words.history import Confidence, Severity
from schemas.words.records import OFFSETS_TOPIC

Row = Mapping[str, Any]
MOST_NEW, MOST_KINDS, MOST_ROWS = 10, 10, 3
HEADINGS = {kind.value: kind.heading for kind in FindingKind}
SEVERITIES = [severity.value for severity in Severity]


def new_finding_lines(findings: Sequence[Row], is_known: Sequence[bool]) -> Iterator[str]:
    """Findings are worst first. `is_known`: of each, whether an earlier run reported it."""
    counting = [each for each in zip(findings, is_known, strict=True) if each[0]["waived_until_time"] is None]
    new, known = ([row for row, was_known in counting if was_known == wanted] for wanted in (False, True))
    for row in new[:MOST_NEW]:
        heading = HEADINGS.get(row["kind"], row["kind"])
        yield f"{row['severity']:8}  {heading}: {subject(row)}{one_line(row['message'])}"
        if about := evidence(row):
            yield f"            {about}"
    if len(new) > MOST_NEW:
        yield f"          and {len(new) - MOST_NEW:,} more new ones: {summary(new[MOST_NEW:])}; --verbose lists them"
    if known:
        yield f"known     {len(known):,} since before: {summary(known)}; --verbose lists them"
    if waived := len(findings) - len(counting):
        yield f"waived    {waived:,}"


def finding_lines(findings: Sequence[Row]) -> Iterator[str]:
    """Findings are worst first; those of a kind are shown together, at the place of the worst of them."""
    counting = [row for row in findings if row["waived_until_time"] is None]
    kinds, is_all_new = by_kind(counting), all(map(is_new, counting))
    for severity, kind, rows in kinds[:MOST_KINDS]:
        num_new = 0 if is_all_new else sum(map(is_new, rows))
        yield f"{severity:8}  {named(kind)}: {len(rows):,}{f', {num_new:,} new' if num_new else ''}"
        # Those that nobody has read yet come first.
        for row in sorted(rows, key=is_new, reverse=True)[:MOST_ROWS]:
            yield f"          {subject(row)}{one_line(row['message'])}"
            if about := evidence(row):
                yield f"            {about}"
        if len(rows) > MOST_ROWS:
            yield f"          and {len(rows) - MOST_ROWS:,} more"
    if len(kinds) > MOST_KINDS:
        left = ", ".join(f"{HEADINGS.get(kind, kind)} ({len(rows):,})" for _, kind, rows in kinds[MOST_KINDS:])
        yield f"          and {left}"
    yield from waived_lines([row for row in findings if row["waived_until_time"] is not None])
    if findings:
        # Its column `query` is the SQL that lists the rows of each.
        statement = f"SELECT * FROM findings WHERE run_id = '{findings[0]['run_id']}' ORDER BY rank"
        yield f'all       groupscope sql "{statement}"'


def waived_lines(waived: Sequence[Row]) -> Iterator[str]:
    """They are shown, and do not count."""
    if waived:
        yield f"waived    {len(waived):,}"
    for row in waived[:MOST_ROWS]:
        until = f"{row['waived_until_time']:%Y-%m-%d}"
        yield f"          {subject(row)}{one_line(row['message'])}: {named(row['kind'])}, waived until {until}"
    if len(waived) > MOST_ROWS:
        yield f"          and {len(waived) - MOST_ROWS:,} more"


def by_kind(findings: Sequence[Row]) -> list[tuple[str, str, list[Row]]]:
    """Each kind of a severity, in the order of its worst finding."""
    places = {key(row): place for place, row in reversed(list(enumerate(findings)))}
    ordered = sorted(findings, key=lambda row: places[key(row)])
    return [(*severity_and_kind, list(rows)) for severity_and_kind, rows in groupby(ordered, key=key)]


def is_new(row: Row) -> bool:
    """Unknown of rows of an older release."""
    return bool(row["is_new"])


def key(row: Row) -> tuple[str, str]:
    return row["severity"], row["kind"]


def subject(row: Row) -> str:
    """The group; messages name topics themselves."""
    return "" if row["group_id"] is None else f"{visible(row['group_id'])}: "


def named(kind: str) -> str:
    """In words first. A later release may have written others."""
    return f"{HEADINGS[kind]} ({kind})" if kind in HEADINGS else kind


def evidence(row: Row) -> str:
    """Nothing about what is certain and has no records of its own."""
    doubt = "" if row["confidence"] == Confidence.CERTAIN else row["confidence"]
    return "; ".join(filter(None, (doubt, evidence_place(row))))


def evidence_place(row: Row) -> str | None:
    """Some findings are about many records of an offsets partition: they name the partition alone."""
    if row["evidence_partition"] is None:
        return None
    partition = f"{OFFSETS_TOPIC}-{row['evidence_partition']}"
    first, last = row["evidence_first_offset"], row["evidence_last_offset"]
    if first is None or last is None:
        return partition
    records = f"record {first:,}" if first == last else f"records {first:,} to {last:,}"
    return f"{partition}, {records}"


def one_line(text: str) -> str:
    """A line break in a name would draw lines that we did not write."""
    return visible(" ".join(text.split()))


def summary(findings: Sequence[Row]) -> str:
    """Such as `2 critical, 5 warning`."""
    numbers = Counter(row["severity"] for row in findings if row["waived_until_time"] is None)
    counts = ", ".join(f"{numbers[severity]:,} {severity}" for severity in SEVERITIES if numbers[severity])
    return counts or "no findings"


def summary_with_new(findings: Sequence[Row]) -> str:
    """Such as `2 critical, 5 warning (1 new)`."""
    counting = [row for row in findings if row["waived_until_time"] is None]
    return f"{summary(findings)} ({sum(map(is_new, counting)) or 'none'} new)" if counting else summary(findings)
