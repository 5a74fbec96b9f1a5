"""Keeps marks: when somebody deployed or changed something. `why`, `rebalances` and the report show which events of a
group happened within ten minutes after a mark.

    groupscope mark 'billing 2.4.1' --group '^billing'
    groupscope mark 'broker 3 restarted' --at 2026-11-21T03:00
    groupscope mark --list
    groupscope mark --remove 3

Reads and writes `marks`. It does not wait for other runs, and a mark has effect at once. A mark that is there is not
kept again. A removed mark is not shown any more; its row stays in the table. A mark more than a minute in the future is
refused: a planned deployment may be late, and a mark at another time than the change explains nothing.
"""

import argparse
import time
from datetime import datetime, timedelta

from jobs.answers.marks import current_marks
from jobs.answers.table_reader import Row
from jobs.command_line.values import EPOCH, instant
from jobs.gating.options import check_pattern
from jobs.output.failure import misuse, say
from jobs.output.rows import print_rows, time_text
from jobs.recording.marks import add_mark, remove_mark
from jobs.warehouses.any_warehouse import known_cluster, options_of_file, reading
from jobs.warehouses.open_warehouse import check_writable, unusable_when_full

COLUMNS = ("number", "mark_time", "text", "group_pattern", "recorded_time")
# Clocks of hosts differ a little.
MOST_IN_FUTURE = timedelta(minutes=1)


def run(arguments: argparse.Namespace) -> None:
    now = EPOCH + timedelta(microseconds=time.time_ns() // 1_000)
    check_flags(arguments)
    at = mark_time(arguments.at, now)
    warehouse = reading(arguments.warehouse, options_of_file(arguments.config), may_be_before=True)
    cluster = known_cluster(warehouse, arguments.cluster)
    if arguments.list:
        marks = current_marks(warehouse, cluster)
        if not marks:
            say(f"{warehouse.address}: has no marks; groupscope mark TEXT keeps one")
        show(marks, arguments)
        return
    folder = warehouse.path("marks")
    with unusable_when_full(warehouse.root):
        check_writable(warehouse.root)
        if arguments.remove is not None:
            removed = remove_mark(folder, cluster, arguments.remove, now)
            if removed is None:
                line = "no mark has this number; give one that groupscope mark --list shows"
                raise misuse(f"--remove {arguments.remove}: {line}")
            say(f'removed mark {removed["number"]}: {time_text(removed["mark_time"])} "{removed["text"]}"')
            return
        row = {"cluster": cluster, "mark_time": at, "text": arguments.text, "group_pattern": arguments.group}
        mark = add_mark(folder, {**row, "recorded_time": now, "removed_time": None})
    if mark["recorded_time"] != now:
        say(f"mark {mark['number']} is the same and is kept already")
    show([mark], arguments)


def check_flags(arguments: argparse.Namespace) -> None:
    wanted = [arguments.text is not None, arguments.list, arguments.remove is not None]
    if sum(wanted) != 1:
        given = "more than one of TEXT, --list and --remove is given" if any(wanted) else "TEXT is missing"
        raise misuse(f"{given}; give a text such as 'billing 2.4.1', or --list, or --remove N")
    if arguments.text is None:
        for flag in ("at", "group"):
            if getattr(arguments, flag) is not None:
                raise misuse(f"--{flag} is for a new mark: it has no effect with --list or --remove; leave it out")
        return
    if not arguments.text.strip():
        raise misuse(f"TEXT {arguments.text!r}: is empty; say what was deployed or changed, such as 'billing 2.4.1'")
    check_pattern("--group", arguments.group)
    for name, value in (("TEXT", arguments.text), ("--group", arguments.group or "")):
        try:
            value.encode()
        except UnicodeEncodeError:
            # A table cannot store it.
            raise misuse(f"{name}: is not UTF-8; give a text in UTF-8") from None


def mark_time(text: str | None, now: datetime) -> datetime:
    if text is None:
        return now
    at = EPOCH + timedelta(milliseconds=instant(text, (now - EPOCH) // timedelta(milliseconds=1), "--at"))
    if at > now + MOST_IN_FUTURE:
        raise misuse(f"--at {text}: is in the future; give a time up to now, which is {time_text(now)}")
    return at


def show(marks: list[Row], arguments: argparse.Namespace) -> None:
    rows = [[mark[name] for name in COLUMNS] for mark in marks]
    print_rows(COLUMNS, rows, arguments.format, is_wide=arguments.wide)
