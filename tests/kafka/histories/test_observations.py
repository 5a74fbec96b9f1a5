"""What clients, the admin client and kafka-consumer-groups saw while a real broker wrote its log is what the history
tables say of those instants."""

import pytest

from tests.builders.warehouses.replayed_segments import replay_with
from tests.kafka.histories.group_tool import by_group, committed, members, printed_rows
from tests.kafka.observations import Observations, observations_of
from tests.kafka.releases import RELEASES
from tests.oracles.history.agreement import (
    NOT_RECORDED,
    SHOWN,
    SHOWN_BY_3_9,
    disagreements,
    instants,
    replayed_look,
    shown_offsets,
)
from tests.oracles.history.at_instant import Replayed

pytestmark = pytest.mark.broker
REBALANCING = {"CompletingRebalance", "Assigning", "Reconciling", "NotReady"}
# A member learns its assignment with its next heartbeat or poll.
HEARTBEAT_MS = 2_500
Observed = tuple[Observations, Replayed]


@pytest.fixture(scope="module", params=RELEASES)
def observed(request, tmp_path_factory):
    observations = observations_of(RELEASES[request.param])
    topics = {row["topic"]: (row["topic_id"], row["num_partitions"]) for row in observations.of_kind("topic")}
    warehouse = tmp_path_factory.mktemp("observed") / "warehouse"
    return observations, replay_with(topics, warehouse, observations.log_dir)


def shown_by(observations):
    return SHOWN if observations.release.is_modern else SHOWN_BY_3_9


def test_every_answer_of_the_admin_client_is_what_the_tables_say(observed):
    observations, replayed = observed
    looks = observations.of_kind("look")
    result = [text for look in looks for text in disagreements(replayed, look, shown_by(observations))]
    assert result == []


def test_enough_was_asked_and_enough_of_it_inside_rebalances(observed):
    """Where nothing changed meanwhile, the answer can be about one instant alone."""
    observations, replayed = observed
    looks = observations.of_kind("look")
    at_rest = [look for look in looks if len(list(instants(replayed, look))) == 1]
    inside = [look for look in looks if look["state"] in REBALANCING]
    not_recorded = [look for look in looks if look["state"] == NOT_RECORDED]
    # A machine under load asks less often: at rest 60 times and more, in rebalances nine.
    assert len(at_rest) >= 40
    assert len(inside) >= 3 and len(inside) + len(not_recorded) >= 6


def test_rebalances_and_their_causes_are_what_the_program_did(observed):
    observations, replayed = observed
    acts = observations.of_kind("act")
    assert len(acts) >= 11
    for act in acts:
        rebalances = [
            row
            for row in replayed.rebalances(act["group"])
            if act["from_ms"] * 1000 <= row["start_time"] <= act["to_ms"] * 1000 + 999 and not row["is_follow_up"]
        ]
        triggers = [row["trigger"] for row in rebalances]
        # The leader may learn of a topic's partitions only after it joined for it, and joins again.
        is_late = triggers[1:] == ["metadata_changed"] and act["trigger"] == "subscription_changed"
        assert triggers[: 1 if is_late else None] == [act["trigger"]], act
        # The program waited until the broker called the group stable, or empty.
        assert rebalances[0]["end_time"] <= act["to_ms"] * 1000 + 999
        assert_who(replayed, act, rebalances[0])


def assert_who(replayed, act, rebalance):
    """Who came or went is the client that did."""
    clients = {row["member_id"]: row["client_id"] for row in replayed.rows("membership_intervals", act["group"])}
    came = [clients[member] for member in rebalance["members_joined"]]
    went = [clients[member] for member in rebalance["members_departed"]]
    comes = act["trigger"] in ("group_created", "member_joined", "protocol_migration")
    goes = act["trigger"] in ("member_left", "group_emptied")
    assert (came, went) == ([act["client_id"]] * comes, [act["client_id"]] * goes)


def test_what_members_learned_to_own_is_what_the_tables_say(observed):
    observations, replayed = observed
    assignments = [line for line in observations.of_kind("callback") if line["callback"] == "assigned"]
    assert len(assignments) >= 15
    for line in assignments:
        # Of any member: a static one that came back is in none, since it took over without a rebalance. And whoever
        # joins by a pattern alone learns that it owns nothing before there is any assignment.
        held = replayed.rows("generation_members", line["group"])
        assert line["generation"] in {row["generation_or_epoch"] for row in held} or not line["owned"], line
        assert any(owns(replayed, line, at) for at in possible_times(replayed, line)), line


def possible_times(replayed, line):
    first, last = (line["at_ms"] - HEARTBEAT_MS) * 1000, line["at_ms"] * 1000 + 999
    yield first
    yield from (bound for bound in replayed.bounds(line["group"]) if first < bound <= last)


def owns(replayed, line, at):
    result = replayed.owned(line["group"], at, ("assigned",)).get(line["member_id"], {})
    return bool(result == line["owned"])


def test_the_group_tool_prints_what_the_tables_say(observed):
    observations, replayed = observed
    compared = 0
    for line in observations.of_kind("tool"):
        what = line["arguments"][2]
        for group, rows in by_group(printed_rows(line["text"])).items():
            at = list(instants(replayed, {**line, "group": group}))
            theirs = printed(what, rows)
            assert theirs in [ours(replayed, what, group, each, shown_by(observations)) for each in at], (group, what)
            compared += 1
    assert compared >= 12


def printed(what, rows):
    if what == "--offsets":
        return committed(rows)
    if what == "--members":
        return members(rows)
    (row,) = rows
    return row["STATE"], int(row["#MEMBERS"])


def ours(replayed, what, group, at, shown):
    if what == "--offsets":
        return {place: offset for place, (offset, *_) in shown_offsets(replayed, group, at).items()}
    seen = replayed_look(replayed, group, at, shown)
    if what == "--members":
        return {
            member: (client, host, seen["owned"].get(member, {}))
            for member, (client, host, _) in seen.get("members", {}).items()
        }
    return seen["state"], len(seen["members"])
