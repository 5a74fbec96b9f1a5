"""Shows on one screen what is wrong now: groups that are down, silent, stuck or falling behind, worst first. Since
when, how many messages wait, who owns the partitions, what changed before, and whether the group catches up.

    groupscope status
    groupscope status billing
    groupscope status --exit-code --format json

Below the groups: offsets that were reset in the day before, rebalance storms, the checks of the gate, and what the
newest audit covered and how old it is. If nothing is wrong, the first line says so: `all 212 groups are well`. A change
within ten minutes after a mark (`groupscope mark`) says so. For one group, also its partitions and its last events.

Everything is as of the newest audit: reads `findings`, `group_verdicts`, history tables, `offset_resets`,
`consumption_rates`, `gate_runs`, `history_coverage` and `marks`. The table shows up to 20 groups, and so does JSON,
which is one object; CSV has the lines of the groups. SQL has all groups: the views v_groups_now and v_lag_now.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.answers.events.silences import silences
from jobs.answers.events.timeline import in_order, marks_of, timeline, with_marks
from jobs.answers.history import open_history, state_at
from jobs.answers.marks import after_words
from jobs.answers.short_ids import with_short_ids
from jobs.answers.standing import Standing, Unwell, clients, is_bad, standing
from jobs.answers.table_reader import Row, one_of
from jobs.command_line.values import EPOCH
from jobs.output.failure import visible
from jobs.output.rows import (
    Format,
    clock_text,
    cut_to,
    fact_lines,
    paragraph,
    print_object,
    print_rows,
    row_lines,
    time_text,
    with_severities,
    write_lines,
)
from jobs.output.terminal import terminal_width
from jobs.output.zones import with_zone
from jobs.warehouses.any_warehouse import options_of_file
from schemas.words.exit_codes import ExitCode
from schemas.words.history import Severity
from schemas.words.lag import ResetActor, ResetKind
from udfs.sentences.counts import counted, damage_text
from udfs.sentences.durations import in_words
from udfs.sentences.name_lists import list_names
from udfs.sentences.partitions_read import MOST_NAMED

MOST_GROUPS, MOST_LINES, MOST_PARTITIONS, MOST_EVENTS = 20, 3, 20, 5
INDENT = " " * 10
NOT_NOW = timedelta(hours=1)
COLUMNS = (
    "group_id", "group_type", "state", "num_members", "severity", "what", "verdict", "rule", "reason", "since_time",
    "messages_waiting", "time_lag_ms", "owners", "last_change_time", "last_change_trigger", "last_change_detail",
    "after_mark", "catches_up", "next",
)  # fmt: skip
PARTITION_COLUMNS = (
    "topic", "topic_id", "partition", "own_verdict", "rule", "reason", "since_time", "lag", "time_lag_ms",
)  # fmt: skip
RESETS = {
    ResetKind.TO_EARLIEST: "moved to the beginning of the log",
    ResetKind.TO_LATEST: "moved to the end of the log",
    ResetKind.SHIFT: "all moved by the same number of messages",
    ResetKind.TO_OFFSET: "moved to other offsets",
    ResetKind.EXPIRED: "expired",
    ResetKind.DELETED: "deleted",
    ResetKind.TRUNCATION: "moved because the topic was truncated or created again",
}
ACTORS = {
    ResetActor.ADMIN_LIKELY: "probably by an admin tool",
    ResetActor.MEMBER: "by a member",
    ResetActor.TRANSACTION: "in a transaction",
    ResetActor.COORDINATOR: "by the broker",
}
NO_ENDS = "lag needs end offsets, and no snapshot has any: groupscope capture --source kafka:HOST:PORT takes one"


def run(arguments: argparse.Namespace) -> int:
    now = standing(open_history(arguments, options_of_file(arguments.config)))
    at = EPOCH + timedelta(microseconds=time.time_ns() // 1_000)
    if arguments.group is None:
        shown, is_critical = now.unwell[:MOST_GROUPS], now.is_critical
    else:
        state_at(now.history, arguments.group, now.as_of)
        shown = [now.about(arguments.group)]
        is_critical = shown[0].severity == Severity.CRITICAL
    now.with_details(shown)
    if arguments.format == Format.TABLE:
        width = None if arguments.wide else terminal_width()
        lines = screen(now, shown, at, width) if arguments.group is None else group_screen(now, shown[0], at, width)
        write_lines(with_severities(lines))
    elif arguments.format == Format.CSV:
        print_rows(COLUMNS, [list(values(now, each).values()) for each in shown], arguments.format)
    else:
        whole = as_object(now, shown) if arguments.group is None else group_object(now, shown[0])
        print_object(whole, arguments.format)
    return ExitCode.FINDINGS if arguments.exit_code and is_critical else ExitCode.CLEAN


# -- for programs


def values(now: Standing, each: Unwell) -> dict[str, Any]:
    state, verdict, rebalance = now.states.get(each.group, {}), each.verdict or {}, each.rebalance or {}
    cells = (
        each.group, *(state.get(name) for name in ("group_type", "state", "num_members")), each.severity, each.what,
        verdict.get("own_verdict"), verdict.get("rule"), "; ".join(each.reasons), each.since, each.waiting,
        each.time_lag_ms, each.clients, *(rebalance.get(name) for name in ("start_time", "trigger", "trigger_detail")),
        after_mark(each), each.catches_up, f"groupscope why {each.group}",
    )  # fmt: skip
    return dict(zip(COLUMNS, cells, strict=True))


def as_object(now: Standing, shown: Sequence[Unwell]) -> dict[str, Any]:
    return {
        **about(now),
        "num_groups": now.num_groups,
        "num_not_well": len(now.unwell),
        "num_unknown": now.num_unknown,
        "not_well": [values(now, each) for each in shown],
        "other_findings": [row for row in now.lasting if row["group_id"] is None],
        "resets": now.resets,
        "storms": now.storms,
        "quality": now.quality,
        "coverage": now.coverage,
    }


def group_object(now: Standing, one: Unwell) -> dict[str, Any]:
    shown = ((key, {name: row[name] for name in PARTITION_COLUMNS}) for key, row in one.partitions.items())
    partitions = [{**row, "owner": owner(one, key)} for key, row in shown]
    resets = [row for row in now.resets if row["group_id"] == one.group]
    events = [event.values() for event in last_events(now, one.group)]
    return {**about(now), **values(now, one), "partitions": partitions, "resets": resets, "last_events": events}


def about(now: Standing) -> dict[str, Any]:
    newest = max(now.runs.values(), key=lambda run: str(run["run_id"]))
    names = ("cluster", "run_id", "finished_time")
    return {**{name: newest[name] for name in names}, "as_of_time": now.as_of, "is_critical": now.is_critical}


# -- for people


def screen(now: Standing, shown: Sequence[Unwell], at: datetime, width: int | None) -> Iterator[str]:
    """`width`: of the terminal that the lines must fit."""
    number, known = len(now.unwell), members_of(now, shown)
    yield from paragraph(f"{headline(now)}, {as_of_text(now, at)}", width)
    if shown:
        yield ""
    for each in shown:
        # What is wrong may not be its lag.
        why = [] if is_bad(each.verdict) else each.reasons[:1]
        parts = [f"owner: {owner_text(each)}", f"catches up: {each.catches_up}", *why]
        details = "; ".join([*parts, f"last change: {change_text(each, now.as_of)}"])
        # On a terminal two lines, so that all groups fit on it: the answer about one group has it all.
        ((details,),) = with_short_ids([[details]], known)
        details = details if width is None else cut_to(details, max(2 * (width - 2 * len(INDENT)), width))
        facts = [(each.severity or "-", f"{each.group}: {standing_text(each, now.as_of)}"), ("", details)]
        yield from fact_lines(facts, width, len(INDENT) - 1)
    if number > len(shown):
        yield f"{INDENT}and {number - len(shown):,} more; SQL has all of them: SELECT * FROM v_groups_now"
    yield ""
    yield from fact_lines(cluster_facts(now, at), width)
    if shown:
        yield from fact_lines([("Next", f"groupscope why {shown[0].group}; groupscope status {shown[0].group}")], width)


def as_of_text(now: Standing, at: datetime) -> str:
    """Who reads "now" must not miss that it was hours ago."""
    age = f", {duration(now.as_of, at)} ago" if at - now.as_of >= NOT_NOW else ""
    return f"as of {with_zone(time_text(now.as_of))}{age}"


def headline(now: Standing) -> str:
    """Such as `all 212 groups are well`."""
    number, unknown, whole = len(now.unwell), now.num_unknown, now.num_groups
    if whole < 2 and not number + unknown:
        return "the only group is well" if whole else "there are no groups"
    groups, left = counted(whole, "group"), f"; of {unknown:,} it is unknown" if unknown else ""
    if number:
        return f"{number:,} of {groups} {'is' if number == 1 else 'are'} not well{left}"
    some = f"{whole - unknown:,} of {groups} {'is' if whole == 1 else 'are'} well{left}"
    return some if unknown else f"all {groups} are well"


def group_screen(now: Standing, one: Unwell, at: datetime, width: int | None) -> Iterator[str]:
    known = members_of(now, [one])
    look = "may be well or not: an input is missing" if one.is_unknown else "is well"
    look = "is not well" if one.is_unwell else look
    yield from paragraph(visible(f"{one.group} {look}, {as_of_text(now, at)}"), width)
    facts = [("Group", group_text(now, one.group))]
    facts += [("Status", f"{one.severity or '-'}: {standing_text(one, now.as_of)}")] if one.is_unwell else []
    facts += [("Why" if place == 0 else "", reason) for place, reason in enumerate(one.reasons)]
    facts += [("Owner", owner_text(one)), ("Last change", change_text(one, now.as_of))]
    facts += [("Catches up", one.catches_up)] if one.is_unwell else []
    facts += [("Reset", reset_text(row, now.as_of)) for row in now.resets if row["group_id"] == one.group]
    facts += [] if now.coverage["has_snapshots"] else [("Lag", NO_ENDS)]
    yield from fact_lines([tuple(row) for row in with_short_ids(facts, known)], width)
    if one.partitions:
        yield ""
        yield from partition_lines(one, now.as_of, known, width)
    events = last_events(now, one.group)
    if events:
        kinds = (event.row.get("trigger") if event.is_rebalance else event.kind.value for event in events)
        details = ("; ".join(filter(None, (event.detail, event.after_mark))) or None for event in events)
        times = (clock_text(event.start, now.as_of) for event in events)
        cells = list(zip(times, kinds, details, strict=True))
        yield ""
        yield from row_lines(("TIME", "EVENT", "DETAIL"), with_short_ids(cells, known), Format.TABLE, "-", width)
    yield ""
    yield from fact_lines([audit_fact(now, at), ("Next", f"groupscope why {one.group}")], width)


def group_text(now: Standing, group: str) -> str:
    row = now.states[group]
    members = "members unknown" if row["num_members"] is None else counted(row["num_members"], "member")
    return f"{group} ({row['group_type'] or 'type unknown'}, {row['state'] or 'state unknown'}, {members})"


def members_of(now: Standing, shown: Sequence[Unwell]) -> set[str]:
    """Their ids, which are shown in short."""
    of_groups = one_of("group_id", [each.group for each in shown])
    ids = now.history.distinct("membership_intervals", "member_id", of_groups) if shown else set()
    return {each for each in ids if each}


def standing_text(each: Unwell, as_of: datetime) -> str:
    """Such as `group down since 17:39:03 (28 s); 3,120 messages wait, the oldest for 30 s`."""
    since = ""
    if each.since is not None:
        since = f" since {clock_text(each.since, as_of)} ({duration(each.since, as_of)})"
    if each.waiting is None:
        return f"{each.what}{since}; how many messages wait is unknown"
    waiting = f"{counted(each.waiting, 'message')} {'waits' if each.waiting == 1 else 'wait'}"
    oldest = f", the oldest for {in_words(each.time_lag_ms * 1000)}" if each.time_lag_ms and each.waiting else ""
    return f"{each.what}{since}; {waiting}{oldest}"


def owner_text(each: Unwell) -> str:
    last = clients_text(clients(each.last_owners))
    return clients_text(each.clients) or (f"none (last {last})" if last else "none")


def clients_text(rows: Sequence[Row]) -> str:
    more = f" and {len(rows) - MOST_LINES} more" if len(rows) > MOST_LINES else ""
    return ", ".join(map(client_text, rows[:MOST_LINES])) + more


def change_text(each: Unwell, as_of: datetime) -> str:
    row = each.rebalance
    if row is None:
        return "no rebalance is known"
    mark = after_mark(each)
    detail = row["trigger_detail"] or row["trigger"]
    return f"{clock_text(row['start_time'], as_of)} {detail}{f', {mark}' if mark else ''}"


def after_mark(each: Unwell) -> str | None:
    return None if each.mark is None or each.rebalance is None else after_words(each.mark, each.rebalance["start_time"])


def cluster_facts(now: Standing, at: datetime) -> Iterator[tuple[str, str]]:
    others = [row for row in now.lasting if row["group_id"] is None and row["severity"] != Severity.INFO]
    yield from listed("Also", [f"{row['severity']}: {row['message']}" for row in others], "v_findings")
    yield from listed("Resets", [reset_text(row, now.as_of) for row in now.resets], "v_offset_resets")
    yield from listed("Storms", [f"{row['group_id']}: {row['message']}" for row in now.storms], "v_rebalance_storms")
    waived = sum(row["waived_until_time"] is not None for row in now.findings)
    if waived:
        yield "Waived", f"{counted(waived, 'finding')}, not counted here"
    quality, coverage = now.quality, now.coverage
    failed = [f"{suite} failed" for suite in quality["failed_suites"]]
    checks = f"{counted(quality['num_expectations'], 'check')}: {quality['num_failed']:,} failed"
    errors = f", {quality['num_errors']:,} could not be evaluated" if quality["num_errors"] else ""
    rejected = [f"{counted(quality['num_rejected'], 'record')} rejected"]
    if number := quality["num_damaged_ranges"]:
        of_ranges = quality["damaged_bytes"], quality["damaged_records"]
        rejected.append(damage_text("damaged range", number, *of_ranges, is_estimated=quality["is_damage_estimated"]))
    unjudged = "no run of groupscope gate has judged the data yet"
    yield "Quality", "; ".join([f"{checks}{errors}" if now.suites else unjudged, *failed[:MOST_LINES], *rejected])
    judged = now.runs.get("gate", {}).get("as_of_time")
    if now.suites and judged not in (None, now.as_of):
        yield "", f"findings are as of {time_text(judged)}, of the newest groupscope gate"
    if now.narrowed_by is not None:
        yield "", f"no whole run has judged the data: findings are narrowed by {now.narrowed_by}"
    of = coverage["num_offsets_partitions"]
    read = f"{coverage['num_partitions_read']:,} {'' if of is None else f'of {of:,} '}offsets partitions"
    until = coverage["newest_record_time"]
    ranges = coverage["num_missing_ranges"]
    missing = f"records are missing in {counted(ranges, 'range')}" if ranges else "no records are missing"
    when = "" if until is None else f" until {time_text(until)}"
    if coverage["never_read"]:
        named = list_names([str(each) for each in coverage["never_read"]], MOST_NAMED)
        missing = f"never read: partitions {named}, so their groups are missing here; {missing}"
    yield "Coverage", f"{read}, {counted(coverage['num_records'], 'record')}{when}; {missing}"
    if coverage["has_newer_records"]:
        yield "", f"records after {time_text(now.as_of)} are not judged yet; groupscope audit does it"
    if not coverage["has_snapshots"]:
        yield "Lag", NO_ENDS
    yield audit_fact(now, at)


def listed(label: str, texts: Sequence[str], view: str) -> Iterator[tuple[str, str]]:
    """The first few, and how many more the view has."""
    if (left := len(texts) - MOST_LINES) > 0:
        texts = [*texts[:MOST_LINES], f"and {left:,} more; SQL has all of them: SELECT * FROM {view}"]
    yield from (("" if place else label, text) for place, text in enumerate(texts))


def audit_fact(now: Standing, at: datetime) -> tuple[str, str]:
    newest = about(now)
    age = duration(newest["finished_time"], at)
    return "Audit", f"ended {age} ago, run {newest['run_id']} of cluster {newest['cluster']}"


def reset_text(row: Row, as_of: datetime) -> str:
    again, skipped = row["messages_reread"], row["messages_skipped"]
    numbers = "how many messages are read again or skipped is unknown"
    if again is not None or skipped is not None:
        counts = ["unknown" if number is None else f"{number:,}" for number in (again, skipped)]
        numbers = f"messages read again: {counts[0]}, skipped: {counts[1]}"
    # Only members can commit while there are any; whoever deletes offsets needs none.
    by_any = "an admin tool or a program that commits for itself" if row["num_members"] == 0 else "an unknown program"
    unknown = row["actor_reason"] or f"by {by_any}"
    how = f"{RESETS.get(row['kind'], row['kind'])}, {ACTORS.get(row['actor'], unknown)}"
    mark = f"; {row['after_mark']}" if row["after_mark"] else ""
    where = f"offsets of {counted(row['num_partitions'], 'partition')} of {row['topic'] or '?'}"
    return f"{clock_text(row['at_time'], as_of)} {row['group_id']}: {where} {how}; {numbers}{mark}"


def partition_lines(one: Unwell, as_of: datetime, known: set[str], width: int | None) -> Iterator[str]:
    """The worst are first."""
    ordered = sorted(one.partitions.items(), key=lambda each: (not is_bad(each[1]), -(each[1]["lag"] or 0), each[0]))
    names = ("TOPIC", "PARTITION", "VERDICT", "SINCE", "LAG", "TIME-LAG", "OWNER")
    cells = [
        (*key, row["own_verdict"], clock_text(row["since_time"], as_of), row["lag"],
         None if row["time_lag_ms"] is None else in_words(row["time_lag_ms"] * 1000), owner(one, key))
        for key, row in ordered[:MOST_PARTITIONS]
    ]  # fmt: skip
    yield from row_lines(names, with_short_ids(cells, known), Format.TABLE, "-", width)
    if len(ordered) > MOST_PARTITIONS:
        yield f"and {len(ordered) - MOST_PARTITIONS:,} more partitions: groupscope describe {one.group}"


def owner(one: Unwell, key: tuple[str, int]) -> str | None:
    return client_text(one.owners[key]) if key in one.owners else None


def client_text(row: Row) -> str:
    return f"{row['client_id'] or '?'} at {(row['client_host'] or '?').lstrip('/')}"


def last_events(now: Standing, group: str) -> list[Any]:
    whole = in_order([*timeline(now.history, group), *silences(now.history, group)])
    until = [event for event in whole if event.start is None or event.start <= now.as_of]
    return with_marks(until[-MOST_EVENTS:], marks_of(now.history, group))


def duration(start: datetime, end: datetime) -> str:
    return in_words(max((end - start) // timedelta(microseconds=1), 0))
