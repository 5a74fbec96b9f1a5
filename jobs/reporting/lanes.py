"""What a page knows of each group: the lanes of its history, as columns, and its row of the map. Everything is asked of
many groups at once."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from jobs.answers.marks import marks_about
from jobs.answers.table_reader import Row
from jobs.output.failure import visible
from jobs.queries.definitions.dialects import portable_text
from jobs.redacting.redaction import Redaction
from jobs.reporting.columns import Answer, Json, plain, redacted
from jobs.reporting.commands import why_around
from jobs.reporting.pages import packed
from jobs.reporting.questions import LANES, MADE, STORIES, names_in_sql, statements
from jobs.reporting.stories import told_lines

if TYPE_CHECKING:
    from jobs.queries.engines.duckdb_engine import Session

# Each may be asked of those before it.
IN_ORDER = (
    "ids", "places", "turns", "silences", "away", "resets", "happenings", "points", "measured", "committed", "removals",
    "many_commits", "bounds", "spans", "told",
)  # fmt: skip
# Columns of time: of lanes about as many as a wide screen has dots, and of the map.
COLUMNS, MAP_COLUMNS = 1_200, 240
# Near events, of all groups with findings and of all others: so many rows in full of what was measured and committed,
# and of one group at most and at least.
ROOM, MOST_ROOM, LEAST_ROOM = (60_000, 300_000), 20_000, 300
# So many groups at once.
AT_ONCE = 50
# An id of a member, of which the beginning is enough to know it.
UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
# Of a group without findings that had more members, such ids are no longer.
MOST_WHOLE_IDS = 200
# Answers that are no tables of the document.
INNER = ("bounds", "exact", "map", "member_ids")
# Lanes with rows that may be made of several points, and the columns that are then needed.
OF_SEVERAL = {
    "lag": ("since", "least", "most"), "partition_lag": ("since", "low", "high"), "commits": ("since", "low", "high"),
}  # fmt: skip
# Columns that are written as what they are more than another one.
LESS = {
    "lag": {"since": "at", "least": "last", "most": "last"},
    "partition_lag": {"since": "at", "low": "last", "high": "last"},
    "commits": {"since": "at", "until": "at", "low": "offset", "high": "offset"},
    "states": {"to": "from"}, "members": {"to": "from"}, "rebalances": {"end": "start"},
    "owners": {"to": "from", "doubt_from": "from", "certain_until": "to"},
}  # fmt: skip


@dataclass(frozen=True)
class About:
    """What the lanes of all groups share. `span`: of the map; `marks`: not redacted, since their patterns are found in
    real names of groups."""

    cluster: str
    redaction: Redaction
    span: tuple[int, int]
    marks: tuple[Row, ...]
    warehouse: str
    # How many groups there are: with findings, and others.
    numbers: tuple[int, int]

    @property
    def column_ms(self) -> int:
        return max(1, -(-(self.span[1] - self.span[0] + 1) // MAP_COLUMNS))

    def places(self, groups: Sequence[str], troubled: Sequence[str]) -> dict[str, str]:
        """What the questions are filled in with. `groups`: as the page names them."""
        first, last = self.span
        rooms = (room // max(number, 1) for room, number in zip(ROOM, self.numbers, strict=True))
        of_troubled, of_others = (min(MOST_ROOM, max(LEAST_ROOM, room)) for room in rooms)
        wanted, found = (names_in_sql([self.redaction.real(each) for each in some]) for some in (groups, troubled))
        return {
            "groups": wanted, "troubled": found, "until": f"make_timestamptz({last * 1000})", "columns": str(COLUMNS),
            "map_columns": str(MAP_COLUMNS), "first_ms": str(first), "width_ms": str(self.column_ms),
            "troubled_room": str(of_troubled), "room": str(of_others), "told": str(max(8, min(40, of_others // 40))),
        }  # fmt: skip


class Lanes(NamedTuple):
    """Of a group: its detail as the document has it, and its row of the map; None: no lag is known."""

    packed: str
    letters: str
    lag: list[Json] | None


def lanes_of(
    session: "Session", about: About, groups: Sequence[str], troubled: frozenset[str]
) -> Iterator[tuple[str, Lanes]]:
    """`troubled`: those with findings."""
    for first in range(0, len(groups), AT_ONCE):
        some = groups[first : first + AT_ONCE]
        places = about.places(some, [each for each in some if each in troubled])
        made = statements(MADE, about.cluster, **places)
        for name in IN_ORDER:
            session.answer(f"CREATE OR REPLACE TEMP TABLE {name} AS\n{made[name]}")
        answers, stories = (
            {
                name: Answer(redacted(session.table(text), about.redaction))
                for name, text in statements(folder, about.cluster, **places).items()
            }
            for folder in (LANES, STORIES)
        )
        for group in some:
            (letters,), (lag,) = (plain(answers["map"].pack(group)[name]) or [None] for name in ("letters", "lag"))
            known = lag is not None and any(each is not None for each in lag)
            detail = detail_of(answers, stories, about, group, is_troubled=group in troubled)
            yield group, Lanes(packed(detail), letters or "." * MAP_COLUMNS, lag if known else None)


def detail_of(
    answers: dict[str, Answer], stories: dict[str, Answer], about: About, group: str, *, is_troubled: bool
) -> dict[str, Json]:
    bounds = answers["bounds"].pack(group)
    first, last = (next(iter(plain(bounds[name])), time) for name, time in zip(("from", "to"), about.span, strict=True))
    # Members first, beside their ids: texts that repeat near each other pack well.
    tables, is_whole = dict[str, dict[str, Json]](), True
    for name in sorted(answers, key=lambda name: name != "members"):
        if name not in INNER and group in answers[name].rows:
            is_single = name in OF_SEVERAL and answers[name].has_only(group, "points", 1)
            is_whole = is_whole and (is_single or name not in OF_SEVERAL)
            without = (*OF_SEVERAL[name], "points") if is_single else ()
            tables[name] = answers[name].pack(group, LESS.get(name, {}), without)
    if is_whole and "rates" in tables:
        del tables["rates"]["most"]
    real = about.redaction.real(group)
    if rebalances := tables.get("rebalances"):
        marks = [{**mark, "text": about.redaction.name(mark["text"])} for mark in marks_about(about.marks, real)]
        lines = told_lines(stories, group, marks)
        rebalances["sentence"] = [each and UUID.sub(r"\1", each) for each in plain(rebalances["sentence"])]
        rebalances["lines"] = [lines.get(offset) for offset in plain(rebalances["offset"])]
    if owners := tables.get("owners"):
        owners["view"] = ["reader" if each else "target" for each in plain(owners.pop("is_reader"))]
    member_ids = plain(answers["member_ids"].pack(group)["member_id"])
    if len(member_ids) > MOST_WHOLE_IDS and not is_troubled:
        short = {each: UUID.sub(r"\1", each) for each in member_ids}
        if len({*short.values()}) == len(short) and "members" in tables:
            member_ids = [*short.values()]
            tables["members"]["member"] = [short[each] for each in plain(tables["members"]["member"])]
    exact: Json = next(iter(plain(answers["exact"].pack(group)["exact"])), [])
    return {
        "group": visible(group), "quoted": portable_text(group), "from": first, "to": last,
        "why": why_around(group if real == group else "", about.warehouse),
        "member_ids": member_ids, "exact": [[first, last]] if is_whole else exact,
        **tables,
    }  # fmt: skip
