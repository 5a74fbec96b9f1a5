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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.answers.history import History, cells_of, open_history, print_answer, states_of
from jobs.answers.narrow_tables import print_narrow
from jobs.answers.short_ids import with_short_ids
from jobs.answers.table_reader import Row, equal
from jobs.output.failure import Failure, misuse, visible
from jobs.output.rows import Format, paragraph, print_facts, print_rows, spelling_of, write_lines
from jobs.output.terminal import terminal_width
from jobs.recomputing.facts import IN_SNAPSHOTS, NAMED_PARTITIONS, OF_TOPICS, facts_of_topics
from jobs.replaying.task.warehouse_state import PROGRESS
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC
from udfs.assignors.questions import GroupProtocol
from udfs.audit.checks.facts import Facts
from udfs.audit.checks.results import Latest
from udfs.audit.classic_generations import latest as latest_of_classic
from udfs.audit.modern.questions import latest_of_group
from udfs.audit.states import GroupStates, NewerFormat
from udfs.audit.whatif import ALL_CHOICES, Choice, Question, at_present, spec_lines
from udfs.audit.whatif_changes import GroupChange, Move, WrongChange, balance, best, moves_between, reasons
from udfs.topics.partition_codes import TopicCodes

NAMES = (
    *("group_id", "group_type", "group_protocol", "assignor"),
    *("imbalance", "moves_from_current", "partitions_stopped", "is_possible", "reason", "confidence"),
)
# Of partitions one by one; JSON and --verbose have all.
SHOWN_MOVES = 20
NOBODY = "nobody"


@dataclass(frozen=True)
class WhatIf:
    """A row of assignment_whatif; `partitions` are all, moved or not; by member, how many it has before and after;
    `sizes`, how many each member has that is still there."""

    row: Row
    partitions: Sequence[Move] = ()
    members: Sequence[tuple[str, int, int]] = ()
    sizes: Sequence[int] = ()

    @property
    def moves(self) -> list[Move]:
        return [move for move in self.partitions if move.is_change]


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    change = GroupChange(tuple(arguments.remove_member), arguments.add_members, numbers_of(arguments.partitions))
    rows = rows_of(history, arguments.group)
    wanted = [row for row in rows if arguments.assignor in (None, row["assignor"])]
    if not wanted:
        raise not_offered(arguments.group, arguments.assignor, rows)
    known = facts_for_answers(history)
    latest = newest_assignment(history, arguments.group, known)
    if latest is None:
        raise misuse(f"group {arguments.group} has no assignment to compare")
    try:
        question = Question(at_present(latest, known), known, change)
    except WrongChange as error:
        raise misuse(f"group {arguments.group}: {error}") from None
    if arguments.print_spec:
        write_lines(spec_texts(question, wanted), spelling_of(Format.JSON))
    else:
        is_named = arguments.assignor is not None or bool(change) or arguments.verbose
        show([answer_of(row, question) for row in rows], latest, arguments, is_named)


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
            raise Failure(ExitCode.UNUSABLE_WAREHOUSE, str(error)) from None
        of_classic = None if before is None else latest_of_classic(before, facts)
        return of_classic or latest_of_group(group, modern, codes)
    return None


def numbers_of(partitions: Sequence[tuple[str, int]]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for topic, count in partitions:
        if numbers.setdefault(topic, count) != count:
            line = f"--partitions {topic}={count} contradicts --partitions {topic}={numbers[topic]}; give a topic once"
            raise misuse(line)
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
        raise misuse(f"group {group} has no assignment to compare: {now}")
    return sorted(rows, key=lambda row: ALL_CHOICES.index((GroupProtocol(row["group_protocol"]), row["assignor"])))


def not_offered(group: str, assignor: str, rows: Sequence[Row]) -> Failure:
    offered = ", ".join(dict.fromkeys(row["assignor"] for row in rows))
    wrong = f"--assignor {assignor}: not for a {rows[0]['group_type']} group"
    return misuse(f"group {group}: {wrong}; give one of {offered}")


def spec_texts(question: Question, rows: Sequence[Row]) -> Iterator[str]:
    answers = {choice_of(row): question.answer(choice_of(row)) for row in rows}
    possible = [choice for choice, answer in answers.items() if not isinstance(answer, str)]
    if not possible:
        *_, refused = answers.values()
        raise misuse(f"group {question.latest.group_id}: no assignor can be computed: {refused}")
    return (json.dumps(line) for choice in possible for line in spec_lines(question, choice))


def choice_of(row: Row) -> Choice:
    return GroupProtocol(row["group_protocol"]), row["assignor"]


def answer_of(row: Row, question: Question) -> WhatIf:
    """`row`: of the table, which says nothing of a change."""
    choice = choice_of(row)
    new = vars(question.row(choice))
    row = {**row, **{name: new[name] for name in NAMES[4:]}}
    answer = question.answer(choice)
    if isinstance(answer, str):
        return WhatIf(row)
    after = answer.lists
    before = {
        member.member_id: [(topic, each) for topic, partitions in member.owned for each in partitions]
        for member in question.current.members
    }
    members = [(each, len(before.get(each, ())), len(after.get(each, ()))) for each in dict.fromkeys((*before, *after))]
    return WhatIf(row, moves_between(before, after), members, [len(own) for own in after.values()])


def show(answers: Sequence[WhatIf], latest: Latest, arguments: argparse.Namespace, is_named: bool) -> None:
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
        ids = set() if arguments.wide else {member for each in answers for member, *_ in each.members}
        if arguments.assignor is not None or arguments.verbose:
            facts = [fact for each in wanted for fact in (("", ""), *facts_of(each, latest, arguments.verbose))]
            print_facts(with_short_ids(facts[1:], ids))
        elif arguments.wide:
            print_answer(NAMES, cells_of(rows, NAMES), arguments.format, is_wide=True)
        else:
            print_narrow(NAMES, cells_of(rows, NAMES), ids, left_out=("group_id", "group_type", "reason"))
            for (reason,) in with_short_ids([[each] for each in reasons(rows, in_force(latest))], ids):
                print_sentence(reason)
        print_sentence(best([each.row for each in answers], in_force(latest)) or "No assignor is possible.")


def print_sentence(text: str) -> None:
    write_lines(["", *paragraph(visible(text), terminal_width())])


def facts_of(answer: WhatIf, latest: Latest, is_verbose: bool) -> Iterator[tuple[str, str]]:
    """For people."""
    row = answer.row
    force = f", {latest.assignor} in force" if latest.assignor is not None else ""
    yield "Group", f"{row['group_id']} ({row['group_type']}){force}"
    yield "Assignor", f"{row['assignor']} of the {row['group_protocol']} protocol"
    if not row["is_possible"]:
        yield "Possible", f"no: {row['reason']}"
        return
    yield "Balance", balance(answer.sizes, row["imbalance"])
    moved = f"{row['moves_from_current']} of {sum(before for _, before, _ in answer.members)} change their owner"
    yield "Partitions", f"{moved}, {row['partitions_stopped']} are not read during the rebalance"
    shown = answer.partitions if is_verbose else answer.moves[:SHOWN_MOVES]
    yield from (("", move_text(move)) for move in shown)
    if (left := len(answer.moves) - SHOWN_MOVES) > 0 and not is_verbose:
        yield "", f"and {left} more, with --verbose"
    for place, (member, before, after) in enumerate(answer.members):
        yield "" if place else "Members", f"{member}: {before} before, {after} after"
    if row["reason"] is not None:
        yield "Not certain", row["reason"]
    first, last = row["evidence_first_offset"], row["evidence_last_offset"]
    records = f"record {first}" if first == last else f"records {first} to {last}"
    yield "Evidence", f"{OFFSETS_TOPIC}-{row['evidence_partition']}, {records} ({row['confidence']})"


def move_text(move: Move) -> str:
    topic, partition = move.partition
    before, after = (" and ".join(members) or NOBODY for members in (move.before, move.after))
    return f"{topic}-{partition}: {f'{before} to {after}' if move.is_change else f'{before} keeps it'}"


def in_force(latest: Latest) -> tuple[str, str] | None:
    return None if latest.assignor is None else (str(latest.group_type), latest.assignor)


def moves_of(moves: Sequence[Move]) -> list[dict[str, Any]]:
    names = ("topic", "partition", "from_member_ids", "to_member_ids")
    return [dict(zip(names, (*each.partition, list(each.before), list(each.after)), strict=True)) for each in moves]


def members_of(answer: WhatIf) -> list[Mapping[str, Any]]:
    names = ("member_id", "num_partitions_now", "num_partitions_then")
    return [dict(zip(names, each, strict=True)) for each in answer.members]
