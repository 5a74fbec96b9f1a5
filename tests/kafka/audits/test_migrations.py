"""Groups of a real broker that migrated to another assignor or protocol, went back, or stopped half way: what the
tables say is what whoever restarted their members wrote down, and an admin client saw."""

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.replaying.log.partition import COLUMNS
from tests.builders.groups.stored_states import again
from tests.builders.groups.upgrade_log import CLASSIC, EPOCHS, MEMBERS
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.lost_groups import with_later_times
from tests.kafka.migrations import migrations_of
from tests.runs.ingested import rows
from udfs.audit.checks.facts import Facts
from udfs.audit.upgrades import Upgrades

pytestmark = pytest.mark.broker

COOPERATIVE, TO_CONSUMER, TO_CLASSIC = ("eager_to_cooperative", "classic_to_consumer", "consumer_to_classic")
DAY_MS = 24 * 3_600_000
# A round in which the members of a group restarted with these assignors; none: with the consumer protocol.
ONLY_COOPERATIVE, MODERN, RANGE = ("cooperative-sticky",), (), ("range",)


@pytest.fixture(scope="module")
def log():
    return migrations_of()


@pytest.fixture(scope="module")
def warehouse(log, tmp_path_factory):
    return of_steps(log.log_dir, tmp_path_factory.mktemp("migrations") / "w", "assignments")


@pytest.fixture(scope="module")
def later(log, tmp_path_factory):
    """As if the last restart of the group that stopped half way had come a day later."""
    folder = tmp_path_factory.mktemp("later")
    since = round(log.restarts("half-way")[-1].from_time.timestamp() * 1000)
    for segment in log.log_dir.glob("*/*.log"):
        copy = folder / "log" / segment.relative_to(log.log_dir)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(with_later_times(segment.read_bytes(), since, DAY_MS))
    warehouse = of_steps(folder / "log", folder / "w", "replay", "assignments", "lag")
    assert cli.main(["gate", "--warehouse", str(warehouse), "--fail-on", "never"]) == 0
    return warehouse


def of_steps(log_dir, warehouse, *steps):
    command(warehouse, "ingest", "--source", f"segments:{log_dir}")
    for step in steps:
        command(warehouse, step)
    return warehouse


def migrations(warehouse, group):
    """Those that began."""
    found = [row for row in rows(warehouse, "assignor_upgrades") if row["group_id"] == group]
    return {row["migration"]: row for row in found if row["phase"] != "not_started"}


def ids(members):
    return {member["member_id"] for member in members}


def round_of(log, group, offered):
    """The newest restarts of a group that offer this, one after another."""
    restarts = log.restarts(group)
    last = max(place for place, each in enumerate(restarts) if each.offered == offered)
    first = max((place + 1 for place in range(last) if restarts[place].offered != offered), default=0)
    return restarts[first : last + 1]


def assert_within(time: datetime, restart):
    """From its start until it was seen at rest."""
    assert restart.from_time <= time <= restart.settled_time


def test_a_rolled_group_has_finished_when_the_last_member_is_back_from_its_second_restart(log, warehouse):
    first, last = round_of(log, "rolled-and-back", ONLY_COOPERATIVE)
    row = migrations(warehouse, "rolled-and-back")[COOPERATIVE]
    assert_within(row["started_time"], first)
    assert_within(row["finished_time"], last)
    # One more bounce took it back, since all prefer range where all have it again: another matter, it had finished.
    assert (row["phase"], row["members_remaining"], row["blockers"]) == ("finished", [], [])
    assert ids(row["members_done"]) == last.members.keys()


def test_a_rolled_group_that_went_back_half_way_is_not_stuck(log, warehouse):
    (half,) = round_of(log, "rolled-half-way-and-back", ONLY_COOPERATIVE)
    last = log.restarts("rolled-half-way-and-back")[-1]
    row = migrations(warehouse, "rolled-half-way-and-back")[COOPERATIVE]
    assert_within(row["started_time"], half)
    assert (row["phase"], row["finished_time"], row["members_done"]) == ("taken_back", None, [])
    assert ids(row["members_remaining"]) == last.members.keys()
    assert [each["kind"] for each in row["blockers"]] == ["turned_back"]


def test_a_conversion_that_finished_and_the_one_back_are_two_finished_migrations(log, warehouse):
    forth, back = (round_of(log, "converted-and-back", each) for each in (MODERN, RANGE))
    assert all(member["is_upgraded"] for member in forth[-1].members.values())
    found = migrations(warehouse, "converted-and-back")
    assert {migration: row["phase"] for migration, row in found.items()} == {
        TO_CONSUMER: "finished",
        TO_CLASSIC: "finished",
    }
    for migration, restarts in ((TO_CONSUMER, forth), (TO_CLASSIC, back)):
        row = found[migration]
        assert_within(row["started_time"], restarts[0])
        # The last member of the other protocol leaves, comes back, and is seen.
        assert restarts[0].settled_time < row["finished_time"] <= restarts[-1].settled_time
        assert ids(row["members_done"]) == restarts[-1].members.keys()
        assert (row["members_remaining"], row["blockers"], row["confidence"]) == ([], [], "certain")


def test_a_conversion_that_was_taken_back_half_way_is_not_stuck(log, warehouse):
    (half,) = round_of(log, "half-way-and-back", MODERN)
    last = log.restarts("half-way-and-back")[-1]
    assert sorted(member["is_upgraded"] for member in half.members.values()) == [False, True]
    found = migrations(warehouse, "half-way-and-back")
    forth, back = found[TO_CONSUMER], found[TO_CLASSIC]
    assert (forth["phase"], forth["finished_time"], back["phase"]) == ("taken_back", None, "finished")
    assert_within(forth["started_time"], half)
    assert half.settled_time < back["finished_time"] <= last.settled_time
    assert ids(forth["members_remaining"]) == ids(back["members_done"]) == last.members.keys()


def test_of_all_of_them_only_one_that_stands_still_for_long_is_a_finding(log, warehouse, later):
    members = log.restarts("half-way")[-1].members
    for place, phase, blockers in ((warehouse, "in_progress", []), (later, "stuck", ["no_progress"])):
        row = migrations(place, "half-way")[TO_CONSUMER]
        assert (row["phase"], [each["kind"] for each in row["blockers"]]) == (phase, blockers)
        assert ids(row["members_done"]) == {each for each, member in members.items() if member["is_upgraded"]}
        assert ids(row["members_remaining"]) == {each for each, member in members.items() if not member["is_upgraded"]}
    (finding,) = (row for row in rows(later, "findings") if row["kind"] == "upgrade_stuck")
    assert (finding["group_id"], finding["severity"], finding["confidence"]) == ("half-way", "warning", "certain")
    assert "stands still: no member has changed for three rebalances and a day" in finding["message"]


def test_a_log_that_comes_in_two_runs_gives_the_same(log, warehouse):
    for group in {line["group"] for line in log.diary}:
        tables = {}
        for name in (CLASSIC, EPOCHS, MEMBERS):
            table = DeltaTable(warehouse / name).to_pyarrow_table()
            ours = table.filter(pc.equal(table["group_id"], group)).sort_by("record_offset")
            tables[name] = ours.select(COLUMNS[name])
        whole = run(tables, {})[0]
        operations = {each for table in tables.values() for each in table["batch_first_offset"].to_pylist()}
        for cut in sorted(operations)[1:]:
            first, states = run({name: before(table, cut) for name, table in tables.items()}, {})
            second, _ = run({name: before(table, cut, is_since=True) for name, table in tables.items()}, states)
            assert (second or first) == whole, (group, cut)


def before(table: pa.Table, offset, *, is_since=False):
    mask = pc.less(table["record_offset"], offset)
    return table.filter(pc.invert(mask) if is_since else mask)


def run(tables, states):
    fold = Upgrades(Facts(), states)
    fold.take(tables)
    return fold.rows(), again("upgrades", fold.states())
