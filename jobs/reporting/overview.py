"""The whole cluster at a glance: its groups, tiles with their past, marks, and what is listed about all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from jobs.answers.marks import is_about
from jobs.answers.snapshots import assignor_in_use, first_assignor
from jobs.output.failure import visible
from jobs.reporting.columns import Answer, Json, ms, words
from jobs.reporting.head import SEVERITIES, Answers, Row, Sentence
from schemas.words.lag import WORST_FIRST
from udfs.sentences.counts import counted, damage_text
from udfs.sentences.partitions_read import KNOWN

TITLES: Mapping[str, str] = {
    "storms": "Rebalance storms",
    "volume": "Who fills the offsets topic",
    "expiring": "Offsets that expire next",
    "migrations": "Progress of migrations to cooperative rebalancing and to the consumer protocol",
    "decoding": "Record types in the log, and records that cannot be decoded",
    "coverage": "History by offsets partition",
}
# Of share groups, and of groups that are gone.
NO_VERDICT = "no verdict"
# Of one listing; its statement lists the others.
MOST_ROWS = 60
MOST_WORDS = 4_000
# Of the runs that a tile shows.
PAST = 60


def with_assignors(rows: Sequence[Row], answers: Answers) -> list[Row]:
    default = first_assignor(next((row["assignor"] for row in answers["assignors"]), None))
    return [
        {**row, "assignor": assignor_in_use({**row, "group_type": row["type"]}, lambda: default) or "none",
         "words": row["words"][:MOST_WORDS]}
        for row in rows
    ]  # fmt: skip


def tiles(
    head: Mapping[str, Json], groups: Sequence[Row], answers: Answers, lag: Mapping[str, Sequence[Json]], first_ms: int,
    column_ms: int,
) -> list[dict[str, Json]]:  # fmt: skip
    """Each with its past: of the same time as the map, or of runs. `lag`: of each group, in columns of the map,
    which begins at `first_ms`."""
    findings = [row for row in answers["findings"] if row["waived_until_time"] is None]
    rebalanced, covered = ([row[name] for row in answers["past"]] for name in ("num_rebalances", "num_covered"))
    found = [row["num_findings"] for row in answers["past_findings"][-PAST:]]
    highest = [
        max(((value, name) for name, value in zip(lag, column, strict=True) if value is not None), default=None)
        for column in zip(*lag.values(), strict=True)
    ]
    peak = max(
        ((*each, first_ms + place * column_ms) for place, each in enumerate(highest) if each is not None), default=None
    )
    made = [
        ("groups", "Groups", *verdict_tile(groups), [], "groups"),
        ("lag", "Worst lag", *lag_tile(groups, peak), [None if each is None else each[0] for each in highest], "map"),
        ("rebalances", "Rebalances", *rebalance_tile(groups, answers["past"]), rebalanced, "map"),
        ("findings", "New findings", *finding_tile(findings, len(answers["findings"])), found, "findings"),
        ("coverage", "Coverage", *coverage_tile(head, answers), covered, "cluster"),
    ]
    names = ("name", "title", "value", "note", "past", "link")
    return [{**dict(zip(names, each, strict=True)), "from": head["since"], "to": head["until"]} for each in made]


def verdict_tile(groups: Sequence[Row]) -> tuple[Sentence, Sentence]:
    verdicts = Counter(row["verdict"] for row in groups if not row["is_gone"])
    notes = [f"{verdicts[each]:,} {each}" for each in (*WORST_FIRST, NO_VERDICT) if verdicts[each]] or ["none"]
    num_gone = len(groups) - verdicts.total()
    return [{"n": verdicts.total()}, f", {num_gone:,} gone" if num_gone else ""], [", ".join(notes)]


def lag_tile(groups: Sequence[Row], peak: tuple[int, str, int] | None) -> tuple[Sentence, Sentence]:
    """`peak`: the highest of the whole time, of which group, and when."""
    known = [row for row in groups if row["lag"] is not None]
    if not known:
        return ["unknown"], ["no end offsets: groupscope capture takes them"]
    most, oldest = (max(known, key=lambda row: row[name] or 0) for name in ("lag", "time_lag"))
    note: Sentence = [{"g": visible(most["id"])}, f", {visible(most['worst'])}" if most["worst"] else ""]
    if oldest["time_lag"]:
        note += ["; the oldest waits ", {"d": oldest["time_lag"]}, " in ", {"g": visible(oldest["id"])}]
    if peak is not None and peak[0] > most["lag"]:
        note += ["; highest ", {"n": peak[0]}, ", ", {"g": peak[1]}, ", about ", {"t": peak[2]}]
    if unknown := sum(row["lag_unknown"] for row in groups):
        note.append(f"; {counted(unknown, 'partition')} unknown")
    return [{"n": most["lag"]}, " message" if most["lag"] == 1 else " messages"], note


def rebalance_tile(groups: Sequence[Row], past: Sequence[Row]) -> tuple[Sentence, Sentence]:
    longest, most = (max(groups, key=lambda row: row[name] or 0, default=None) for name in ("unread", "rebalances"))
    note: Sentence = ["no unread time"]
    if longest is not None and longest["unread"]:
        note = [
            "longest unread ",
            *(["at least "] if longest["unread_lasts"] else []),
            {"d": longest["unread"]},
            ", ",
            {"g": visible(longest["id"])},
        ]
    if most is not None and most["rebalances"]:
        note += ["; most in ", {"g": visible(most["id"])}]
    return [{"n": sum(row["num_rebalances"] for row in past)}], note


def finding_tile(findings: Sequence[Row], number: int) -> tuple[Sentence, Sentence]:
    """`findings`: without waived ones."""
    counts = Counter(row["severity"] for row in findings)
    note = ", ".join(f"{counts[each]:,} {each}" for each in SEVERITIES if counts[each]) or "none"
    waived = number - len(findings)
    new = sum(row["is_new"] for row in findings)
    return [{"n": new}, f" of {len(findings):,}"], [f"{note}; {waived:,} waived" if waived else note]


def coverage_tile(head: Mapping[str, Json], answers: Answers) -> tuple[Sentence, Sentence]:
    """Such as `50 of 50`, `1 Nov to now, no holes`."""
    rows, rejected = answers["coverage"], answers["rejected"][0]
    number = next((row["num_partitions"] for row in rows if row["num_partitions"] is not None), None)
    read = sum(row["reading"] in KNOWN for row in rows)
    holes = sum(row["num_spans"] - 1 for row in rows if row["num_spans"])
    note: Sentence = ["offsets partitions"]
    if head["since"] is not None:
        note += ["; ", {"t": head["since"]}, " to ", {"t": head["until"]}]
    note.append(f"; {counted(holes, 'hole')}" if holes else "; no holes")
    if rejected["num_rejected"]:
        note.append(f"; {counted(rejected['num_rejected'], 'record')} rejected")
    if ranges := rejected["num_damaged_ranges"]:
        # Two copies may be damaged at the same place: the replay counts their records once.
        records = sum([row["damaged_records"] or 0 for row in rows] or [rejected["damaged_records"] or 0])
        about = {"is_estimated": rejected["is_damage_estimated"]}
        note.append(f"; {damage_text('damaged range', ranges, rejected['damaged_bytes'] or 0, records, **about)}")
    return [f"{read:,}" if number is None else f"{read:,} of {number:,}"], note


def mark_table(marked: Answer, marks: Sequence[Row], groups: Mapping[str, str]) -> dict[str, Json]:
    """What was found, and what people marked: of all groups, or of those that its pattern names. `groups`: as the page
    names them, by what they are called in the log."""
    rows = [
        (at, mark, group, f"{what.replace('_', ' ')}{f' of {topic}' if topic else ''}"
                          f"{f' and {number - 1:,} more' if number > 1 else ''}")
        for at, mark, group, what, topic, number in zip(*marked.whole().values(), strict=True)
    ]  # fmt: skip
    for mark in marks:
        pattern = mark["group_pattern"]
        about = (
            [None] if pattern is None else [visible(shown) for real, shown in groups.items() if is_about(pattern, real)]
        )
        rows += [(ms(mark["mark_time"]), "deployment", group, visible(mark["text"])) for group in about]
    rows.sort(key=lambda row: (row[0], row[1]))
    at, *texts = ([row[place] for row in rows] for place in range(4))
    return {"at": at, **{name: words(each) for name, each in zip(("kind", "group", "text"), texts, strict=True)}}


def listings(tables: Mapping[str, pa.Table], statements: Mapping[str, str]) -> list[dict[str, Json]]:
    """Those that have rows."""
    return [
        {
            "name": name, "title": title, "columns": table.column_names,
            "kinds": [kind_of(field.name, str(field.type)) for field in table.schema],
            "rows": Answer(table.slice(0, MOST_ROWS), is_whole=True).whole(),
            "more": max(0, table.num_rows - MOST_ROWS), "statement": statements[name],
        }
        for name, title in TITLES.items()
        if (table := tables[name]).num_rows
    ]  # fmt: skip


def kind_of(name: str, kind: str) -> str:
    if kind.startswith(("int", "double", "decimal")):
        return "duration" if name.endswith("_ms") else "number"
    known = {"timestamp": "time", "bool": "bool", "list": "list"}
    return next((shown for prefix, shown in known.items() if kind.startswith(prefix)), "text")
