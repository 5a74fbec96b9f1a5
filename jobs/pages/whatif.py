"""What `groupscope whatif` prints for people: one block per assignor, and which assignor is best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.answers.table_reader import Row
from schemas.words.records import OFFSETS_TOPIC
from udfs.audit.checks.results import Latest
from udfs.audit.whatif_changes import Move, balance

LABEL_WIDTH = 12
# Of partitions one by one; JSON and --verbose have all.
SHOWN_MOVES = 20
NOBODY = "nobody"


@dataclass(frozen=True)
class WhatIfBlock:
    """A row of assignment_whatif; `partitions` are all, moved or not; by member, how many it has before and after;
    `sizes`, how many each member has that is still there."""

    row: Row
    partitions: Sequence[Move] = ()
    members: Sequence[tuple[str, int, int]] = ()
    sizes: Sequence[int] = ()

    @property
    def moves(self) -> list[Move]:
        return [move for move in self.partitions if move.is_change]


def blocks(answers: Sequence[WhatIfBlock], latest: Latest, *, is_verbose: bool) -> Iterator[tuple[str, str]]:
    for number, each in enumerate(answers):
        if number:
            yield "", ""
        yield from block(each, latest, is_verbose)


def block(answer: WhatIfBlock, latest: Latest, is_verbose: bool) -> Iterator[tuple[str, str]]:
    row = answer.row
    force = f", {latest.assignor} in force" if latest.assignor is not None else ""
    yield "Group", f"{row['group_id']} ({row['group_type']}){force}"
    yield "Assignor", f"{row['assignor']} of the {row['group_protocol']} protocol"
    if not row["is_possible"]:
        yield "Possible", f"no: {row['reason']}"
        return
    yield "Balance", balance(answer.sizes, row["imbalance"])
    total = sum(before for _, before, _ in answer.members)
    yield (
        "Partitions",
        f"{row['moves_from_current']} of {total} change their owner, {row['partitions_stopped']} are not read during "
        "the rebalance",
    )
    yield from (("", line) for line in (owner_lines(answer) if is_verbose else move_lines(answer)))
    for place, (member, before, after) in enumerate(answer.members):
        yield "" if place else "Members", f"{member}: {before} before, {after} after"
    if row["reason"] is not None:
        yield "Not certain", row["reason"]
    first, last = row["evidence_first_offset"], row["evidence_last_offset"]
    records = f"record {first}" if first == last else f"records {first} to {last}"
    yield "Evidence", f"{OFFSETS_TOPIC}-{row['evidence_partition']}, {records} ({row['confidence']})"


def move_lines(answer: WhatIfBlock) -> Iterator[str]:
    yield from map(move_text, answer.moves[:SHOWN_MOVES])
    if len(answer.moves) > SHOWN_MOVES:
        yield f"and {len(answer.moves) - SHOWN_MOVES} more, with --verbose"


def owner_lines(answer: WhatIfBlock) -> Iterator[str]:
    return map(move_text, answer.partitions)


def move_text(move: Move) -> str:
    topic, partition = move.partition
    before, after = (" and ".join(members) or NOBODY for members in (move.before, move.after))
    return f"{topic}-{partition}: {f'{before} to {after}' if move.is_change else f'{before} keeps it'}"
