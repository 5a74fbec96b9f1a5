"""A partition that moves twice in the same way under one assignment, the second time in a later run."""

import pyarrow as pa

from jobs.replaying.partition.handovers import WAITING, moves_to_ask
from schemas.tables import READING_ENDS, TABLES
from tests.make.tables import filled

MOVE = {"group_id": "g", "assignment_offset": 8, "topic": "t", "partition": 1, "kind": "assigned", "to_member_id": "a"}


def test_the_first_move_still_waits_for_its_commit() -> None:
    first, second = ({**MOVE, "move_offset": offset} for offset in (15, 39))
    waiting = filled(TABLES[WAITING], [{**first, "is_settled": True, "is_awaiting_commit": True}])
    made, ends = filled(TABLES["partition_moves"], [second]), filled(READING_ENDS, [{}])
    moves, _ = moves_to_ask(made, ends, waiting, pa.chunked_array([[True]]))
    assert sorted(moves.column("move_offset").to_pylist()) == [15, 39]
