"""Unread times against what members of real groups saw themselves: killed, away, leaving, on topics without traffic.

A reader learns of its assignment a little after the log has it, and has given partitions up a little before."""

from typing import Final

import pytest

from tests.kafka.outages import outages_of
from tests.kafka.releases import KAFKA_3_9_OLD, KAFKA_4_1, KAFKA_4_3
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay

# By so much may the truth lie beside the bounds: above, on a busy machine; below, as a kill takes a while.
DELIVERY_MS: Final = 1_000
KILL_MS: Final = 100
# Members that stopped all have this session timeout, those that gave partitions up this rebalance timeout.
SESSION_MS: Final = 6_000
# Whoever comes back in time sets off no rebalance; growing and fading topics are not about members.
GROUPS: Final = ("killed-", "away-", "left-")


@pytest.fixture(scope="module", params=[KAFKA_4_3, KAFKA_4_1, KAFKA_3_9_OLD], ids=lambda release: release.name)
def outages(request):
    release = request.param
    return outages_of(release)


@pytest.fixture(scope="module")
def warehouse(outages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outages") / "w"
    ingest(folder, "--source", f"segments:{outages.log_dir}", "--snapshots", outages.snapshots)
    replay(folder)
    return folder


def move_of(gap, moves):
    """The nearest to when the next reader had the partition."""
    mine = [
        move
        for move in moves
        if all(move[name] == gap[name] for name in ("topic", "partition"))
        and move["group_id"] == gap["group"]
        and move["unread_high_ms"] is not None
    ]
    return min(mine, key=lambda move: abs(move["move_time"].timestamp() * 1000 - gap["to_ms"]))


def stopped_gaps(outages):
    """From the members that stopped to those that took over. Of share groups no record shows who reads."""
    members = [member for event in outages.truth["events"] if event["event"] in ("killed", "closed")
               for member in event["members"]
               if member["group"].startswith(GROUPS) and member["protocol"] != "share"]  # fmt: skip
    return [
        gap
        for member in members
        for gap in member["gaps"]
        if gap["from_client"] == member["client"] != gap["to_client"]
    ]


@pytest.mark.broker
def test_the_true_time_lies_within_the_bounds(outages, warehouse):
    moves = rows(warehouse, "partition_moves")
    gaps = stopped_gaps(outages)
    assert {gap["group"].split("-")[0] for gap in gaps} == {each.strip("-") for each in GROUPS}
    for gap in gaps:
        move, true = move_of(gap, moves), gap["to_ms"] - gap["from_ms"]
        low, high = move["unread_low_ms"], move["unread_high_ms"]
        assert low - KILL_MS <= true <= high + DELIVERY_MS, (gap, move)
        assert high - low <= SESSION_MS + DELIVERY_MS, (gap, move)


@pytest.mark.broker
def test_those_who_stopped_are_distinguished_and_rank_first(outages, warehouse):
    """Each by about its session timeout. On a busy machine others may wait as long for their first partitions."""
    costs = {}
    for row in rows(warehouse, "rebalances"):
        if row["unread_partition_high_ms"] is not None:
            costs[row["group_id"], row["to_generation"]] = row["longest_unread_high_ms"]
    ranked = sorted(costs, key=lambda key: -costs[key])
    stopped = {row["group_id"] for row in rows(warehouse, "membership_intervals")
               if row["leave_kind"] in ("session_timeout_likely", "static_expired_likely")}  # fmt: skip
    waited = {gap["group"] for gap in outages.truth["gaps"] if gap["to_ms"] - gap["from_ms"] > SESSION_MS / 2}
    expected = {group for group in waited if group.startswith(("killed-", "away-", "quiet-"))}
    # Share groups commit nothing that could show it.
    expected.discard("killed-share")
    assert stopped == expected
    loud = {group for group in expected if not group.startswith("quiet-")}
    ranked = [group for group, _ in ranked if group in loud or group not in waited]
    assert set(ranked[: len(loud)]) == loud


@pytest.mark.broker
def test_nothing_was_unread_where_there_was_nothing_to_read(warehouse):
    gone = {row["member_id"]: row["to_record_offset"] for row in rows(warehouse, "membership_intervals")
            if row["group_id"].startswith("quiet-") and row["leave_kind"] == "session_timeout_likely"}  # fmt: skip
    left = [row for row in rows(warehouse, "partition_moves") if row["from_member_id"] in gone]
    left = [row for row in left if gone[row["from_member_id"]] in (row["move_offset"], row["evidence_first_offset"])]
    assert left
    assert {(row["unread_low_ms"], row["unread_high_ms"]) for row in left} == {(0, 0)}
