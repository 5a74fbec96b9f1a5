"""What proves an assignment wrong, through a warehouse: the same in however many runs log and snapshots come."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.by_hand import Log, commit, generation, write_log, write_snapshot
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, row_texts

# The group's leader did not assign ranges; another group commits in another offsets partition.
WRONG: Log = {3: [generation("g", 1, 50, {"a": [0], "b": [1, 2]})]}
# One more than the group's own partitions, which both snapshots have.
BEYOND: Log = {5: [commit("other", "t", 3, 60)]}
WITHIN: Log = {5: [commit("other", "t", 2, 60)]}
Step = Sequence[str | Path]


def history(warehouse: Path, *steps: Step) -> Path:
    """What came step by step was looked at after each."""
    for step in steps:
        ingest(warehouse, *step)
        look(warehouse)
    return warehouse


def at_once(warehouse: Path, *steps: Step) -> Path:
    for step in steps:
        ingest(warehouse, *step)
    return look(warehouse)


def look(warehouse: Path) -> Path:
    for job in ("replay", "assignments"):
        assert cli.main([job, "--warehouse", str(warehouse)]) in (ExitCode.CLEAN, ExitCode.FINDINGS)
    return warehouse


def verdict(warehouse: Path) -> tuple[str, str]:
    (row,) = rows(warehouse, "assignment_audit")
    return row["verdict"], row["reason"] or ""


def written(folder: Path, name: str, log: Log) -> Step:
    return "--source", write_log(folder / name, log), "--cluster", "c"


def snapshots(folder: Path, *seconds: float) -> list[Step]:
    return [
        ("--snapshots", write_snapshot(folder / f"{each}.jsonl", each, {"t": 3}, {"t": "t" * 22}), "--cluster", "c")
        for each in seconds
    ]


@pytest.mark.parametrize("others", [BEYOND, WITHIN], ids=["beyond", "within"])
def test_records_of_other_groups_contradict_snapshots_in_whatever_order_all_of_it_comes(
    others: Log, tmp_path: Path
) -> None:
    log, more = written(tmp_path, "log", WRONG), written(tmp_path, "more", others)
    steps = [log, more, *snapshots(tmp_path, 10, 90)]
    whole = at_once(tmp_path / "whole", *steps)
    result, reason = verdict(whole)
    assert result == ("not_recomputable" if others is BEYOND else "drift")
    assert ("records name partition 3, a snapshot has 3" in reason) is (others is BEYOND)
    for number, order in enumerate([*permutations(steps)][3::20]):
        warehouse = history(tmp_path / f"w{number}", *order)
        assert_same(
            row_texts(whole, (*HISTORY, *ASSIGNMENTS)), row_texts(warehouse, (*HISTORY, *ASSIGNMENTS)), str(order)
        )


def test_a_later_snapshot_judges_earlier_rows_anew(tmp_path: Path) -> None:
    log = written(tmp_path, "log", {**WRITTEN_BEFORE, **WRONG})
    before, after = snapshots(tmp_path, 10, 90)
    warehouse = history(tmp_path / "w", log, before)
    assert verdict(warehouse)[0] == "not_recomputable"
    assert "only snapshots before" in verdict(warehouse)[1]
    history(warehouse, after)
    assert verdict(warehouse)[0] == "drift"
    whole = at_once(tmp_path / "whole", log, before, after)
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(warehouse, ASSIGNMENTS), "later")


# Of a group of which nothing is recomputed.
WRITTEN_BEFORE: Log = {6: [commit("other", "u", 0, 20)]}
