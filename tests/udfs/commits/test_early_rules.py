"""By the rules of 3.7, offsets in effect are what the slow reading of that coordinator has, at every record; and once
another release takes over, what today's has."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.builders.groups.offset_logs import (
    Row,
    commit,
    commits_table,
    deletion,
    fast_facts,
    is_within_write,
    marker,
    markers_table,
    of_transaction,
    random_facts,
    random_log,
    with_holes,
)
from tests.oracles.history.offset_intervals import Facts, SlowOffsets
from udfs.commits.early_rules import EarlyOffsetReplay
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import Finished, OffsetReplay
from udfs.commits.shown_states import whole_state

# Its long form takes minutes.
TURNS = [*range(4), *(pytest.param(turn, marks=pytest.mark.soak) for turn in range(4, 500))]
PLACES = 8
Key = tuple[str, str, int]
Value = tuple[int, int | None, str]


class Replayed:
    def __init__(self, log: list[Row], facts: Any, end: int | None, rng: np.random.Generator) -> None:
        run = EarlyOffsetReplay("c", 3, Questions.none(), fast_facts(facts), [(0, end)])
        self.parts: list[dict[str, pa.Table]] = []
        chunk: list[Row] = []
        is_taken_over = False
        for record in log:
            is_over = end is not None and record["record_offset"] >= end and not is_taken_over
            if is_over or "hole" in record or rng.random() < 0.1:
                self.parts.append(run.take(commits_table(chunk), markers_table(chunk)))
                chunk = []
            if is_over:
                is_taken_over = True
                self.parts.append(run.take_over(end or 0, record["record_time"]))
            if "hole" in record:
                self.parts.append(run.hole(record["record_offset"], record["record_time"]))
            else:
                chunk.append(record)
        self.parts.append(run.take(commits_table(chunk), markers_table(chunk)))
        self.finished: Finished = run.finish()
        self.parts += [self.finished.closed, self.finished.open]

    def rows(self, name: str) -> list[Row]:
        return [row for part in self.parts if name in part for row in part[name].to_pylist()]

    def in_effect(self, offset: int) -> dict[Key, Value]:
        found: dict[Key, Value] = {}
        for row in self.rows("offset_history"):
            if row["from_record_offset"] <= offset and (
                row["to_record_offset"] is None or offset < row["to_record_offset"]
            ):
                key = row["group_id"], row["topic"], row["partition"]
                assert key not in found
                found[key] = row["committed_offset"], row["leader_epoch"], row["metadata"]
        return found

    def alive(self, offset: int) -> set[str]:
        of = self.finished.liveness
        is_in = pc.and_(
            pc.less_equal(of["from_record_offset"], offset),
            pc.greater(of["to_record_offset"].fill_null(1 << 40), offset),
        )
        return set(of.filter(is_in)["group_id"].to_pylist())


def slow_values(committed: dict[Key, Row]) -> dict[Key, Value]:
    return {key: (row["committed_offset"], row["leader_epoch"], row["metadata"]) for key, row in committed.items()}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("is_taken_over", [False, True], ids=["3.7", "then another"])
def test_offsets_in_effect_are_those_of_the_slow_reading_at_every_record(
    turn: int, is_taken_over: bool, seed: int
) -> None:
    rng = np.random.default_rng([seed, turn])
    log = random_log(rng, int(rng.integers(2, 120)), float(rng.choice([0.3, 0.9])))
    facts = random_facts(rng, log)
    log = with_holes(rng, log, 1) if rng.random() < 0.3 else log
    end = log[int(rng.integers(1, len(log)))]["record_offset"] if is_taken_over else None
    replayed = Replayed(log, facts, end, rng)
    # A hole begins behind its offset.
    holes = {record["record_offset"] for record in log if "hole" in record}
    for place in rng.choice(len(log), min(PLACES, len(log)), replace=False).tolist():
        offset = log[place]["record_offset"]
        slow = SlowOffsets(log[: place + 1], facts)
        is_early = end is None or offset < end
        expected = slow_values(slow.preview if is_early else slow.committed)
        if offset in holes:
            continue
        assert replayed.in_effect(offset) == expected
        pending = slow.preview_pending if is_early else slow.pending
        keys = [*(slow.preview if is_early else slow.committed), *(key for some in pending.values() for key in some)]
        assert replayed.alive(offset) == {group for group, *_ in keys}
    slow = SlowOffsets(log, facts)
    named = [(row["kind"], row["group_id"], row["evidence_first_offset"], row["record_offset"])
             for row in replayed.rows("replay_anomalies")]  # fmt: skip
    differing = [("older_rule", *each) for each in slow.differing]
    differing += [("pending_outlived_deletion", *each) for each in slow.revived]
    assert sorted(named) == sorted([*differing, *(("clock_went_back", *each, each[1]) for each in slow.steps)])


@pytest.mark.parametrize("turn", TURNS)
def test_from_the_state_after_another_release_took_over_a_run_goes_on(turn: int, seed: int) -> None:
    rng = np.random.default_rng([seed, turn, 2])
    log = random_log(rng, int(rng.integers(4, 120)), float(rng.choice([0.3, 0.9])))
    facts = random_facts(rng, log)
    over = int(rng.integers(1, len(log) - 1))
    cuts = [place for place in range(over + 1, len(log)) if not is_within_write(log, place)]
    end, cut = log[over]["record_offset"], cuts[0] if cuts else len(log)
    first = Replayed(log[:cut], facts, end, rng)
    state = whole_state(first.finished.state, first.finished.open["offset_history"])
    run = OffsetReplay("c", 3, state, Questions.none(), fast_facts(facts))
    after = run.take(commits_table(log[cut:]), markers_table(log[cut:]))
    finished = run.finish()
    whole = Replayed(log, facts, end, rng)
    for name in ("offset_history", "transactions", "replay_anomalies"):
        parts = [*first.parts[:-1], after, finished.closed, finished.open]
        rows = [row for part in parts if name in part for row in part[name].to_pylist()]
        assert sorted(map(repr, rows)) == sorted(map(repr, whole.rows(name)))


def test_who_takes_over_drops_ends_and_begins_offsets_with_its_first_record(rng: np.random.Generator) -> None:
    """One COMMIT came last, one offset was deleted meanwhile, and one is the same for both."""
    log = [
        of_transaction(0, partition=0, committed_offset=10), commit(1, partition=0, committed_offset=20),
        commit(2, partition=1, committed_offset=5), of_transaction(3, partition=1, committed_offset=6),
        deletion(4, partition=1), commit(5, partition=2, committed_offset=7), marker(6),
        commit(9, partition=2, committed_offset=7, commit_time=9),
    ]  # fmt: skip
    rows = Replayed(log, Facts(), 8, rng).rows("offset_history")
    columns = (
        "partition",
        "from_record_offset",
        "to_record_offset",
        "committed_offset",
        "previous_offset",
        "ended_by",
        "is_to_exact",
    )
    assert sorted(tuple(row[name] for name in columns) for row in rows) == [
        (0, 1, 6, 20, None, "commit", True), (0, 6, 8, 10, 20, "reloaded", False), (0, 8, None, 20, None, None, True),
        (1, 2, 4, 5, None, "tombstone_unknown", True), (1, 6, 8, 6, None, "reloaded", False),
        (2, 5, None, 7, None, None, True),
    ]  # fmt: skip


def test_an_open_transaction_counts_what_its_commit_will_not_restore(rng: np.random.Generator) -> None:
    log = [of_transaction(0, committed_offset=1), of_transaction(1, committed_offset=2), commit(2, committed_offset=3)]
    (row,) = Replayed(log, Facts(), None, rng).rows("transactions")
    assert (row["outcome"], row["num_commits"], row["num_superseded"]) == ("open", 2, 1)
