"""Events of the sample in the history tables, a function for each kind: it finds there what the story tells, or
asserts."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

from tests.oracles.history.agreement import disagreements, said_offsets, shown_offsets
from tests.oracles.history.at_instant import END, Replayed, Row
from tests.sample.story import Event, epoch_ms

# Whoever looked in passing may have waited for the answer while the sample's broker was busy.
PATIENCE_MS: Final = 1_500
# A session ends its timeout after the last heartbeat that came before the member fell silent.
HEARTBEAT_MS: Final = 500
Observed = Mapping[str, Any]


def assert_observed(replayed: Replayed, group: str, seen: Observed, patience_ms: int = 0) -> None:
    """As an admin client saw the group; its offsets were not asked for then."""
    at_ms = epoch_ms(seen["time"])
    look = {
        **seen,
        "group": group,
        "group_type": seen["group_type"].lower(),
        "asked_ms": at_ms - patience_ms,
        "answered_ms": at_ms,
        "members": [member_seen(member) for member in seen["members"]],
    }
    assert disagreements(replayed, look) == []


def member_seen(member: Observed) -> dict[str, Any]:
    if "active_tasks" not in member:
        return dict(member)
    return {**member, "active": member["active_tasks"], "standby": member["standby_tasks"], "warmup": {}}


def during(replayed: Replayed, event: Event) -> list[Row]:
    """Rebalances that were over, or began, in the event's time."""
    return [
        row
        for row in replayed.rebalances(event.group)
        if row["end_time"] is not None and event.from_ms * 1000 <= row["end_time"] <= event.to_ms * 1000 + 999
    ]


def triggers(rows: list[Row]) -> list[str]:
    return [row["trigger"] for row in rows if not row["is_follow_up"]]


def row_of(replayed: Replayed, table: str, group: str, **wanted: Any) -> Row:
    (result,) = (
        row for row in replayed.rows(table, group) if all(row[name] == value for name, value in wanted.items())
    )
    return result


def is_inside(time: int | None, event: Event) -> bool:
    return time is not None and event.from_ms * 1000 <= time <= event.to_ms * 1000 + 999


# -- members and rebalances


def classic_rebalances(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    rows = during(replayed, event)
    assert triggers(rows) == ["group_created", "member_joined", "member_joined", "member_left"]
    mode = "cooperative" if event["assignor"] == "cooperative-sticky" else "eager"
    assert {row["mode"] for row in rows[1:]} == {mode}
    assert any(row["is_follow_up"] for row in rows) == (mode == "cooperative")


def static_bounce(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    before = row_of(replayed, "membership_intervals", event.group, member_id=event["member_id_before"])
    assert (before["leave_kind"], is_inside(before["to_time"], event)) == ("static_replaced", True)
    assert replayed.members(event.group, event.to_ms * 1000).keys() >= {event["member_id_after"]}
    assert during(replayed, event) == []
    stays = [row for row in replayed.rows("ownership_intervals", event.group) if is_inside(row["to_time"], event)]
    assert {(row["member_id"], row["ended_by"]) for row in stays} == {(event["member_id_before"], "static_replaced")}


def static_expired(replayed: Replayed, event: Event) -> None:
    assert timed_out(replayed, event)["leave_kind"] == "static_expired_likely"


def session_timeout(replayed: Replayed, event: Event) -> None:
    gone = timed_out(replayed, event)
    assert (gone["leave_kind"], gone["confidence"]) == ("session_timeout_likely", "likely")
    # All others that went were closed.
    likely = [row for row in replayed.tables["membership_intervals"] if row["leave_kind"] == "session_timeout_likely"]
    assert likely == [gone]


def timed_out(replayed: Replayed, event: Event) -> Row:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    gone = row_of(replayed, "membership_intervals", event.group, member_id=event["member_id"])
    assert gone["to_time"] >= (event.from_ms + event["session_timeout_ms"] - HEARTBEAT_MS) * 1000
    (rebalance,) = during(replayed, event)
    assert (rebalance["trigger"], rebalance["members_departed"]) == ("member_left", [event["member_id"]])
    return gone


def assignor_upgrade(replayed: Replayed, event: Event) -> None:
    for seen in (event["before"], *(seen for each in event["rounds"] for seen in each["observations"])):
        assert_observed(replayed, event.group, seen)
    states = sorted(replayed.rows("group_state_intervals", event.group), key=lambda row: int(row["from_record_offset"]))
    named = [row["assignor"] for row in states if row["assignor"] is not None]
    assert [name for name, _ in groupby(named)] == event["assignors"]
    changes = [row for row in during(replayed, event) if row["trigger"] == "assignor_changed"]
    assert [row["start_time"] >= epoch_ms(event["rounds"][1]["from_time"]) * 1000 for row in changes] == [True]


def rebalance_storm(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    rows = during(replayed, event)
    ids = [flap["member_id"] for flap in event["flaps"]]
    assert triggers(rows) == ["member_joined", "member_left"] * len(ids)
    assert [row["members_joined"] for row in rows[::2]] == [[member] for member in ids]
    assert [row["members_departed"] for row in rows[1::2]] == [[member] for member in ids]
    assert [row["to_generation"] for row in rows[::2]] == [flap["generation"] for flap in event["flaps"]]


def consumer_rebalances(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    rows = [row for row in replayed.rebalances(event.group) if row["start_time"] <= event.to_ms * 1000]
    assert triggers(rows) == ["group_created", "member_joined", "member_joined", "member_left"]
    assert {row["mode"] for row in rows} == {"incremental"}
    assert [row["num_members_after"] for row in rows] == [1, 2, 3, 2]


def converted_to_consumer(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    (classic,) = (
        row for row in replayed.rows("group_state_intervals", event.group)
        if row["ended_by"] == "converted" and row["group_type"] == "classic"
    )  # fmt: skip
    assert is_inside(classic["to_time"], event)
    (joined,) = during(replayed, event)
    assert joined["trigger"] == "protocol_migration"
    # What the classic member keeps it owns all along.
    (kept,) = event["observations"][0]["members"]
    (after,) = (each for each in event["observations"][1]["members"] if each["member_id"] == kept["member_id"])
    uncut = {
        row["partition"] for row in replayed.holding("ownership_intervals", event.group, event.to_ms * 1000)
        if row["member_id"] == kept["member_id"] and row["from_time"] < event.from_ms * 1000
    }  # fmt: skip
    assert sorted(uncut) == after["partitions"]["orders"]


def converted_to_classic(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    (consumer,) = (
        row for row in replayed.rows("group_state_intervals", event.group)
        if row["ended_by"] == "converted" and row["group_type"] == "consumer"
    )  # fmt: skip
    assert is_inside(consumer["to_time"], event)
    # The copy is no rebalance, the one that the classic member then joins is.
    (rejoined,) = during(replayed, event)
    assert (rejoined["trigger"], rejoined["group_type"]) == ("protocol_migration", "classic")


def regex_subscription(replayed: Replayed, event: Event) -> None:
    assert_met(replayed, event)
    assert "regex_resolved" in triggers(replayed.rebalances(event.group))
    topics = {row["topic"] for row in replayed.rows("ownership_intervals", event.group)}
    assert topics == set(event["topics"])


def consumer_static_members(replayed: Replayed, event: Event) -> None:
    assert_met(replayed, event)
    members = replayed.rows("membership_intervals", event.group)
    assert {row["group_instance_id"] for row in members} == set(event["group_instance_ids"])
    (replaced,) = (row for row in members if row["leave_kind"] == "static_replaced")
    assert replaced["away_since_time"] < replaced["to_time"]
    held = [row for row in replayed.rows("ownership_intervals", event.group) if row["phase"] == "held"]
    assert replaced["member_id"] in {row["member_id"] for row in held}


def share_rebalances(replayed: Replayed, event: Event) -> None:
    assert_met(replayed, event)


def streams_rebalances(replayed: Replayed, event: Event) -> None:
    assert_met(replayed, event)
    roles = {row["role"] for row in replayed.rows("ownership_intervals", event.group)}
    assert {"active", "standby"} <= roles


def assert_met(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen, PATIENCE_MS)


def connect_rebalances(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        if seen["state"] == "Stable":
            state = replayed.state(event.group, epoch_ms(seen["time"]) * 1000)
            assert state is not None
            assert (state["state"], state["protocol_type"], state["assignor"]) == (
                "Stable", "connect", seen["assignor"],
            )  # fmt: skip
            members = replayed.members(event.group, epoch_ms(seen["time"]) * 1000)
            assert set(members) == {member["member_id"] for member in seen["members"]}
    assert replayed.rows("ownership_intervals", event.group) == []
    assert replayed.offsets(event["sink_group"], END)


def partitions_added(replayed: Replayed, event: Event) -> None:
    for seen in event["observations"]:
        assert_observed(replayed, event.group, seen)
    (rebalance,) = during(replayed, event)
    assert (rebalance["members_joined"], rebalance["members_departed"]) == ([], [])
    assert rebalance["num_partitions"] == event["partitions_after"]
    assert rebalance["trigger"] in ("metadata_changed", "leader_rejoined")


def broker_restart(replayed: Replayed, event: Event) -> None:
    """In each partition whose records lie on both sides of it."""
    rows = sorted(
        replayed.tables["coordinator_epochs"], key=lambda row: (row["offsets_partition"], row["first_offset"])
    )
    result = {partition: list(some) for partition, some in groupby(rows, key=lambda row: int(row["offsets_partition"]))}
    both = {partition: some for partition, some in result.items() if len(some) > 1}
    assert len(both) > 4
    for partition, (before, after) in both.items():
        epochs = event["leader_epochs_before"][str(partition)], event["leader_epochs_after"][str(partition)]
        assert (before["partition_leader_epoch"], after["partition_leader_epoch"]) == epochs
        assert before["last_offset"] + 1 == after["first_offset"]
        assert before["to_time"] <= event.to_ms * 1000 and after["from_time"] >= event.from_ms * 1000


def phase(replayed: Replayed, event: Event) -> None:
    """Between its ends, history is complete in every partition."""
    first = min(row["from_time"] for row in replayed.tables["history_coverage"])
    last = max(row["to_time"] for row in replayed.tables["history_coverage"])
    assert first <= event.to_ms * 1000 and event.from_ms * 1000 <= last


# -- offsets


def simple_consumer(replayed: Replayed, event: Event) -> None:
    state = replayed.state(event.group, event.to_ms * 1000)
    assert state is not None
    assert (state["group_type"], state["state"], state["protocol_type"]) == ("classic", "Empty", None)
    assert_offsets(replayed, event, END, event["offsets_after"])
    rows = replayed.rows("offset_history", event.group)
    for partition in event["offsets_after"][event["topic"]]:
        assert sum(row["num_commits"] for row in rows if row["partition"] == int(partition)) == event["num_commits"]


def assert_offsets(replayed: Replayed, event: Event, at: float, wanted: Mapping[str, Mapping[str, int]]) -> None:
    result: dict[str, dict[str, int]] = {}
    for (topic, partition), (offset, *_) in sorted(replayed.offsets(event.group, at).items()):
        result.setdefault(topic, {})[str(partition)] = offset
    assert result == wanted


def values(replayed: Replayed, event: Event) -> list[Row]:
    """What held of the event's partition, in order."""
    rows = replayed.rows("offset_history", event.group)
    result = [row for row in rows if (row["topic"], row["partition"]) == (event["topic"], event["partition"])]
    return sorted(result, key=lambda row: int(row["from_record_offset"]))


def commit_metadata(replayed: Replayed, event: Event) -> None:
    rows = [(commit["offset"], commit["metadata"]) for commit in event["commits"]]
    assert [(row["committed_offset"], row["metadata"]) for row in values(replayed, event)] == rows


def partition_stalled(replayed: Replayed, event: Event) -> None:
    last = values(replayed, event)[-1]
    assert (last["committed_offset"], last["is_provisional"]) == (event["committed_offset"], True)
    assert last["num_commits"] > 5 and is_inside(last["last_commit_time"], event)


def partition_stopped(replayed: Replayed, event: Event) -> None:
    last = values(replayed, event)[-1]
    assert (last["committed_offset"], last["is_provisional"]) == (event["committed_offset"], True)
    assert last["last_commit_time"] <= event.from_ms * 1000


def transactions(replayed: Replayed, event: Event) -> None:
    reported = event["transactions"]
    producers = {each["producer_id"] for each in reported}
    rows = [row for row in replayed.tables["transactions"] if event.group in row["groups"]]
    result = [(row["producer_id"], row["outcome"]) for row in sorted(rows, key=lambda row: int(row["first_offset"]))]
    assert result == [(each["producer_id"], each["outcome"]) for each in reported]
    committed = [each["offset"] for each in reported if each["outcome"] == "committed"]
    assert [(row["committed_offset"], row["via"]) for row in values(replayed, event)] == [
        (offset, "transaction") for offset in committed
    ]
    assert {row["producer_id"] for row in values(replayed, event)} <= producers


def transaction_open(replayed: Replayed, event: Event) -> None:
    (row,) = (row for row in replayed.tables["transactions"] if event.group in row["groups"])
    assert (row["producer_id"], row["outcome"], row["is_provisional"]) == (
        event["transaction"]["producer_id"], "open", True,
    )  # fmt: skip
    assert_offsets(replayed, event, END, event["offsets_after"])


def admin_reset(replayed: Replayed, event: Event) -> None:
    assert_offsets(replayed, event, event.from_ms * 1000 - 1, event["offsets_before"])
    assert_offsets(replayed, event, event.to_ms * 1000 + 999, event["offsets_after"])
    state = replayed.state(event.group, event.from_ms * 1000)
    assert state is not None and (state["state"], state["num_members"]) == ("Empty", 0)


def ended(replayed: Replayed, event: Event) -> dict[tuple[str, int], str]:
    """How the offsets ended that held when the event began."""
    rows = [row for row in replayed.rows("offset_history", event.group) if is_inside(row["to_time"], event)]
    return {(row["topic"], row["partition"]): row["ended_by"] for row in rows}


def offsets_deleted(replayed: Replayed, event: Event) -> None:
    assert ended(replayed, event) == {(event["topic"], partition): "deleted" for partition in event["partitions"]}
    assert_offsets(replayed, event, event.from_ms * 1000 - 1, event["offsets_before"])
    assert_offsets(replayed, event, event.to_ms * 1000 + 999, event["offsets_after"])


def group_deleted(replayed: Replayed, event: Event) -> None:
    assert set(ended(replayed, event).values()) == {"deleted"}
    assert_offsets(replayed, event, event.from_ms * 1000 - 1, event["offsets_before"])
    assert replayed.state(event.group, event.to_ms * 1000 + 999) is None
    assert replayed.offsets(event.group, END) == {}


def offset_expired(replayed: Replayed, event: Event) -> None:
    (row,) = values(replayed, event)
    assert row["ended_by"] == "expired"
    assert row["last_expire_time"] - row["commit_time"] == event["retention_ms"] * 1000
    assert row["to_time"] >= row["last_expire_time"]
    assert_offsets(replayed, event, END, event["offsets_after"])


def topic_deleted(replayed: Replayed, event: Event) -> None:
    rows = replayed.rows("offset_history", event.group)
    assert {(row["topic_id"], row["ended_by"]) for row in rows} == {(event["topic_id"], "topic_deleted")}
    assert_offsets(replayed, event, event.from_ms * 1000 - 1, event["offsets_before"])
    assert replayed.state(event.group, END) is None


def topic_recreated(replayed: Replayed, event: Event) -> None:
    rows = sorted(replayed.rows("offset_history", event.group), key=lambda row: int(row["from_record_offset"]))
    ids = [event["topic_id_before"], event["topic_id_after"]]
    assert [topic_id for topic_id, _ in groupby(row["topic_id"] for row in rows)] == ids
    assert {row["ended_by"] for row in rows if row["topic_id"] == ids[0]} == {"topic_deleted"}
    assert_offsets(replayed, event, END, event["offsets_after"])
    known = {row["topic_id"] for row in replayed.tables["topics"] if row["topic"] == event["topic"]}
    assert known == set(ids)


def end_state(replayed: Replayed, event: Event) -> None:
    reported = {each["group"]: (each["type"], each["state"]) for each in event["groups"]}
    states = {group: replayed.state(group, END) for group in replayed.groups}
    result = {group: (state["group_type"], state["state"]) for group, state in states.items() if state is not None}
    assert result == reported
    for group, offsets in event["offsets"].items():
        look = {"offsets": [each | {"leader_epoch": none_of(each["leader_epoch"])} for each in offsets]}
        assert shown_offsets(replayed, group, END) == said_offsets(look)


def none_of(leader_epoch: int) -> int | None:
    return None if leader_epoch < 0 else leader_epoch
