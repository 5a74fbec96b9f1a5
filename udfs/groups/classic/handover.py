"""The moves of partitions of a rebalance of a classic group, and how they become rows."""

from dataclasses import dataclass, field

from schemas.words.history import MoveKind
from udfs.groups.classic.reading_stops import Ends
from udfs.groups.classic.rounds import Round
from udfs.groups.history.reading_ends import UNKNOWN_END
from udfs.groups.history.row_makers import PARTITION_MOVE, READING_END
from udfs.groups.history.rows import Row
from udfs.groups.readers.classic_records import ClassicMember, Tps
from udfs.groups.states.classic import GROUP_TYPE
from udfs.groups.states.kip429_sets import GroupSets


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
    assignees: dict[int, list[ClassicMember]] = field(default_factory=dict)
    # Withheld by the previous rebalance and assigned now.
    num_handed_out: int = 0
    num_moved: int = 0
    num_returned: int = 0
    stopped_ms: int = 0
    moves: list[Row] = field(default_factory=list)
    # For each move, when reading ended.
    ends: list[Row] = field(default_factory=list)


def add_moves(
    round_: Round, handover: Handover, tps: Tps, kind: MoveKind, from_id: str | None, to_id: str | None,
    idle_ms: int | None, ends: Ends = (),
) -> None:  # fmt: skip
    """`ends`: when reading ended, for these partitions and possibly others."""
    if not tps:
        return
    offset, time = round_.at
    handover.stopped_ms += (idle_ms or 0) * len(tps)
    for of, end in ends or [(tps, None)]:
        some = tps if of is tps else tps & of
        if some:
            handover.ends.append(READING_END(end or UNKNOWN_END, tp=some, is_counted=True))
            handover.moves.append(PARTITION_MOVE(
                group_id=round_.group.group_id, group_type=GROUP_TYPE, assignment_offset=offset, tp=some,
                is_open=False, kind=kind, from_member_id=from_id, to_member_id=to_id, move_offset=offset,
                move_time=time, role=None, idle_ms=idle_ms, evidence_first_offset=round_.first_offset,
                evidence_last_offset=offset,
            ))  # fmt: skip
