"""Upgrades that real clients and brokers went through: the sample's story, and captures with conversions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from jobs.replaying.log.partition import COLUMNS
from tests.builders.groups.upgrade_log import CLASSIC, EPOCHS, MEMBERS, ids
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.capture import capture_of
from tests.kafka.releases import NEWEST, RELEASES
from tests.sample.story import Event, checked_in
from udfs.audit.checks.facts import Facts
from udfs.audit.upgrades import Upgrade, Upgrades

Tables = Mapping[str, pa.Table]
COOPERATIVE, TO_CONSUMER, TO_CLASSIC = ("eager_to_cooperative", "classic_to_consumer", "consumer_to_classic")


def decoded(log_dir: Path, warehouse: Path) -> Tables:
    command(warehouse, "ingest", "--source", f"segments:{log_dir}")
    return {name: DeltaTable(warehouse / name).to_pyarrow_table() for name in (CLASSIC, EPOCHS, MEMBERS)}


def upgrades_until(
    tables: Tables, group: str, until: datetime | None = None, before: int | None = None
) -> dict[str, Upgrade]:
    """Of the records up to an instant, or before an offset."""
    ours = {}
    for name, rows in tables.items():
        mask = pc.equal(rows["group_id"], group)
        if until is not None:
            mask = pc.and_(mask, pc.less_equal(rows["record_time"], pa.scalar(until, rows["record_time"].type)))
        if before is not None:
            mask = pc.and_(mask, pc.less(rows["record_offset"], before))
        ours[name] = rows.filter(mask).sort_by("record_offset").select(COLUMNS[name])
    fold = Upgrades(Facts(), {})
    fold.take(ours)
    return {row.migration: row for row in fold.rows()}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return decoded(checked_in().folder, tmp_path_factory.mktemp("sample") / "warehouse")


def observations(round_: Mapping[str, Any]) -> Iterator[tuple[datetime, set[str]]]:
    for seen in round_["observations"]:
        yield datetime.fromisoformat(seen["time"]), {member["member_id"] for member in seen["members"]}


def test_a_rolling_upgrade_of_the_sample_is_followed_member_by_member(sample: Tables) -> None:
    event = checked_in().event("rolling-upgrade")
    both, cooperative = event["rounds"]
    for at, members in observations(both):
        # The first bounce leaves no trace of what is offered.
        assert COOPERATIVE not in upgrades_until(sample, event.group, at)
        before = members
    for at, members in observations(cooperative):
        row = upgrades_until(sample, event.group, at)[COOPERATIVE]
        assert ids(row.members_remaining) == members & before
        assert ids(row.members_done) == members - before
        assert (row.phase == "finished") == (not members & before)
    # Not before the last member was back from its second restart, in the first record that has it.
    with_all = next(
        record["timestamp_ms"]
        for record in checked_in().records(group=event.group, record_type=2, from_ms=event.from_ms)
        if {each["member_id"] for each in record["value"]["members"]} == members
    )
    assert row.finished_time == with_all * 1000
    assert row.started_time is not None
    assert event.from_ms * 1000 < row.started_time < row.finished_time < event.to_ms * 1000


def test_a_conversion_of_the_sample_and_the_one_back_are_followed(sample: Tables) -> None:
    forth, back = checked_in().event("online-upgrade"), checked_in().event("online-downgrade")
    seen = forth["observations"][-1]
    rows = upgrades_until(sample, forth.group, datetime.fromisoformat(seen["time"]))
    assert set(rows) == {TO_CONSUMER}
    row = rows[TO_CONSUMER]
    assert (row.phase, row.readiness, is_inside(row.started_time, forth)) == ("in_progress", "ready", True)
    upgraded = {member["member_id"]: member["is_upgraded"] for member in seen["members"]}
    assert ids(row.members_done) == {each for each, is_done in upgraded.items() if is_done}
    assert ids(row.members_remaining) == {each for each, is_done in upgraded.items() if not is_done}

    rows = upgrades_until(sample, back.group)
    assert (rows[TO_CONSUMER].phase, rows[TO_CLASSIC].phase) == ("taken_back", "finished")
    assert is_inside(rows[TO_CLASSIC].finished_time, back)
    members = {member["member_id"] for member in back["observations"][-1]["members"]}
    assert ids(rows[TO_CONSUMER].members_remaining) == ids(rows[TO_CLASSIC].members_done) == members


def is_inside(time: int | None, event: Event) -> bool:
    return time is not None and event.from_ms * 1000 <= time < (event.to_ms + 1) * 1000


def test_workers_of_connect_in_the_sample_cannot_turn(sample: Tables) -> None:
    event = checked_in().event("connect-cluster")
    stable = next(seen for seen in event["observations"] if seen["state"] == "Stable")
    row = upgrades_until(sample, event.group, datetime.fromisoformat(stable["time"]))[TO_CONSUMER]
    assert ids(row.members_remaining) == {member["member_id"] for member in stable["members"]}
    assert (row.readiness, [each.kind for each in row.blockers]) == ("blocked", ["other_protocol_type"])
    # Its sink is a group of consumers.
    sink = upgrades_until(sample, event["sink_group"], datetime.fromisoformat(stable["time"]))
    assert [row.readiness for row in sink.values()] in ([], ["ready"])


@pytest.mark.broker
@pytest.mark.parametrize("release", [NEWEST.name, "3.9.1-new"])
def test_conversions_of_real_brokers_are_followed(release: str, tmp_path: Path) -> None:
    tables = decoded(capture_of(RELEASES[release]).log_dir, tmp_path / "warehouse")
    for group, is_online in (("converted-online", True), ("converted-offline", False)):
        ours = tables[EPOCHS].filter(pc.equal(tables[EPOCHS]["group_id"], group))
        deleted = ours.filter(ours["is_tombstone"])["record_offset"].to_pylist()
        # The first records of the operation that turned the group back are tombstones of its members.
        batch = ours.filter(ours["is_tombstone"])["batch_first_offset"].to_pylist()
        assert len(deleted) == 1
        forth = upgrades_until(tables, group, before=batch[0])
        assert set(forth) == {TO_CONSUMER}
        assert forth[TO_CONSUMER].phase == ("in_progress" if is_online else "finished")
        assert len(forth[TO_CONSUMER].members_remaining) == is_online
        back = upgrades_until(tables, group)
        was_whole = "finished" if not is_online else "taken_back"
        assert (back[TO_CONSUMER].phase, back[TO_CLASSIC].phase) == (was_whole, "finished")
