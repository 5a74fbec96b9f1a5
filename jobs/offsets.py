"""Prints the committed offsets of a group at any past time, as the CSV that kafka-consumer-groups reads.

    groupscope offsets billing --at 2026-11-21T03:00 > offsets.csv
    kafka-consumer-groups.sh … --group billing --reset-offsets --from-file offsets.csv --execute

Reads `offset_history`. Commits of a transaction that was open at that time are left out, since consumers could not see
them either. Standard error lists the partitions that a reset with this CSV does not change, and the members that must
stop before the reset.
"""

import argparse
import re
from collections.abc import Mapping
from datetime import datetime

from jobs.answers import deleted_topics
from jobs.answers.history import History, open_history, print_answer, print_time, state_at
from jobs.answers.missing_records import say_unseen_offsets
from jobs.answers.states.members import committed_at, members_at
from jobs.answers.table_reader import Row
from jobs.output.failure import say
from jobs.output.rows import Format, csv_cell, spelling_of, time_text, write_lines
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names

COLUMNS = ("topic", "partition", "offset")
# As Kafka allows them.
TOPIC_NAME = re.compile("[A-Za-z0-9._-]+")
# Limit of partitions in one line; for more, only the number.
MOST_NAMED = 5


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    at = history.instant(arguments.at)
    state_at(history, arguments.group, at)
    committed = committed_at(history, arguments.group, at)
    print_time(arguments, at)
    rows = [(*place, row["committed_offset"]) for place, row in committed.items()]
    if not rows:
        say(f"group {arguments.group} had no committed offset at {time_text(at)}")
    say_what_no_reset_changes(history, arguments.group, at, committed)
    say_unseen_offsets(history, arguments.group, at)
    if arguments.format == Format.CSV:
        # Without column names: Kafka's tool would read them as a partition.
        write_lines((",".join(map(tool_cell, row)) for row in rows), spelling_of(Format.CSV))
    else:
        print_answer(COLUMNS, rows, arguments.format, is_wide=arguments.wide)


def tool_cell(value: str | int) -> str:
    """A topic may begin with a minus. Kafka's tool would take an apostrophe before it for a part of the name."""
    text = str(value)
    return text if TOPIC_NAME.fullmatch(text) else csv_cell(value)


def say_what_no_reset_changes(
    history: History, group: str, at: datetime, committed: Mapping[tuple[str, int], Row]
) -> None:
    offsets = ((*place, row["committed_offset"]) for place, row in committed.items())
    odd = [f"{topic}-{partition} at {offset}" for topic, partition, offset in offsets if partition < 0 or offset < 0]
    if odd:
        # It is shown, as it is data. But a reset to it would not restore the group.
        line = "is negative, as the group committed it; kafka-consumer-groups sets the earliest offset instead"
        say(f"{list_names(odd, 1)}: {line}")
    deleted = deleted_topics.deleted_topics(history.rows("topics", columns=deleted_topics.COLUMNS))
    if gone := sorted(deleted & {topic for topic, _ in committed}):
        line = "deleted after that time; brokers refuse to commit offsets for it"
        say(f"topic {list_names(gone, MOST_NAMED)}: {line}")
    now = history.newest_time()
    assert now is not None
    later = sorted(set(committed_at(history, group, now)) - set(committed)) if at < now else []
    if later:
        named = list_names([f"{topic}-{partition}" for topic, partition in later], MOST_NAMED)
        line = f"later ones are committed. A reset by this CSV keeps the offsets of {time_text(now)}"
        say(f"{named}: no offset was committed at {time_text(at)}, {line}")
    # By the newest record.
    if members := members_at(history, group, now):
        line = "Kafka refuses a reset while a group has members; stop them first"
        say(f"group {group} has {counted(len(members), 'active member')} at {time_text(now)}. {line}")
