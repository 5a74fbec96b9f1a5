"""Shows the assignment a group would get from another assignor, with other members or with more partitions.

    groupscope whatif billing
    groupscope whatif billing --assignor cooperative-sticky --verbose
    groupscope whatif billing --remove-member billing-1-5f0c --add-members 2 --partitions orders=24
    groupscope whatif billing --assignor uniform --print-spec | groupscope assign

For each assignor: how balanced the assignment is, how many partitions change their owner, and how many are not read
during the rebalance. Topics have the partitions that the newest snapshots and records show. Reads `assignment_whatif`
and recomputes who has each partition before and after. JSON and CSV output has rows of `assignment_whatif`. JSON adds
`moves` and `members` if you name an assignor or a change, and `owners` of all partitions with --verbose.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.answers.history import History, cells_of, open_history, print_answer, states_of
from jobs.answers.narrow_tables import print_narrow
from jobs.answers.short_ids import with_short_ids
from jobs.answers.table_reader import Row, equal
from jobs.output.failure import Failure, visible
from jobs.output.rows import Format, label_lines, paragraph, print_rows, spelling_of, write_lines
from jobs.output.terminal import terminal_width
from jobs.pages.whatif import LABEL_WIDTH, WhatIfBlock, blocks
from jobs.recomputing.facts import IN_SNAPSHOTS, NAMED_PARTITIONS, OF_TOPICS, facts_of_topics
from jobs.replaying.task.warehouse_state import PROGRESS
from schemas.words.exit_codes import ExitCode
from udfs.assignors.questions import GroupProtocol
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.classic_generations import latest as latest_of_classic
from udfs.audit.modern.questions import latest_of_group
from udfs.audit.states import GroupStates, NewerFormat
from udfs.audit.whatif import ALL_CHOICES, Choice, Question, at_present, spec_lines
from udfs.audit.whatif_changes import GroupChange, Move, WrongChange, best, moves_between, reasons
from udfs.topics.partition_codes import TopicCodes

NAMES = (
    *("group_id", "group_type", "group_protocol", "assignor"),
    *("imbalance", "moves_from_current", "partitions_stopped", "is_possible", "reason", "confidence"),
)


def run(arguments: argparse.Namespace) -> int:
    history = open_history(arguments)
    change = GroupChange(tuple(arguments.remove_member), arguments.add_members, numbers_of(arguments.partitions))
    rows = rows_of(history, arguments.group)
    wanted = [row for row in rows if arguments.assignor in (None, row["assignor"])]
    if not wanted:
        raise not_offered(arguments.group, arguments.assignor, rows)
    known = facts_for_answers(history)
    latest = newest_assignment(history, arguments.group, known)
    if latest is None:
        raise Failure(ExitCode.USAGE, visible(f"group {arguments.group} has no assignment to compare"))
    try:
        question = Question(at_present(latest, known), known, change)
    except WrongChange as error:
        raise Failure(ExitCode.USAGE, visible(f"group {arguments.group}: {error}")) from None
    if arguments.print_spec:
        write_lines(spec_texts(question, wanted), spelling_of(Format.JSON))
        return ExitCode.CLEAN
    is_named = arguments.assignor is not None or bool(change) or arguments.verbose
    show([answer_block(row, question) for row in rows], latest, arguments, is_named)
    return ExitCode.CLEAN


def facts_for_answers(history: History) -> Facts:
    """Of topics alone."""
    return facts_of_topics(
        history.cluster,
        history.reader.arrow("topic_snapshots", IN_SNAPSHOTS),
        history.rows("topics", columns=OF_TOPICS),
        history.reader.arrow(PROGRESS, NAMED_PARTITIONS, equal("cluster", history.cluster)),
    )


def newest_assignment(history: History, group: str, facts: Facts) -> Latest | None:
    """What the newest run of `assignments` remembers of the group, as input for other assignors. None: it has no
    assignment in force."""
    for row in history.rows("recomputed_groups", equal("group_id", group), columns=["state"]):
        codes = TopicCodes(facts.names)
        states = GroupStates({group: row["state"]}, codes)
        try:
            before, modern = (states.of_fold(part).get(group) for part in ("classic", "modern"))
        except NewerFormat as error:
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, visible(str(error))) from None
        of_classic = None if before is None else latest_of_classic(before, facts)
        return of_classic or latest_of_group(group, modern, codes)
    return None


def numbers_of(partitions: Sequence[tuple[str, int]]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for topic, count in partitions:
        if numbers.setdefault(topic, count) != count:
            line = f"--partitions {topic}={count} contradicts --partitions {topic}={numbers[topic]}; give a topic once"
            raise Failure(ExitCode.USAGE, visible(line))
    return numbers


def rows_of(history: History, group: str) -> list[Row]:
    """In the order in which choices are shown, or a failure that says why there is none."""
    if "assignment_whatif" not in history.reader.versions:
        line = f"{history.reader.warehouse.address}: has no table assignment_whatif yet; run `groupscope assignments`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    rows = history.rows("assignment_whatif", equal("group_id", group))
    if not rows:
        # Fails with a message if the group never existed.
        last = max(states_of(history, group), key=lambda row: row["from_record_offset"])
        now = f"it is {last['state']}" if last["is_provisional"] else "it was deleted"
        raise Failure(ExitCode.USAGE, visible(f"group {group} has no assignment to compare: {now}"))
    return sorted(rows, key=lambda row: ALL_CHOICES.index((GroupProtocol(row["group_protocol"]), row["assignor"])))


def not_offered(group: str, assignor: str, rows: Sequence[Row]) -> Failure:
    offered = ", ".join(dict.fromkeys(row["assignor"] for row in rows))
    line = f"--assignor {assignor}: not for a {rows[0]['group_type']} group; give one of {offered}"
    return Failure(ExitCode.USAGE, visible(f"group {group}: {line}"))


def spec_texts(question: Question, rows: Sequence[Row]) -> Iterator[str]:
    answers = {choice_of(row): question.answer(choice_of(row)) for row in rows}
    possible = [choice for choice, answer in answers.items() if not isinstance(answer, str)]
    if not possible:
        *_, refused = answers.values()
        line = f"group {question.latest.group_id}: no assignor can be computed: {refused}"
        raise Failure(ExitCode.USAGE, visible(line))
    return (json.dumps(line) for choice in possible for line in spec_lines(question, choice))


def choice_of(row: Row) -> Choice:
    return GroupProtocol(row["group_protocol"]), row["assignor"]


def answer_block(row: Row, question: Question) -> WhatIfBlock:
    """`row`: of the table, which says nothing of a change."""
    choice = choice_of(row)
    new = question.row(choice)._asdict()
    row = {**row, **{name: new[name] for name in NAMES[4:]}}
    answer = question.answer(choice)
    if isinstance(answer, str):
        return WhatIfBlock(row)
    after = answer.lists
    before = {
        member.member_id: [(topic, each) for topic, partitions in member.owned for each in partitions]
        for member in question.current.members
    }
    members = [(each, len(before.get(each, ())), len(after.get(each, ()))) for each in dict.fromkeys((*before, *after))]
    return WhatIfBlock(row, moves_between(before, after), members, [len(own) for own in after.values()])


def show(answers: Sequence[WhatIfBlock], latest: Latest, arguments: argparse.Namespace, is_named: bool) -> None:
    wanted = [each for each in answers if arguments.assignor in (None, each.row["assignor"])]
    rows = [each.row for each in wanted]
    if arguments.format == Format.JSON and is_named:
        more = ["moves", "members", *(["owners"] if arguments.verbose else [])]
        parts = [[moves_of(each.moves), members_of(each), moves_of(each.partitions)] for each in wanted]
        whole = [[*(row[name] for name in NAMES), *part[: len(more)]] for row, part in zip(rows, parts, strict=True)]
        print_rows([*NAMES, *more], whole, arguments.format)
    elif arguments.format != Format.TABLE:
        print_rows(NAMES, cells_of(rows, NAMES), arguments.format)
    else:
        width = terminal_width()
        ids = set() if arguments.wide else {member for each in answers for member, *_ in each.members}
        if arguments.assignor is not None or arguments.verbose:
            rows_of_blocks = with_short_ids(list(blocks(wanted, latest, is_verbose=arguments.verbose)), ids)
            write_lines(
                line for label, text in rows_of_blocks for line in label_lines(label, visible(text), LABEL_WIDTH, width)
            )
        elif arguments.wide:
            print_answer(NAMES, cells_of(rows, NAMES), arguments.format, is_wide=True)
        else:
            print_narrow(NAMES, cells_of(rows, NAMES), ids, left_out=("group_id", "group_type", "reason"))
            for (reason,) in with_short_ids([[each] for each in reasons(rows, in_force(latest))], ids):
                write_lines(["", *paragraph(visible(reason), width)])
        sentence = best([each.row for each in answers], in_force(latest))
        write_lines(["", *paragraph(visible(sentence or "No assignor is possible."), width)])


def in_force(latest: Latest) -> tuple[str, str] | None:
    return None if latest.assignor is None else (str(latest.group_type), latest.assignor)


def moves_of(moves: Sequence[Move]) -> list[dict[str, Any]]:
    names = ("topic", "partition", "from_member_ids", "to_member_ids")
    return [dict(zip(names, (*each.partition, list(each.before), list(each.after)), strict=True)) for each in moves]


def members_of(answer: WhatIfBlock) -> list[Mapping[str, Any]]:
    names = ("member_id", "num_partitions_now", "num_partitions_then")
    return [dict(zip(names, each, strict=True)) for each in answer.members]


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["whatif", *sys.argv[1:]]))
