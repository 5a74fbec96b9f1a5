"""A broker's clock that goes back by weeks between two runs: what the second run makes is what one run makes of all,
though it reads only the commits of the last days again."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.builders.logs.by_hand import commit, generation, write_snapshot
from tests.make.log import T0, Kept, LoggedBatch, write
from tests.runs.ingested import ingest
from tests.runs.replayed_logs import assert_same, measured, replay, result_of

DAY = 86_400
# Group, topic and day of each record, in log order; without a topic it is of a generation of the group. The last ones
# are written by a clock that is weeks behind.
Record = tuple[str, str | None, float]
BEFORE: list[Record] = [("a", "orders", day) for day in range(31)]
REBALANCED: list[Record] = [("a", "orders", day) for day in range(6)] + [("b", None, day) for day in range(6, 31)]
STEPS: dict[str, tuple[list[Record], list[Record]]] = {
    "a key of its own": (BEFORE, [("b", "payments", 12)]),
    "the key that is there": (BEFORE, [("a", "orders", 12)]),
    "the clock catches up": (BEFORE, [("b", "payments", 12), ("b", "payments", 13), ("a", "orders", 32)]),
    "within the days that are read again": (BEFORE, [("b", "payments", 29), ("b", "payments", 29.5)]),
    # Among commits alone no clock went back, and equal commits make no new row of history.
    "only records of groups are younger": (REBALANCED, [("a", "orders", 12)]),
}


def write_days(folder: Path, records: Sequence[Record]) -> str:
    """The source to ingest; all is written to one offsets partition."""
    batches = []
    for offset, (group, topic, day) in enumerate(records):
        rebalanced = generation(group, offset, day * DAY, {"m": [0]}, "orders")
        seconds, ((key, value),) = rebalanced if topic is None else commit(group, topic, 0, day * DAY)
        batches.append(LoggedBatch(offset, offset, (Kept(offset, T0 + round(seconds * 1000), key, value),)))
    write(folder, 0, batches)
    return f"segments:{folder}"


def measure(folder: Path, *logs: Sequence[Record]) -> Path:
    """By one run for each."""
    for day in range(0, 34):
        write_snapshot(folder / "snapshots" / f"{day}.jsonl", day * DAY + 1, {"orders": 1, "payments": 1})
    for number, log in enumerate(logs):
        source = write_days(folder / f"log-{number}", log)
        ingest(folder / "w", "--source", source, "--snapshots", str(folder / "snapshots" / "*.jsonl"))
        replay(folder / "w")
        result_of("lag", folder / "w")
    return folder / "w"


@pytest.mark.drawn(1)
@pytest.mark.parametrize("step", STEPS)
def test_records_of_weeks_ago_are_about_what_was_settled(tmp_path: Path, step: str) -> None:
    (tmp_path / "runs" / "snapshots").mkdir(parents=True)
    (tmp_path / "one" / "snapshots").mkdir(parents=True)
    before, later = STEPS[step]
    every = [*before, *later]
    runs = measure(tmp_path / "runs", before[:20], before, *(every[:size] for size in range(32, len(every) + 1)))
    assert_same(measured(measure(tmp_path / "one", every)), measured(runs), step)
