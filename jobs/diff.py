"""Shows what changed in a group between two times: state, members, owners and offsets.

    groupscope diff billing --from 2026-11-21T03:00 --to 2026-11-21T04:00

Reads history tables. If the table has no rows, nothing changed.
"""

import argparse

from jobs.answers.history import (
    INCOMPLETE,
    check_seen,
    has_unknown_members,
    open_history,
    print_answer,
    print_first_line,
)
from jobs.answers.missing_records import say_unseen_offsets
from jobs.answers.narrow_tables import member_ids, print_narrow
from jobs.answers.states.differences import Difference, differences
from jobs.output.failure import misuse, say
from jobs.output.rows import Format, time_text


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    first, last = history.instant(arguments.first, "--from"), history.instant(arguments.last, "--to")
    if first > last:
        line = f"--from {time_text(first)} is after --to {time_text(last)}; give a --from that is not later than --to"
        raise misuse(line)
    for at in (first, last):
        check_seen(history, arguments.group, at)
        if has_unknown_members(history, arguments.group, at):
            line = f"state, members and owners at {time_text(at)} are unknown: {INCOMPLETE}; only offsets are compared"
            say(f"group {arguments.group}: {line}")
        say_unseen_offsets(history, arguments.group, at)
    print_first_line("From", f"{time_text(first)} to {time_text(last)}", arguments.format)
    rows = list(differences(history, arguments.group, first, last))
    if arguments.format == Format.TABLE and not arguments.wide:
        print_narrow(Difference._fields, rows, member_ids(history, arguments.group))
    else:
        print_answer(Difference._fields, rows, arguments.format, is_wide=True)
