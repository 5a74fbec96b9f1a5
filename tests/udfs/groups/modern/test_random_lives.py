"""Random lives of groups, against a slow replay that was written from the loading rules alone."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from tests.builders.groups.modern_coordinator import Coordinator, cleaned
from tests.builders.groups.modern_log import CODES, History, Log, history
from tests.oracles.history.modern_groups import Snapshot, snapshots
from udfs.groups.readers.modern_values import Current, TargetEpoch
from udfs.groups.readers.recorded_lists import Partitions
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import PARTITION_MASK

ROUNDS = 4
# Tombstones of these end the group.
DELETING = (3, 11, 17)


def holds(row: dict[str, object], offset: int) -> bool:
    return int(row["from_offset"]) <= offset and (row["to_offset"] is None or offset < int(row["to_offset"]))  # type: ignore[call-overload]


def owners_at(result: History, offset: int) -> set[tuple[object, ...]]:
    return {
        (row["member_id"], row["tp"], row["role"], row["phase"])
        for row in result.rows("ownership_intervals")
        if holds(row, offset)
    }


def expected_owners(snapshot: Snapshot) -> set[tuple[object, ...]]:
    return {(member, partition(each), role, phase) for member, each, role, phase in snapshot.owners}


def partition(each: int | tuple[str, int]) -> tuple[str | None, int]:
    """Of a task: its topology has one topic."""
    return (CODES.name(each), each & PARTITION_MASK) if isinstance(each, int) else ("orders", each[1])


def members_at(result: History, snapshot: Snapshot) -> dict[object, tuple[object, ...]]:
    return {
        row["member_id"]: (row["group_instance_id"], row["client_id"])
        for row in result.rows("membership_intervals")
        if holds(row, snapshot.offset)
    }


def expected_members(snapshot: Snapshot) -> dict[object, tuple[object, ...]]:
    return {member: reported[:2] for member, reported in snapshot.members.items()}


def slow_snapshots(records: Iterable[Record]) -> list[Snapshot]:
    return snapshots(map(with_sets, records))


def with_sets(record: Record) -> Record:
    """The slow coordinator compares what members own as sets."""
    if not isinstance(record.value, Current):
        return record
    assigned, pending = (
        {role: share.tps if isinstance(share, Partitions) else share.tasks for role, share in shares.items()}
        for shares in (record.value.assigned, record.value.pending)
    )
    value: Any = record.value._replace(assigned=assigned, pending=pending)
    return record._replace(value=value)


@pytest.fixture(params=range(ROUNDS))
def rng(request: pytest.FixtureRequest, seed: int) -> np.random.Generator:
    """Another one each round, also where GROUPSCOPE_SEED is set."""
    return np.random.default_rng([seed, request.param])


@pytest.fixture(params=["consumer", "share", "streams"])
def log(request: pytest.FixtureRequest, rng: np.random.Generator) -> Log:
    return Coordinator(rng, request.param).live(120)


def test_after_every_operation_the_history_is_what_a_coordinator_holds(log: Log) -> None:
    replay = history(log)
    for snapshot in slow_snapshots(log.records):
        states = [row for row in replay.rows("group_state_intervals") if holds(row, snapshot.offset)]
        expected = [(snapshot.state, snapshot.epoch, len(snapshot.members))] if snapshot.is_there else []
        rows = [(row["state"], row["generation_or_epoch"]) for row in states]
        assert rows == [each[:2] for each in expected], snapshot
        assert members_at(replay, snapshot) == expected_members(snapshot), snapshot
        assert owners_at(replay, snapshot.offset) == expected_owners(snapshot), snapshot
    assert {row["kind"] for row in replay.rows("replay_anomalies")} <= {"clock_went_back"}


def test_rows_are_exact_and_as_long_as_can_be(log: Log) -> None:
    replay = history(log)
    subjects = {
        "group_state_intervals": ("state", "generation_or_epoch"),
        "ownership_intervals": ("member_id", "tp", "role", "phase"),
        "membership_intervals": ("member_id",),
    }
    for table, subject in subjects.items():
        rows = replay.rows(table)
        assert all(row["is_from_exact"] and row["is_to_exact"] for row in rows)
        ends = {(row["to_offset"], *(row[name] for name in subject)) for row in rows if row["ended_by"] != "deleted"}
        begins = {(row["from_offset"], *(row[name] for name in subject)) for row in rows}
        assert not ends & begins, table
        assert len(begins) == len(rows), table


def test_rebalances_are_the_targets_and_end_when_all_have_reached_them(log: Log) -> None:
    rows = [
        (row["to_generation"], row["outcome"], None if row["is_open"] else row["evidence_last_offset"],
         row["num_members_after"])
        for row in history(log).rows("rebalances")
    ]  # fmt: skip
    assert rows == expected_rebalances(slow_snapshots(log.records))


def expected_rebalances(states: list[Snapshot]) -> list[tuple[object, ...]]:
    result: list[tuple[object, ...]] = []
    going: Snapshot | None = None
    before: Snapshot | None = None
    for now in states:
        fresh = before is None or not before.is_there
        is_target = now.is_there and now.num_targets != (0 if fresh else before.num_targets)  # type: ignore[union-attr]
        is_emptied = bool(not fresh and now.is_there and before.members and not now.members)  # type: ignore[union-attr]
        if going is not None and (is_target or is_emptied):
            result.append((going.target_epoch, "superseded", now.offset, len(going.members)))
            going = None
        if is_emptied:
            result.append((now.epoch, "emptied", now.offset, 0))
        elif is_target:
            going = now
        if going is not None and now.reached == going.target_epoch:
            result.append((going.target_epoch, "completed", now.offset, len(going.members)))
            going = None
        before = now
    if going is not None:
        result.append((going.target_epoch, "open", None, len(going.members)))
    return result


KEY = ("assignment_offset", "tp", "role", "kind", "from_member_id", "to_member_id")


def repeating(log: Log, rng: np.random.Generator) -> tuple[Log, list[int]]:
    """The log with targets that repeat the epoch of the newest one, as no coordinator writes them; their offsets."""
    result, repeats, newest = Log(), [], None
    for (_, time), operation in groupby(log.records, key=lambda record: (record.batch, record.time)):
        records = list(operation)
        result.write(
            None if time is None else time // 1000, *((each.type, each.member, each.value) for each in records)
        )
        for each in records:
            newest = each if isinstance(each.value, TargetEpoch) else newest
            newest = None if each.value is None and each.type in DELETING else newest
        if newest is not None and rng.random() < 0.2:
            repeats.append(result.offset)
            result.write(None if time is None else time // 1000, (newest.type, None, newest.value))
    return result, repeats


def test_a_target_that_repeats_an_epoch_is_reported_and_has_moves_of_its_own(
    log: Log, rng: np.random.Generator
) -> None:
    log, repeats = repeating(log, rng)
    replay = history(log)
    assert replay.select("replay_anomalies", "record_offset", kind="impossible_order") == repeats
    rows = [
        (row["to_generation"], row["outcome"], None if row["is_open"] else row["evidence_last_offset"],
         row["num_members_after"])
        for row in replay.rows("rebalances")
    ]  # fmt: skip
    assert rows == expected_rebalances(slow_snapshots(log.records))
    keys = replay.select("partition_moves", *KEY)
    assert len(set(keys)) == len(keys)


def test_two_runs_make_the_rows_of_one(log: Log, rng: np.random.Generator) -> None:
    whole = history(log).all()
    batches = sorted({record.batch for record in log.records})
    for cut in rng.choice(batches, min(8, len(batches)), replace=False):
        assert history(log, cut=int(cut)).all() == whole, cut


def test_a_cleaned_log_is_replayed_as_far_as_it_goes(log: Log, rng: np.random.Generator) -> None:
    records, gaps = cleaned(log, rng)
    replay = history(records, gaps=gaps)
    states = slow_snapshots(records)
    for snapshot in states:
        # Their names may be recorded later than their existence.
        assert members_at(replay, snapshot).keys() == expected_members(snapshot).keys(), snapshot
        # Where the record that freed a partition is gone, its next owner shows it.
        assert owners_at(replay, snapshot.offset) <= expected_owners(snapshot), snapshot
        owned = {each[1:3] for each in expected_owners(snapshot)}
        assert {each[1:3] for each in owners_at(replay, snapshot.offset)} == owned, snapshot
    assert {row["kind"] for row in replay.rows("replay_anomalies")} <= {"clock_went_back", "older_rule"}
    whole = history(log)
    if states and len(whole.rows("group_state_intervals", is_open=True)):
        last = replay.select("group_state_intervals", "state", "generation_or_epoch", is_open=True)
        assert last == whole.select("group_state_intervals", "state", "generation_or_epoch", is_open=True)


def test_of_a_cleaned_log_no_group_is_called_empty_that_was_not(log: Log, rng: np.random.Generator) -> None:
    """Else its members' commits, which the cleaner may leave, would be nobody's. Cleaners clean whole batches."""
    batches = sorted({record.batch for record in log.records})
    records, gaps = cleaned(log, rng, int(rng.choice([*batches, log.offset])))
    replay = history(records, gaps=gaps)
    whole = slow_snapshots(log.records)
    for row in replay.rows("group_state_intervals", state="Empty"):
        true = next(each for each in whole if each.offset >= int(row["from_offset"]))
        assert not true.members, (row, true)
