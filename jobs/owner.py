"""Shows which member of each group owned a partition at any past time.

    groupscope owner orders 3 --at 2026-11-21T03:00
    groupscope owner orders 3 --group billing

There are two views of an owner. CONFIDENCE is about the coordinator's: whether the member had the partition by its
records. READING is about the member: until when it is certain that it read the partition, since when it may have
stopped, and when nobody read it. In CSV and JSON `reading` is one word: certain, likely, possible (it or nobody read
the partition) or nobody; it is empty for standby and warm-up tasks of Kafka Streams.

Reads `ownership_intervals`, `partition_moves` and `offset_history`. The SQL function owner_at(topic, partition, time)
gives the same rows, without `reading`.
"""

import argparse
from datetime import datetime

from jobs.answers.events.readers import Readers
from jobs.answers.history import (
    INCOMPLETE,
    History,
    cells_of,
    check_seen,
    has_unknown_members,
    open_history,
    print_answer,
    print_time,
)
from jobs.answers.missing_records import check_seen_at
from jobs.answers.narrow_tables import print_narrow
from jobs.answers.table_reader import Condition, Row, equal
from jobs.answers.unnamed_topics import say_may_own, say_unnamed
from jobs.command_line.values import EPOCH
from jobs.output.failure import misuse, say
from jobs.output.rows import Format, time_text
from schemas.tables import FUNCTIONS
from udfs.sentences.name_lists import member_name
from udfs.sentences.suggestions import unknown

# Columns of tables without --wide.
NARROW = ("group_id", "member_id", "client_host", "generation_or_epoch", "phase", "from_time", "confidence", "reading")
COLUMNS = (*(column.name for column in FUNCTIONS["owner_at"].columns[1:]), "reading")


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    at = history.instant(arguments.at)
    owner_rows = owners(history, arguments.topic, arguments.partition, at, arguments.group)
    rows = [row for row in owner_rows if row["topic"] is not None]
    unnamed = {row["group_id"] for row in owner_rows if row["topic"] is None}
    if not rows and not unnamed:
        check_known(history, arguments.topic, arguments.partition)
    where = searched(history, arguments.group, at)
    print_time(arguments, at)
    say_unnamed(history)
    say_may_own(arguments.topic, arguments.partition, unnamed)
    readers = Readers(history, arguments.topic, arguments.partition, arguments.group)
    place = f"{arguments.topic}-{arguments.partition}"
    others = unowned(readers, rows, at)
    if not rows:
        last = f"; {last_owner(readers, others.pop(), at)}" if others else ""
        say(f"{place} had no owner {where} at {time_text(at)}{last}")
    for group in others:
        say(f"{place} had no owner in group {group} at {time_text(at)}; {last_owner(readers, group, at)}")
    views = [readers.view(row, at) for row in rows]
    words = [view.words if arguments.format == Format.TABLE else view.reading for view in views]
    shown = [row | {"reading": reading} for row, reading in zip(rows, words, strict=True)]
    if arguments.format == Format.TABLE and not arguments.wide:
        print_narrow(NARROW, cells_of(shown, NARROW), {row["member_id"] for row in rows})
    else:
        print_answer(COLUMNS, cells_of(shown, COLUMNS), arguments.format, is_wide=True)


def owners(history: History, topic: str, partition: int, at: datetime, group: str | None) -> list[Row]:
    """In all groups, or in one. Also owners in topics without a name, which may be this topic."""
    is_topic = Condition("topic", "=", topic, or_null=True)
    is_group = [] if group is None else [equal("group_id", group)]
    rows = history.rows_at("ownership_intervals", at, is_topic, equal("partition", partition), *is_group)
    return sorted(rows, key=lambda row: (row["group_id"], row["role"] or "", row["member_id"]))


def unowned(readers: Readers, rows: list[Row], at: datetime) -> list[str]:
    """Groups to be named because the partition has no owner in them at that time: those in which it soon has one. If it
    has no owner in any group, also the one that had it last. In the order in which they lost it."""
    groups = readers.stays.keys() - {row["group_id"] for row in rows}
    lost = {group: row["to_time"] for group in groups if (row := readers.last_owner(group, at)) is not None}
    newest = max(lost, key=lambda group: (lost[group], group)) if lost and not rows else None
    named = [group for group in groups if group == newest or readers.span_around(group, at) is not None]
    return sorted(named, key=lambda group: (lost.get(group, EPOCH), group))


def last_owner(readers: Readers, group: str, at: datetime) -> str:
    """Who had it before, and for how long nobody read it, in words."""
    last, unread = readers.last_owner(group, at), readers.unowned_words(group, at)
    if last is None:
        return f"no member of group {group} had it before; {unread}"
    whose = f"the last one was {last['member_id']} of group {group}, client {member_name(last)}"
    return f"{whose}, until {time_text(last['to_time'])}; {unread}"


def searched(history: History, group: str | None, at: datetime) -> str:
    """The groups whose owners are known at that time, in words. Fails if there are none."""
    if group is None:
        return "in any group" if check_seen_at(history, at) else "in any group whose records are in the warehouse"
    check_seen(history, group, at)
    if has_unknown_members(history, group, at):
        say(f"group {group}: there may be more owners at {time_text(at)}: {INCOMPLETE}")
        return f"that is known in group {group}"
    return f"in group {group}"


def check_known(history: History, topic: str, partition: int) -> None:
    """If a partition has no owner, the name may be wrong, or it was unowned at that time."""
    partitions = {
        partition
        for table in ("ownership_intervals", "offset_history", "topic_snapshots")
        for partition in history.distinct(table, "partition", equal("topic", topic))
    }
    if not partitions:
        names = history.distinct("ownership_intervals", "topic") | history.distinct("offset_history", "topic")
        raise misuse(unknown("topic", topic, sorted(name for name in names if name)))
    if partition not in partitions:
        line = f"give a partition from {min(partitions)} to {max(partitions)}"
        raise misuse(f"topic {topic} has no partition {partition}; {line}")
