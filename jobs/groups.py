"""Lists the groups of any past time, in the format of kafka-consumer-groups --list --type --state.

    groupscope groups --at 2026-11-21T03:00 --state Empty

Reads `group_state_intervals`. Lists groups of every type, also those that kafka-consumer-groups leaves out, such as
share groups and groups of Kafka Connect.
"""

import argparse
import sys

from jobs.answers.history import History, open_history, print_answer
from jobs.answers.missing_records import check_seen_at
from jobs.answers.unnamed_topics import say_unnamed
from jobs.output.failure import say
from schemas.words.exit_codes import ExitCode
from schemas.words.records import GroupType

COLUMNS = ("GROUP", "TYPE", "STATE", "PROTOCOL")


def run(arguments: argparse.Namespace) -> int:
    history = open_history(arguments)
    say_unnamed(history)
    lines = group_lines(history, arguments)
    print_answer(COLUMNS, lines, arguments.format)
    return ExitCode.CLEAN


def group_lines(
    history: History, arguments: argparse.Namespace
) -> list[tuple[str, str | None, str | None, str | None]]:
    at = history.instant(arguments.at)
    check_seen_at(history, at)
    rows = history.rows_at("group_state_intervals", at)
    say_unknown(sum(row["state"] is None for row in rows), arguments)
    wanted = (
        row for row in rows if arguments.type in (None, row["group_type"]) and arguments.state in (None, row["state"])
    )
    # For groups that are not classic, the protocol is their type. A group with only offsets has none.
    return [
        (
            row["group_id"],
            row["group_type"] and row["group_type"].capitalize(),
            row["state"],
            (row["protocol_type"] or "") if row["group_type"] == GroupType.CLASSIC else row["group_type"],
        )
        for row in sorted(wanted, key=lambda row: str(row["group_id"]))
    ]


def say_unknown(number: int, arguments: argparse.Namespace) -> None:
    if number:
        is_narrow = arguments.type is not None or arguments.state is not None
        left_out = "; they are left out, since --type and --state cannot be compared" if is_narrow else ""
        say(f"groups with unknown TYPE or STATE, because records are missing: {number}{left_out}")


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["groups", *sys.argv[1:]]))
