"""Makes the findings of a run: what the rows of every kind say, one finding for each cause, filtered, waived, and worst
first."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any

from jobs.command_line.values import GroupChoice
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.sql_text import Parameters
from jobs.gating.declarations.waivers import Waiver, waiver_of
from jobs.queries.results import QueryResult
from schemas.sql_files import part
from schemas.words.gate import FindingKind
from schemas.words.history import Confidence, Severity
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import member_name

ORDER = [severity.value for severity in Severity]
# Kinds that affect whether answers are correct come first: readers must know these before the others.
KIND_ORDER = {kind.value: place for place, kind in enumerate(FindingKind)}
# Kind, subject, and of an event when it began. Topics, partitions and severity may change while it lasts.
Key = tuple[str, str, datetime | None]
# A silence that spreads, or takes all members, is the same one: it was seen when the narrower was.
WIDENS = {
    FindingKind.GROUP_DOWN.value: (
        FindingKind.GROUP_SILENT.value,
        FindingKind.MEMBER_SILENT.value,
        FindingKind.PARTITION_STOPPED.value,
    ),
    FindingKind.GROUP_SILENT.value: (FindingKind.MEMBER_SILENT.value, FindingKind.PARTITION_STOPPED.value),
    FindingKind.MEMBER_SILENT.value: (FindingKind.PARTITION_STOPPED.value,),
}
HEADINGS = {kind.value: kind.heading for kind in FindingKind}
SILENCES = (FindingKind.GROUP_SILENT, FindingKind.MEMBER_SILENT)
# Events that are what is left of a condition that is over: no new findings.
LEFT_OF = {
    FindingKind.MESSAGES_LOST.value: FindingKind.MESSAGES_LOST.value,
    FindingKind.LONG_UNREAD.value: FindingKind.GROUP_DOWN.value,
}
# What may follow from one of those before it.
CAUSES = {
    kind.value: place
    for place, kind in enumerate((
        FindingKind.GROUP_DOWN, *SILENCES, FindingKind.PARTITION_STOPPED, FindingKind.PARTITION_STALLED,
        FindingKind.LONG_UNREAD, FindingKind.FALLING_BEHIND, FindingKind.FRESHNESS_MISSED,
    ))
}  # fmt: skip
# These concern all of a group's partitions.
OF_GROUPS = (FindingKind.GROUP_DOWN, FindingKind.GROUP_SILENT)
NEVER_EXPLAINED = (FindingKind.MESSAGES_LOST, FindingKind.OFFSETS_RESET, FindingKind.OFFSETS_EXPIRED)
# Columns of the rows of every kind.
LISTED = (
    "group_id", "topic", "partition", "message", "at_time", "evidence_partition", "evidence_first_offset",
    "evidence_last_offset", "confidence", "severity", "harm",
)  # fmt: skip
MOST_OWNERS = 3
NOT_WRITTEN = frozenset({"harm", "last_time", "num_of_whole", "before", "silent_since"})


@dataclass(frozen=True)
class Finding:
    kind: str
    severity: str
    message: str
    query: str
    # None: the group; without one, the cluster.
    subject: str | None = None
    group_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    at_time: datetime | None = None
    since_time: datetime | None = None
    messages_waiting: int | None = None
    owners: Sequence[Mapping[str, Any]] = ()
    topic_partitions: Sequence[Mapping[str, Any]] = ()
    num_rows: int = 1
    evidence_partition: int | None = None
    evidence_first_offset: int | None = None
    evidence_last_offset: int | None = None
    confidence: str = Confidence.CERTAIN.value
    harm: float = 0.0
    last_time: datetime | None = None
    # Partitions of its group, or of the members that are named; and what happened last before it.
    num_of_whole: int | None = None
    before: str | None = None
    # Of each owner.
    silent_since: Mapping[str, datetime | None] = field(default_factory=dict)

    @property
    def num_partitions(self) -> int:
        return sum(len(each["partitions"]) for each in self.topic_partitions)

    @property
    def place(self) -> tuple[Any, ...]:
        """Worst first."""
        return (
            *(ORDER.index(self.severity), -self.harm, KIND_ORDER[self.kind]),
            *(self.group_id or "", self.subject or "", self.topic or "", self.message),
        )

    def keys(self, cluster: str) -> list[Key]:
        """By the first one the next run recognizes it; the others are of what it may have been."""
        subject = self.subject or self.group_id or cluster
        before = [(LEFT_OF[self.kind], subject, None)] if self.kind in LEFT_OF and self.at_time is not None else []
        return [(kind, subject, self.at_time) for kind in (self.kind, *WIDENS.get(self.kind, ()))] + before


@dataclass(frozen=True)
class Reported:
    """What earlier runs said of a finding: the as-of time of the first of them, and the severity in the last."""

    first_seen: datetime
    severity: str


@dataclass(frozen=True)
class Choice(GroupChoice):
    """Which groups count. Findings without a group always do. `tool_groups`, `excluded`: those of the settings."""

    tool_groups: Sequence[str] = ()
    excluded: Sequence[str] = ()

    def is_left_out(self, group_id: str | None) -> bool:
        """By the settings, so that it is not asked of the whole run."""
        if group_id is None:
            return False
        is_of_tool = any(re.fullmatch(pattern, group_id) for pattern in self.tool_groups)
        return is_of_tool or any(re.search(pattern, group_id) for pattern in self.excluded)


@dataclass
class Findings:
    findings: list[Finding] = field(default_factory=list)
    # Number left out because the settings leave out their groups.
    num_left_out: int = 0


def finding_statements(parameters: Parameters, events: Events) -> list[str]:
    return [file.grouped_sql(parameters, events) for file in finding_files()]


def shared_rows(parameters: Parameters) -> dict[str, str]:
    """Texts that several of these statements have."""
    names = ("newest_verdicts", "held_states")
    return {name: parameters.fill(part(name), name) for name in names}


def find(parameters: Parameters, events: Events, choice: Choice, answer: Callable[[str], QueryResult]) -> Findings:
    result = Findings()
    # Among very many findings, a few groups appear again and again.
    is_left_out = cache(choice.is_left_out)
    found = []
    for file in finding_files():
        names, rows = answer(file.grouped_sql(parameters, events))
        listed = file.rows(parameters, events)
        for row in rows:
            each = dict(zip(names, row, strict=True))
            if is_left_out(each["group_id"]):
                result.num_left_out += 1
            elif choice.has(each["group_id"]):
                found.append(finding(file.kind, each, file.listing_of(listed, each)))
    result.findings = one_for_each_cause(found)
    return result


def finding(kind: FindingKind, row: Mapping[str, Any], query: str) -> Finding:
    partitions = topic_partitions(row["topic_partitions"])
    topics = {(each["topic"], each["topic_id"]) for each in partitions}
    num_partitions, num_rows = sum(len(each["partitions"]) for each in partitions), int(row["num_rows"])
    made = Finding(
        kind=kind.value,
        severity=row["severity"],
        message=row["message"],
        query=query,
        subject=row["subject"],
        group_id=row["group_id"],
        topic=row["topic"] if len(topics) == 1 else None,
        partition=row["partition"] if num_partitions == 1 else None,
        at_time=row["at_time"],
        since_time=row["since_time"],
        messages_waiting=row["messages_waiting"],
        owners=owners(row["owners"]),
        topic_partitions=partitions,
        num_rows=num_rows,
        evidence_partition=row["evidence_partition"],
        evidence_first_offset=row["evidence_first_offset"],
        evidence_last_offset=row["evidence_last_offset"],
        confidence=row["confidence"],
        harm=float(row["harm"]),
        last_time=row["last_time"],
        num_of_whole=row["num_of_whole"] if kind != FindingKind.MEMBER_SILENT else of_members(row["owners"]),
        before=row["before"],
        silent_since={each["member_id"]: each["since_time"] for each in row["owners"] or ()},
    )
    if kind in SILENCES:
        return replace(made, message=silence_text(made))
    if num_rows == 1 or kind == FindingKind.GROUP_DOWN:
        return made
    like = f"{num_rows:,} like it" + (f", in {num_partitions:,} partitions" if num_partitions > 1 else "")
    return replace(made, message=f"{made.message} (the worst of {like})")


def silence_text(silence: Finding) -> str:
    """Since when, of what, how much waits, who should read it, and what happened last before."""
    whole, waiting = silence.num_of_whole or silence.num_partitions, silence.num_partitions
    is_group = silence.kind == FindingKind.GROUP_SILENT
    # Members may have fallen silent at different times.
    times = {second_of(each) for each in silence.silent_since.values()}
    each_since = silence.silent_since if not is_group and len(times) > 1 else {}
    who = "" if is_group else f" by {owners_text(silence.owners, each_since)}"
    whose = "its" if is_group or len(silence.owners) == 1 else "their"
    which = f"{whose} only partition" if whole == 1 else f"any of {whose} {whole:,} partitions"
    since = "" if each_since else f" since {second_of(silence.since_time)}"
    parts = [f"no commit{who} in {which}{since}"]
    where = f" in {waiting:,} of them" if waiting < whole else ""
    number = silence.messages_waiting
    parts.append(
        f"how many messages wait is not known{where and f', {waiting:,} partitions have some'}"
        if number is None
        else f"{counted(number, 'message')} {'waits' if number == 1 else 'wait'}{where}"
    )
    if is_group:
        parts.append(f"read by {owners_text(silence.owners)}" if silence.owners else "no member owns them")
    if silence.before is not None:
        parts.append(f"before that, {silence.before}")
    return "; ".join(parts)


def owners_text(owners: Sequence[Mapping[str, Any]], since: Mapping[str, datetime | None] | None = None) -> str:
    """`since`: of each member, where it is to be said."""
    names = []
    for each in owners[:MOST_OWNERS]:
        when = f" since {second_of(since[each['member_id']])}" if since else ""
        names.append(f"{member_name(each)}{when}")
    more = f" and {len(owners) - MOST_OWNERS:,} more" if len(owners) > MOST_OWNERS else ""
    return f"{', '.join(names)}{more}"


def second_of(time: datetime | None) -> str:
    return "?" if time is None else f"{time:%Y-%m-%dT%H:%M:%SZ}"


def one_for_each_cause(found: Sequence[Finding]) -> list[Finding]:
    """Without those that follow from another one: that one lists their rows, and says so."""
    by_group: dict[str | None, list[Finding]] = {}
    for each in found:
        by_group.setdefault(each.group_id, []).append(each)
    result = by_group.pop(None, [])
    for of_group in by_group.values():
        causes = sorted((each for each in of_group if each.kind in CAUSES), key=lambda each: CAUSES[each.kind])
        followers: dict[int, list[Finding]] = {}
        explained: set[int] = set()
        for each in causes:
            cause = next((other for other in causes if id(other) not in explained and explains(other, each)), None)
            if cause is not None:
                followers.setdefault(id(cause), []).append(each)
                explained.add(id(each))
        for each in of_group:
            if id(each) not in explained:
                with_others = with_followers(each, followers.get(id(each), []))
                result.append(among_others(with_others, causes) if each.kind in NEVER_EXPLAINED else with_others)
    return result


def explains(cause: Finding, other: Finding) -> bool:
    """What began later, while the cause lasted, on partitions that it names."""
    if CAUSES[cause.kind] >= CAUSES[other.kind]:
        return False
    begun, then = begin(cause), begin(other)
    if begun is None or then is None or then < begun:
        return False
    if cause.at_time is not None and then > (cause.last_time or begun):
        return False
    return cause.kind in OF_GROUPS or names_all_of(cause, other)


def begin(finding: Finding) -> datetime | None:
    return finding.since_time or finding.at_time


def names_all_of(cause: Finding, other: Finding) -> bool:
    """What is about a topic as a whole follows from one of its partitions."""
    named = {each["topic"] or each["topic_id"]: {*each["partitions"]} for each in cause.topic_partitions}
    asked = [(each["topic"] or each["topic_id"], {*each["partitions"]}) for each in other.topic_partitions]
    return bool(asked) and all(topic in named and named[topic] >= partitions for topic, partitions in asked)


def with_followers(cause: Finding, followers: Sequence[Finding]) -> Finding:
    if not followers:
        return cause
    followers = sorted(followers, key=lambda each: each.place)
    kinds = ", ".join(dict.fromkeys(HEADINGS[each.kind] for each in followers))
    rows = "\nUNION ALL\n".join(
        f"SELECT '{each.kind}' AS kind, {', '.join(LISTED)} FROM (\n{each.query}\n) AS of_{each.kind}_{place}"
        for place, each in enumerate([cause, *followers])
    )
    return replace(
        cause,
        message=f"{cause.message}; from this follows: {kinds}",
        num_rows=cause.num_rows + sum(each.num_rows for each in followers),
        query=f"{rows}\nORDER BY harm DESC",
    )


def among_others(event: Finding, causes: Sequence[Finding]) -> Finding:
    """What happened to its offsets is never explained away. It says what else is wrong with the same partitions."""
    for cause in causes:
        begun, then = begin(cause), begin(event)
        if begun is None or then is None or CAUSES[cause.kind] > CAUSES[FindingKind.FALLING_BEHIND]:
            continue
        if cause.kind in OF_GROUPS or names_all_of(cause, event) or names_all_of(event, cause):
            when = "while" if begun <= then else "later"
            return replace(event, message=f"{event.message}; {when}: {HEADINGS[cause.kind]} since {second_of(begun)}")
    return event


def topic_partitions(rows: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """Each topic once, by its name where that is known. Without partitions: the topic as a whole."""
    found: dict[tuple[str | None, str | None], tuple[set[str], set[int]]] = {}
    for row in rows or ():
        numbers = {number for number in row["partitions"] if number is not None}
        if numbers or (row["topic"], row["topic_id"]) != (None, None):
            ids, known = found.setdefault((row["topic"], None if row["topic"] else row["topic_id"]), (set(), set()))
            ids.update(filter(None, [row["topic_id"]]))
            known.update(numbers)
    ordered = sorted(found, key=lambda topic: (topic[0] or "", topic[1] or ""))
    return [
        {
            "topic": topic[0],
            # Of a topic that was made anew there are two.
            "topic_id": next(iter(found[topic][0])) if len(found[topic][0]) == 1 else None,
            "partitions": sorted(found[topic][1]),
        }
        for topic in ordered
    ]


def of_members(rows: Iterable[Mapping[str, Any]] | None) -> int:
    return sum({row["member_id"]: int(row["num_of_whole"]) for row in rows or ()}.values())


def owners(rows: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """Those of most partitions first."""
    numbers = Counter((row["member_id"], row["client_id"], row["client_host"]) for row in rows or ())
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], *(name or "" for name in item[0])))
    return [
        {"member_id": member, "client_id": client, "client_host": host, "num_partitions": number}
        for (member, client, host), number in ordered
    ]


def finding_rows(
    findings: Iterable[Finding],
    about: Mapping[str, Any],
    as_of: datetime,
    reported: Mapping[Key, Reported],
    waivers: Sequence[Waiver],
) -> list[dict[str, Any]]:
    """Rows of the table, worst first, waived ones last. `about`: cluster and run; `reported`: by runs of an earlier
    as-of. A finding is new if none of them reported it, or if it is worse now."""
    chosen = [(each, waiver_of(waivers, each.kind, each.group_id, topics_of(each))) for each in findings]
    chosen.sort(key=lambda pair: (pair[1] is not None, pair[0].place))
    rows = []
    for rank, (each, waiver) in enumerate(chosen, 1):
        keys = each.keys(about["cluster"])
        before = [reported[key] for key in keys if key in reported]
        rows.append({
            **about,
            "rank": rank,
            **{name: value for name, value in vars(each).items() if name not in NOT_WRITTEN},
            "subject": keys[0][1],
            "is_new": not any(ORDER.index(known.severity) <= ORDER.index(each.severity) for known in before),
            "first_seen_time": min([as_of, *(known.first_seen for known in before)]),
            "waived_until_time": None if waiver is None else waiver.until,
            "waiver": None if waiver is None else waiver.reason_text,
        })  # fmt: skip
    return rows


def topics_of(finding: Finding) -> set[str | None]:
    return {each["topic"] for each in finding.topic_partitions} or {finding.topic}


def num_at_or_above(rows: Iterable[Mapping[str, Any]], severity: str) -> int:
    """How many are at or above this severity and not waived."""
    most = ORDER.index(severity)
    return sum(ORDER.index(row["severity"]) <= most and row["waived_until_time"] is None for row in rows)
