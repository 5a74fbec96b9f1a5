"""The whole report: asked of the tables of one cluster, made into pages."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.command_line.flags import VERSION
from jobs.command_line.values import GroupChoice
from jobs.output.failure import visible
from jobs.output.zones import ZONES
from jobs.redacting.redaction import Key, NoRedaction, Redaction, known_words
from jobs.reporting.columns import Answer, Json, plain, redacted, spelled
from jobs.reporting.findings import finding_table
from jobs.reporting.head import head_of, notices, sentence
from jobs.reporting.lanes import MAP_COLUMNS, About, Lanes
from jobs.reporting.overview import TITLES, listings, mark_table, tiles, with_assignors
from jobs.reporting.pages import json_text, page, text_of
from jobs.reporting.questions import CLUSTER, REDACTION, shown_statements, statements
from jobs.reporting.report_folder import INDEX
from schemas.words.lag import WORST_FIRST

if TYPE_CHECKING:
    from jobs.queries.engines.duckdb_engine import Session

# Of one file: above it groups have pages beside it.
MOST_BYTES = 15_000_000
# Of a page without its data; of a group in what is shown without a script.
FRAME_BYTES, WITHOUT_SCRIPT_BYTES = 400_000, 600
# Tables of a page with rows about groups, and the column that names them.
ABOUT_GROUPS = {"findings": "group", "marks": "group", "groups": "id"}
MOST_WITHOUT_SCRIPT = 200
GROUPS_FOLDER = "groups"
WORST = f"CASE verdict {' '.join(f'WHEN {each.value!r} THEN {place}' for place, each in enumerate(WORST_FIRST))} END"
# Paths and patterns hold names too.
WAREHOUSE_WORD, CHOICE_WORDS = "WAREHOUSE", "a part of the groups"
MakeLanes = Callable[[About, Sequence[str], frozenset[str]], Mapping[str, Lanes]]


def report_of(
    session: "Session", cluster: str, warehouse: str, choice: GroupChoice, make_lanes: MakeLanes, basis: str = "",
    most_bytes: int = MOST_BYTES, key: Key | None = None,
) -> tuple[dict[str, Json], Iterator[tuple[str, str]]]:  # fmt: skip
    """Its document, and its pages: where each is, and its text. `basis`: what they say that they rest on; `key`: of the
    hashes that stand for names."""
    redaction = NoRedaction() if key is None else redaction_of(session, cluster, key.secret)
    shown = redaction.name(cluster)
    place, choice_words = (warehouse, choice.words) if key is None else (WAREHOUSE_WORD, choice.words and CHOICE_WORDS)
    texts = statements(CLUSTER, cluster)
    asked = {name: session.table(texts[name]) for name in ("runs", "coverage")}
    head = head_of({name: table.to_pylist() for name, table in asked.items()})
    times = [head[name] for name in ("since", "until", "as_of") if head[name] is not None] or [0]
    span = min(times), max(times)
    of_span = {"first_ms": str(span[0]), "length_ms": str(span[1] - span[0] + 1), "worst_first": WORST}
    later = statements(CLUSTER, cluster, **of_span).items()
    asked |= {name: session.table(text) for name, text in later if name not in asked}
    marks = asked["marks"].to_pylist()
    tables = {name: redacted(chosen(table, choice), redaction) for name, table in asked.items()}
    answers = {name: table.to_pylist() for name, table in tables.items() if name != "marked"}
    counting = [row for row in answers["findings"] if row["waived_until_time"] is None]
    groups = with_assignors(answers["groups"], answers)
    names = [row["id"] for row in groups]
    troubled = frozenset(row["id"] for row in groups if row["critical"] or row["warning"])
    about_lanes = About(cluster, redaction, span, tuple(marks), place, (len(troubled), len(names) - len(troubled)))
    lanes = make_lanes(about_lanes, names, troubled)
    own = shown_statements(shown, ("findings", *TITLES))
    num_there = sum(not row["is_gone"] for row in groups)
    lag = {visible(name): known for name in names if (known := lanes[name].lag) is not None}
    document: dict[str, Json] = {
        "format": 1,
        "about": {
            "cluster": visible(shown), "warehouse": place, "version": VERSION, "zone": str(ZONES.people),
            "choice": choice_words, "is_redacted": key is not None, "basis": "" if key is not None else basis, **head,
            "back": None,
        },
        "sentence": sentence(answers, counting, num_there),
        "notices": list(notices(answers, answers["findings"], choice_words, place)),
        "tiles": tiles(head, groups, answers, lag, span[0], about_lanes.column_ms),
        "map": {
            "from": span[0], "to": span[0] + MAP_COLUMNS * about_lanes.column_ms, "columns": MAP_COLUMNS,
            "states": {visible(name): lanes[name].letters for name in names}, "lag": lag,
        } if names else None,
        "marks": mark_table(
            Answer(tables["marked"], is_whole=True), [{**row, "text": redaction.name(row["text"])} for row in marks],
            {redaction.real(name): name for name in names},
        ),
        "groups": {
            **{name: [spelled(row[name]) for row in groups] for name in (groups[0] if groups else ())},
            "rank": list(range(len(groups))), "page": [None] * len(groups),
        },
        "findings": finding_table(answers, place, has_names=key is None),
        "cluster": listings(tables, own),
        "statements": own,
    }  # fmt: skip
    # What its folder is known by from then on.
    marks_of_folder = {"mark": shown, "has_kept_key": key is not None and key.is_kept}
    details = {visible(name): lanes[name].packed for name in names}
    return document, pages_of(document, details, {*map(visible, troubled)}, marks_of_folder, most_bytes)


def chosen(table: pa.Table, choice: GroupChoice) -> pa.Table:
    """By names as they are in the log. What is about no group is about all."""
    column = next((name for name in ("group_id", "id", "group") if name in table.column_names), None)
    if column is None or choice == GroupChoice():
        return table
    names = pc.unique(table.column(column))
    wanted = names.filter(pa.array([choice.has(name) for name in names.to_pylist()], pa.bool_()))
    return table.filter(pc.is_in(table.column(column), value_set=wanted))


def pages_of(
    document: dict[str, Json], details: Mapping[str, str], troubled: set[str], marks: Mapping[str, Json], most: int
) -> Iterator[tuple[str, str]]:
    """All groups are on the first one; or groups without findings, and those for which there is no room, are on others.
    The first one comes last, so that its links lead somewhere."""
    own_bytes = {name: len(packed) for name, packed in details.items()}
    sizes = {name: own_bytes[name] + rows + WITHOUT_SCRIPT_BYTES for name, rows in bytes_of_rows(document).items()}
    room = most - FRAME_BYTES - len(json_text(document).encode()) - WITHOUT_SCRIPT_BYTES * len(sizes)
    is_one = sum(own_bytes.values()) <= room
    here = set(parts_of([name for name in sizes if is_one or name in troubled], own_bytes, room)[0])
    parts = parts_of([name for name in sizes if name not in here], sizes, most - FRAME_BYTES)
    page_of = {name: f"{GROUPS_FOLDER}/part-{place:03}.html" for place, part in enumerate(parts, 1) for name in part}
    for names in map(set, filter(None, parts)):
        own = {
            **document, "about": {**document["about"], "back": f"../{INDEX}"}, "notices": [], "tiles": [], "map": None,
            "cluster": [], "findings": rows_about(document["findings"], "group", names),
            "marks": rows_about(document["marks"], "group", {None, *names}),
            "groups": rows_about(document["groups"], "id", names),
            "details": {name: packed for name, packed in details.items() if name in names},
        }  # fmt: skip
        yield page_of[min(names)], page(own, values_of(own, marks))
    whole = {
        **document, "groups": {**document["groups"], "page": [page_of.get(name) for name in details]},
        "details": {name: packed for name, packed in details.items() if name in here},
    }  # fmt: skip
    yield INDEX, page(whole, values_of(whole, marks))


def bytes_of_rows(document: Mapping[str, Json]) -> dict[str, int]:
    """Of each group, in their order: of its rows in all tables."""
    sizes = dict.fromkeys(document["groups"].get("id", ()), 0)
    for table, column in ABOUT_GROUPS.items():
        columns = {name: plain(values) for name, values in document[table].items()}
        for group, *row in zip(columns.get(column, ()), *columns.values(), strict=True):
            if group in sizes:
                sizes[group] += len(json_text(row).encode())
    return sizes


def parts_of(names: Sequence[str], sizes: Mapping[str, int], most: int) -> list[list[str]]:
    """One at least, each with as many as there is room for."""
    parts, room = [list[str]()], most
    for name in names:
        room -= sizes[name]
        if room < 0 and parts[-1]:
            parts.append([])
            room = most - sizes[name]
        parts[-1].append(name)
    return parts


def rows_about(table: Mapping[str, Json], name: str, wanted: Collection[str | None]) -> dict[str, Json]:
    columns = {each: plain(values) for each, values in table.items()}
    is_wanted = [each in wanted for each in columns.get(name, ())]
    return {each: [*compress(values, is_wanted)] for each, values in columns.items()}


def values_of(document: Mapping[str, Json], marks: Mapping[str, Json]) -> dict[str, Any]:
    """What a page says of itself, and what it shows without a script."""
    about = {**document["about"], **marks}
    findings = rows_of(document["findings"], "severity", "heading", "kind", "group", "message", "since", "at")
    groups = rows_of(
        document["groups"], "id", "severity", "verdict", "type", "state", "members", "lag", "rebalances", "unread",
        "unread_lasts",
    )  # fmt: skip
    return {
        "about": about,
        "title": f"{about['verdict']}: consumer groups of {about['cluster']}",
        "sentence": text_of(document["sentence"]),
        "notices": [text_of(each) for each in document["notices"]],
        "findings": [
            {**row, "since": text_of([{"t": row["since"] or row["at"]}])} for row in findings[:MOST_WITHOUT_SCRIPT]
        ],
        "num_more_findings": max(0, len(findings) - MOST_WITHOUT_SCRIPT),
        "groups": [{**row, "group": row["id"], "unread": unread_text(row)} for row in groups],
    }


def unread_text(row: Mapping[str, Json]) -> str:
    return ("at least " if row["unread_lasts"] else "") + text_of([{"d": row["unread"]}]) if row["unread"] else ""


def rows_of(table: Mapping[str, Json], *names: str) -> list[dict[str, Json]]:
    columns = [plain(table.get(name, [])) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def redaction_of(session: "Session", cluster: str, key: bytes) -> Redaction:
    (statement,) = statements(REDACTION, cluster).values()
    rows = session.table(statement).to_pylist()
    return Redaction(
        key, [cluster, *(row["name"] for row in rows if not (row["may_be_word"] and row["name"] in known_words()))]
    )
