"""What another assignor would give a group as it stands: how even, what moves, what stops meanwhile.

    groupscope whatif billing --assignor cooperative-sticky

Reads `assignment_whatif`; with an assignor named it also recomputes which partitions would move, and how many each
member would have. As JSON and CSV: rows of `assignment_whatif`; as JSON with `moves` and `members` where one is named.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.failure import Failure
from jobs.histories.history import History, add_reader_flags, opened, print_answer, selected, states_of
from jobs.histories.recomputed import facts, newest_assignment
from jobs.histories.table_reader import Row, equal
from jobs.row_output import Format, pad, print_rows, visible, write_lines
from schemas.exit_codes import ExitCode
from schemas.vocabulary import OFFSETS_TOPIC
from udfs.assignors.specs import GroupProtocol
from udfs.recomputing.audited import Latest
from udfs.recomputing.facts import Facts
from udfs.recomputing.what_if import ALL_CHOICES, Move, moves
from udfs.recomputing.what_if_answers import Answer, answers
from udfs.recomputing.what_if_questions import Question

ASSIGNORS = tuple(dict.fromkeys(name for _, name in ALL_CHOICES))
NAMES = (
    *("group_id", "group_type", "group_protocol", "assignor"),
    *("imbalance", "moves_from_current", "partitions_stopped", "is_possible", "reason", "confidence"),
)
LABEL_WIDTH = 12
# Of partitions one by one; JSON has all.
SHOWN_MOVES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--assignor", choices=ASSIGNORS, help="Kafka's name of one assignor; default: each in a row")
    add_reader_flags(parser)


@dataclass(frozen=True)
class Told:
    """A row of assignment_whatif; by member, how many partitions it has now and then."""

    row: Row
    moves: Sequence[Move] = ()
    members: Sequence[tuple[str, int, int]] = ()


def run(arguments: argparse.Namespace) -> int:
    history = opened(arguments, "whatif")
    rows = rows_of(history, arguments.group, arguments.assignor)
    if arguments.assignor is None:
        print_answer(NAMES, selected(rows, NAMES), arguments.format)
        return ExitCode.CLEAN
    known = facts(history)
    latest = newest_assignment(history, arguments.group, known)
    told = [Told(row) if latest is None else told_of(row, latest, known) for row in rows]
    if arguments.format == Format.TABLE:
        write_lines(visible(f"{pad(label, LABEL_WIDTH, False)} {text}").rstrip() for label, text in lines(told, latest))
    elif arguments.format == Format.CSV:
        print_rows(NAMES, selected(rows, NAMES), arguments.format)
    else:
        whole = [[*(each.row[name] for name in NAMES), moves_of(each), members_of(each)] for each in told]
        print_rows([*NAMES, "moves", "members"], whole, arguments.format)
    return ExitCode.CLEAN


def rows_of(history: History, group: str, assignor: str | None) -> list[Row]:
    """In the order in which choices are offered, or a failure that says why there is none."""
    if "assignment_whatif" not in history.reader.versions:
        told = f"{history.reader.warehouse.told}: holds no what-ifs, `groupscope assignments` makes them"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told)
    found = history.rows("assignment_whatif", equal("group_id", group))
    if not found:
        # Says so where there never was such a group.
        last = max(states_of(history, group), key=lambda row: row["from_offset"])
        now = f"it is {last['state']}" if last["is_open"] else "it is no more"
        raise Failure(ExitCode.USAGE, visible(f"group {group}: has no assignment to ask about, {now}"))
    found.sort(key=lambda row: ALL_CHOICES.index((GroupProtocol(row["group_protocol"]), row["assignor"])))
    wanted = [row for row in found if assignor in (None, row["assignor"])]
    if not wanted:
        offered = ", ".join(dict.fromkeys(row["assignor"] for row in found))
        told = f"--assignor {assignor}: not for a {found[0]['group_type']} group, one of {offered} was expected"
        raise Failure(ExitCode.USAGE, visible(f"group {group}: {told}"))
    return wanted


def told_of(row: Row, latest: Latest, known: Facts) -> Told:
    if not row["is_possible"]:
        return Told(row)
    (answer,) = answers([Question(latest, known)], GroupProtocol(row["group_protocol"]), row["assignor"])
    if not isinstance(answer, Answer):
        return Told(row)
    now, then = answer.lists(answer.before), answer.lists(answer.after)
    return Told(row, moves(answer), [(member, len(now[member]), len(then[member])) for member in now])


def lines(told: Sequence[Told], latest: Latest | None) -> Iterator[tuple[str, str]]:
    for number, each in enumerate(told):
        if number:
            yield "", ""
        yield from lines_of(each, latest)


def lines_of(told: Told, latest: Latest | None) -> Iterator[tuple[str, str]]:
    row = told.row
    force = f", {latest.assignor} in force" if latest is not None and latest.assignor is not None else ""
    yield "Group", f"{row['group_id']} ({row['group_type']}){force}"
    yield "Assignor", f"{row['assignor']} of the {row['group_protocol']} protocol"
    if not row["is_possible"]:
        yield "Possible", f"no: {row['reason']}"
        return
    yield "Balance", f"at most {row['imbalance']} partitions apart, of members that subscribe to the same"
    total = sum(now for _, now, _ in told.members)
    yield "Partitions", f"{row['moves_from_current']} of {total} move, {row['partitions_stopped']} stop meanwhile"
    yield from (("", move_text(move)) for move in told.moves[:SHOWN_MOVES])
    if len(told.moves) > SHOWN_MOVES:
        yield "", f"and {len(told.moves) - SHOWN_MOVES} more, with --format json"
    for place, (member, now, then) in enumerate(told.members):
        yield "" if place else "Members", f"{member}: {now} now, {then} then"
    if row["reason"] is not None:
        yield "Left out", row["reason"]
    first, last = row["evidence_first_offset"], row["evidence_last_offset"]
    yield "Evidence", f"{OFFSETS_TOPIC}-{row['evidence_partition']}, records {first} to {last} ({row['confidence']})"


def move_text(move: Move) -> str:
    topic, partition = move.partition
    return f"{topic}-{partition}: {' and '.join(move.before) or 'nobody'} to {' and '.join(move.after) or 'nobody'}"


def moves_of(told: Told) -> list[dict[str, Any]]:
    return [
        {
            "topic": topic,
            "partition": partition,
            "from_member_ids": list(move.before),
            "to_member_ids": list(move.after),
        }
        for move in told.moves
        for topic, partition in (move.partition,)
    ]


def members_of(told: Told) -> list[dict[str, Any]]:
    names = ("member_id", "num_partitions_now", "num_partitions_then")
    return [dict(zip(names, each, strict=True)) for each in told.members]


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["whatif", *sys.argv[1:]]))
