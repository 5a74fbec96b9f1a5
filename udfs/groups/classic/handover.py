"""The moves of partitions of a rebalance of a classic group, and how they become rows."""

from dataclasses import dataclass, field

from schemas.tables.history import PARTITION_MOVES
from schemas.tables.state.replayed_log import READING_ENDS
from schemas.words.history import Confidence, MoveKind
from udfs.groups.classic.reading_stops import Ends
from udfs.groups.classic.rounds import Round
from udfs.groups.history.reading_ends import NOT_TOLD, ReadingEnd
from udfs.groups.history.rows import Row, row_fields
from udfs.groups.readers.classic_records import ClassicMember, Tps
from udfs.groups.states.classic import GROUP_TYPE
from udfs.groups.states.kip429_sets import GroupSets

CERTAIN = Confidence.CERTAIN

ENDING = row_fields(READING_ENDS, "tp", *ReadingEnd._fields, "is_counted")
MOVE = row_fields(
    PARTITION_MOVES,
    "group_id", "group_type", "assignment_offset", "tp", "is_open", "kind", "from_member_id", "to_member_id",
    "move_offset", "move_time", "role", "idle_ms", "commit_gap_ms", "unread_low_ms", "unread_high_ms", "unread_basis",
    "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


@dataclass(slots=True)
class Handover:
    """What a rebalance did to owners, and its rows of `partition_moves`."""

    # Members that came back without what they had before.
    lost: set[str]
    sets: GroupSets
    # By member: which of its assigned partitions it keeps.
    kept: dict[str, Tps] = field(default_factory=dict)
    # Partitions whose new owner already has a row, written when the old owner lost them.
    passed_on: set[int] = field(default_factory=set)
    # Members that gave up everything and were assigned the same again.
    restored: set[str] = field(default_factory=set)
    # By partition, the members it is assigned to. Filled when first needed.
    given: dict[int, list[ClassicMember]] = field(default_factory=dict)
    # Withheld by the previous rebalance and assigned now.
    num_handed_out: int = 0
    num_moved: int = 0
    num_returned: int = 0
    stopped_ms: int = 0
    moves: list[Row] = field(default_factory=list)
    # For each move, when reading ended.
    ends: list[Row] = field(default_factory=list)


def tell(
    round_: Round, done: Handover, tps: Tps, kind: MoveKind, from_id: str | None, to_id: str | None,
    idle_ms: int | None, ends: Ends = (),
) -> None:  # fmt: skip
    """`ends`: when reading ended, for these partitions and possibly others."""
    if not tps:
        return
    offset, time = round_.at
    done.stopped_ms += (idle_ms or 0) * len(tps)
    for of, end in ends or [(tps, None)]:
        some = tps if of is tps else tps & of
        if some:
            done.ends.append((ENDING, some, *(end or NOT_TOLD), True))
            done.moves.append((
                MOVE,
                round_.group.group_id, GROUP_TYPE, offset, some, False, kind, from_id, to_id,
                offset, time, None, idle_ms, None, None, None, None,
                round_.first_offset, offset, CERTAIN,
            ))  # fmt: skip
