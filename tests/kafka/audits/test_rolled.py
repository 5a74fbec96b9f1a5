"""A log that 4.3.1 and 4.4.0 wrote in turn is read whole, and accuses nobody."""

import pytest

from schemas.words.assignments import Verdict
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.records.dump_log import dumped_records
from tests.kafka.records.test_dump import assert_same_records
from tests.kafka.rolled import rolled
from tests.runs.ingested import rows

pytestmark = pytest.mark.broker

STATIC = "streams-static"


@pytest.fixture(scope="module")
def log():
    return rolled()


@pytest.fixture(scope="module")
def warehouse(log, tmp_path_factory):
    place = tmp_path_factory.mktemp("rolled") / "w"
    command(place, "ingest", "--source", f"segments:{log.log_dir}")
    for step in ("replay", "assignments", "lag"):
        command(place, step)
    return place


def of_group(warehouse, table, group):
    """In the order of the log."""
    found = [row for row in rows(warehouse, table) if row["group_id"] == group]
    return sorted(found, key=lambda row: row["evidence_first_offset"])


def test_the_newer_releases_tool_and_dump_read_the_same(log):
    assert_same_records(log)


def test_who_wrote_an_offset_shows_whether_it_has_its_topics_id(log):
    """4.3.1 writes none in a transaction; 4.4.0 writes one for clients of both releases."""
    commits = [each for each in dumped_records(log.dump_text) if each.record_type == 1 and each.value]
    of_transactions = [each for each in commits if each.batch.is_transactional]
    by_older = {"topicId" in each.value for each in of_transactions if each.key["group"] == "interleaved"}
    assert by_older == {True}
    has_id = ["topicId" in each.value for each in of_transactions if each.key["group"] == "of-renewed"]
    third = len(has_id) // 3
    assert has_id == [False] * third + [True] * third + [False] * third
    assert all("topicId" in each.value for each in commits if not each.batch.is_transactional)


def test_nothing_is_rejected_or_impossible_or_drift(warehouse):
    assert rows(warehouse, "rejected_records") == []
    assert rows(warehouse, "replay_anomalies") == []
    audited = rows(warehouse, "assignment_audit")
    # There are no snapshots, and racks are part of the hashes.
    expected = {Verdict.SAME_UNCONFIRMED, Verdict.CARRIED_OVER}
    assert {row["verdict"] for row in audited if row["group_type"] != "streams"} == expected
    assert {row["verdict"] for row in audited if row["group_type"] == "streams"} == {Verdict.NOT_RECOMPUTABLE}


def test_of_two_upgrades_the_one_in_a_rebalance_shows_its_defect(warehouse):
    audited = rows(warehouse, "assignment_audit")
    copies = {row["group_id"]: row for row in audited if row["verdict"] == Verdict.CARRIED_OVER}
    assert {group: row["known_defect"] for group, row in copies.items()} == {
        "upgraded-at-rest": None,
        "upgraded-in-rebalance": "KAFKA-21582",
    }
    assert {row["known_defect"] for row in audited} == {None, "KAFKA-21582"}


def test_a_static_streams_member_that_was_away_expires_under_the_older_release(warehouse):
    """It knows no such members, but their sessions end."""
    stays = of_group(warehouse, "membership_intervals", STATIC)
    (last,) = [row for row in stays if row["group_instance_id"] == "one-1"]
    assert (last["leave_kind"], last["confidence"]) == ("static_expired_likely", "likely")
    assert last["away_since_time"] < last["to_time"]
    rebalances = of_group(warehouse, "rebalances", STATIC)
    assert (rebalances[-1]["trigger"], rebalances[-1]["outcome"]) == ("group_emptied", "emptied")
    states = of_group(warehouse, "group_state_intervals", STATIC)
    assert (states[-1]["state"], states[-1]["num_members"]) == ("Empty", 0)


@pytest.mark.parametrize("group", ["modern-static", "shared", "shared-deleted", STATIC])
def test_the_first_group_epoch_is_no_rebalance(warehouse, group):
    """From 4.3 on groups begin at epoch 2: 1 is a target without members, which no record has."""
    rebalances = of_group(warehouse, "rebalances", group)
    assert [row["trigger"] for row in rebalances].index("group_created") == 0
    assert rebalances[0]["from_generation"] is None
    assert min(row["to_generation"] for row in rebalances) >= 2
    states = of_group(warehouse, "group_state_intervals", group)
    assert min(row["generation_or_epoch"] for row in states) == 2
    # Before it there was no group, so none that was empty.
    assert states[0]["num_members"] == 1


def test_each_life_of_a_topic_has_its_id(log, warehouse):
    values = [each for each in dumped_records(log.dump_text) if each.record_type == 1 and each.value]
    told = [each.value.get("topicId") for each in values if each.key["topic"] == "renewed"]
    lives = [row for row in rows(warehouse, "topics") if row["topic"] == "renewed"]
    lives.sort(key=lambda row: row["from_time"])
    assert [row["topic_id"] for row in lives] == [each for each in dict.fromkeys(told) if each]
    assert [row["is_provisional"] for row in lives] == [False, False, False, True]


def test_a_topics_deletion_is_one_reset_whichever_offsets_had_its_id(warehouse):
    deleted = [row for row in of_group(warehouse, "offset_resets", "of-renewed") if row["kind"] == "deleted"]
    assert [row["partitions"] for row in deleted] == [[0, 1, 2]] * 3
