"""Random lives of groups against slow replays, which were written from the coordinators' loading rules alone; and logs
that contradict themselves all the time."""

from random import Random

import pytest

from tests.builders.generated.lives import Life
from tests.builders.generated.modern import AWAY, CONSUMER, SHARE, STREAMS, Modern
from tests.make.coordinator import topic_id
from tests.make.log import T0, Batch, Log, decoded
from tests.make.shrink import check_all
from tests.oracles.history.modern_groups import rebalances, records_of, snapshots

KINDS = {"consumer": CONSUMER, "share": SHARE, "streams": STREAMS}
TOPICS = ("p", "q", "r")
NAMES = {topic_id(name): name for name in TOPICS}
LIVES, SOAKED = 3, 300


class ModernLife(Life):
    """One group, which stays one of its kind; also topics grow."""

    def __init__(self, kind, chance):
        super().__init__(
            "g", {name: (topic_id(name), chance.randint(1, 3)) for name in TOPICS}, chance, kind == "share"
        )
        self.kind = KINDS[kind]

    def step(self, time):
        if self.now is None:
            self.now = Modern(self.kind, self.group, self.topics, self.chance)
            return self.now.join(time)
        if self.now.members and self.chance.random() < 0.05:
            return self.grow(time)
        return self.of_modern(self.now, time)

    def grow(self, time):
        name = self.chance.choice(TOPICS)
        self.topics[name] = (self.topics[name][0], self.topics[name][1] + 1)
        present = [each for each in self.now.members if each.epoch != AWAY]
        return self.now.new_epoch(time) + (self.now.advance(self.chance.choice(present)) if present else [])

    def turn_classic(self, time):
        return self.delete_modern(time)


def modern_log(seed, kind, steps=80, repeats=0.0):
    """Clocks of brokers step back now and then; some operations share a moment. `repeats`: how often a target that
    repeats the epoch of the newest one follows, as no coordinator writes it."""
    chance = Random(seed)
    log, life, time, newest = Log(topics={-1: dict.fromkeys(TOPICS, 9)}), ModernLife(kind, chance), 10, None
    for _ in range(steps):
        time += chance.choice((0, 1, 40, 900, -3))
        if ops := life.step(T0 + time):
            log.write(time, *ops)
        for each in ops:
            newest = each if each.number == life.kind.target_epoch and each.value else newest
            newest = None if each.number == life.kind.epoch and each.value is None else newest
        if newest is not None and chance.random() < repeats:
            log.write(time, newest)
    return log


def slow(log):
    return snapshots(records_of(decoded([log.logged()])[0]), NAMES)


def holding(history, table, offset):
    return [row for row in history.rows[table] if row["from_record_offset"] <= offset
            and (row["to_record_offset"] is None or offset < row["to_record_offset"])]  # fmt: skip


def members_at(history, offset):
    rows = holding(history, "membership_intervals", offset)
    return {row["member_id"]: (row["group_instance_id"], row["client_id"]) for row in rows}


def owners_at(history, offset):
    rows = holding(history, "ownership_intervals", offset)
    return {(row["member_id"], row["tp"], row["role"], row["phase"]) for row in rows}


def is_what_a_coordinator_holds(history):
    for each in slow(history.log):
        states = holding(history, "group_state_intervals", each.offset)
        expected = [(each.state, each.epoch, len(each.members))] if each.is_there else []
        rows = [(row["state"], row["generation_or_epoch"]) for row in states]
        assert rows == [state[:2] for state in expected], (rows, each)
        assert members_at(history, each.offset) == each.members, each
        assert owners_at(history, each.offset) == each.owners, (owners_at(history, each.offset) ^ each.owners, each)
    assert {row["kind"] for row in history.rows["replay_anomalies"]} <= {"clock_went_back"}


SUBJECTS = {
    "group_state_intervals": ("state", "generation_or_epoch"),
    "ownership_intervals": ("member_id", "tp", "role", "phase"),
    "membership_intervals": ("member_id",),
}  # fmt: skip


def is_exact_and_as_long_as_can_be(history):
    for table, subject in SUBJECTS.items():
        rows = history.rows[table]
        assert all(row["is_from_exact"] and row["is_to_exact"] for row in rows)
        ends = {
            (row["to_record_offset"], *(row[name] for name in subject)) for row in rows if row["ended_by"] != "deleted"
        }
        begins = {(row["from_record_offset"], *(row[name] for name in subject)) for row in rows}
        assert not ends & begins, table
        assert len(begins) == len(rows), table


def has_the_rebalances_of_its_targets(history):
    rows = sorted(history.rows["rebalances"], key=lambda row: row["assignment_offset"])
    ends = [(row["to_generation"], row["outcome"], None if row["outcome"] == "open" else row["evidence_last_offset"],
             row["num_members_after"]) for row in rows]  # fmt: skip
    assert ends == rebalances(slow(history.log)), (ends, rebalances(slow(history.log)))


def is_as_a_coordinator_wrote_it(history):
    is_what_a_coordinator_holds(history)
    is_exact_and_as_long_as_can_be(history)
    has_the_rebalances_of_its_targets(history)


def reports_each_repeated_target(history):
    # Also a target that changes nothing of any member's is completed alone, but with an epoch of its own.
    done, seen, repeats = {12: "share", 6: "consumer", 20: "streams"}, [], []
    for batch in history.log.batches:
        for place, each in enumerate(batch.ops):
            if each.number in done and each.value is not None:
                repeats += [batch.first + place] if each in seen[-1:] else []
                seen.append(each)
    assert [int(each) for each in history.of("anomalies record_offset kind=impossible_order")] == repeats
    has_the_rebalances_of_its_targets(history)
    key = ("assignment_offset", "tp", "role", "kind", "from_member_id", "to_member_id")
    moves = [tuple(row[name] for name in key) for row in history.rows["partition_moves"]]
    assert len(set(moves)) == len(moves), "two moves with one key"


def cleaned(log, chance, is_of_whole_batches=False):
    """As a cleaner leaves the log: before some offset only the newest record of each key, and not every tombstone."""
    until = chance.randint(0, log.offset)
    if is_of_whole_batches:
        until = chance.choice([each.first for each in log.batches] + [log.offset])
    newest = {}
    for batch in log.batches:
        for place, each in enumerate(batch.ops):
            if batch.first + place < until:
                newest[each.number, repr(each.key)] = batch.first + place
    result = Log(**log.known)
    for batch in log.batches:
        ops = tuple(
            each if batch.first + place >= until or (
                newest[each.number, repr(each.key)] == batch.first + place
                and (each.value is not None or chance.random() < 0.5)) else None
            for place, each in enumerate(batch.ops)
        )  # fmt: skip
        if any(ops):
            result.append(Batch(0, batch.time, ops, skipped=batch.first - result.offset))
    return result


def is_replayed_as_far_as_it_goes(history):
    for each in slow(history.log):
        # Names of members may be recorded later than their existence.
        assert members_at(history, each.offset).keys() == each.members.keys(), each
        # Where the record that freed a partition is gone, its next owner shows it.
        owners = owners_at(history, each.offset)
        assert owners <= each.owners, each
        assert {owner[1:3] for owner in owners} == {owner[1:3] for owner in each.owners}, each
    assert {row["kind"] for row in history.rows["replay_anomalies"]} <= {"clock_went_back", "older_rule"}


@pytest.mark.parametrize("number", [LIVES, pytest.param(SOAKED, marks=pytest.mark.soak)])
@pytest.mark.parametrize("kind", KINDS)
def test_after_every_operation_the_history_is_what_a_coordinator_holds(seed, kind, number):
    logs = [modern_log(seed + each, kind) for each in range(number)]
    check_all(logs, is_as_a_coordinator_wrote_it, f"seed {seed}, {kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_that_repeats_an_epoch_is_reported_and_has_moves_of_its_own(seed, kind):
    logs = [modern_log(seed + each, kind, repeats=0.2) for each in range(2)]
    check_all(logs, reports_each_repeated_target, f"seed {seed}, {kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_cleaned_log_is_replayed_as_far_as_it_goes(seed, kind):
    check_all(
        [cleaned(modern_log(seed, kind, 50), Random(seed))], is_replayed_as_far_as_it_goes, f"seed {seed}, {kind}"
    )


@pytest.mark.parametrize("number", [1, pytest.param(SOAKED, marks=pytest.mark.soak)])
@pytest.mark.parametrize("kind", KINDS)
def test_of_a_damaged_log_several_runs_make_the_rows_of_one(seed, kind, number):
    logs = [modern_log(seed + each, kind).damaged(Random(seed + each)) for each in range(number)]
    assert sum(len(each.missing) for each in logs) > 0
    check_all(logs, lambda _: None, f"seed {seed}, {kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_cleaned_log_no_group_is_called_empty_that_was_not(seed, kind):
    """Else the commits of its members, which the cleaner may leave, would have no owner. It cleans whole batches."""
    log = modern_log(seed, kind, 50)
    whole = slow(log)

    def is_empty_only_where_it_was(history):
        for row in history.rows["group_state_intervals"]:
            true = next(each for each in whole if each.offset >= row["from_record_offset"])
            assert row["state"] != "Empty" or not true.members, (row, true)

    check_all(
        [cleaned(log, Random(seed), is_of_whole_batches=True)], is_empty_only_where_it_was, f"seed {seed}, {kind}"
    )
