"""Which rows of a remote warehouse go where a run puts others."""

from typing import Any, cast

import pytest

from jobs.recomputing.run import WRITTEN as OF_ASSIGNMENTS
from jobs.replaying.known_state import WRITTEN as OF_REPLAY
from jobs.replaying.staged_tables import StagedTables
from jobs.replaying.tables import About
from jobs.replaying.written_tables import WrittenTables
from jobs.settings import Settings


def tables(written: WrittenTables) -> StagedTables:
    nobody = cast(Any, None)
    return StagedTables(nobody, nobody, About("it's", "run", Settings(), written, nobody, nobody, 0))


OURS = "cluster = 'it\\'s'"


@pytest.mark.parametrize(
    ("written", "name", "answered", "anew", "gone"),
    [
        (OF_REPLAY, "rebalances", None, [], OURS),
        (OF_REPLAY, "rebalances", [1, 3], [3], f"{OURS} AND (evidence_partition IN (3) OR (is_open AND "
         "evidence_partition IN (1, 3)))"),
        (OF_REPLAY, "replayed_groups", [1], [], f"{OURS} AND (offsets_partition IN (1))"),
        (OF_REPLAY, "topics", [1], [], OURS),
        (OF_ASSIGNMENTS, "assignment_audit", [1], [], None),
        (OF_ASSIGNMENTS, "assignment_audit", [1, 2], [2], f"{OURS} AND (evidence_partition IN (2))"),
        (OF_ASSIGNMENTS, "assignment_whatif", [1], [], f"{OURS} AND (evidence_partition IN (1))"),
        (OF_ASSIGNMENTS, "recomputed_partitions", [1], [], OURS),
    ],
)  # fmt: skip
def test_rows_go_that_are_made_anew(
    written: WrittenTables, name: str, answered: list[int] | None, anew: list[int], gone: str | None
) -> None:
    assert tables(written).gone(name, answered, anew) == gone


@pytest.mark.parametrize("written", [OF_REPLAY, OF_ASSIGNMENTS], ids=lambda written: written.job)
def test_a_run_that_finds_nothing_to_do_takes_nothing_away(written: WrittenTables) -> None:
    """Such as one after a snapshot that says nothing new; only tables made anew as a whole are written again."""
    assert {name for name in written.names if tables(written).gone(name, [], []) is not None} == set(written.whole)
