"""What stands between a classic group and the consumer protocol."""

import json
from typing import Any

import pytest

from tests.builders.groups.classic_log import member
from tests.builders.groups.stored_states import restored, texts_of
from tests.builders.groups.upgrade_log import Log, classic, epoch, gone, native, upgrades_of, value
from udfs.audit.checks.facts import Facts
from udfs.audit.upgrades import ClassicMemberSummary, ClassicValueSummary, State, Upgrade
from udfs.groups.readers.client_libraries import ANY_LIBRARY

KEY = ("g", "classic_to_consumer")


def row_of(members: list[dict[str, Any]], facts: Facts | None = None, **of_value: Any) -> Upgrade:
    log = Log()
    log.write(0, value(1, members, **of_value))
    result = upgrades_of(log, facts)[KEY]
    assert result.phase == "not_started"
    assert [who.member_id for who in result.members_remaining] == [each["member_id"] for each in members]
    return result


def assigned_by_another_library(members: list[dict[str, Any]], user_data: bytes | None) -> list[dict[str, Any]]:
    """Leaders of Java write the version of their subscriptions."""
    for each in members:
        each["assignment"] |= {"version": 0, "user_data": user_data}
    return members


def readiness_of(row: Upgrade) -> tuple[str, list[tuple[str, str | None]]]:
    return row.readiness, [(blocker.kind, blocker.member_id) for blocker in row.blockers]


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_members_of_a_newer_client_with_an_assignor_of_kafka_are_ready(assignor: str) -> None:
    members = [member("a", "t0"), member("b", "t1", instance="static")]
    members[0]["subscription"]["user_data"] = b"\0\0\0\1"
    row = row_of(members, protocol=assignor)
    # No record shows which client a member runs.
    assert (readiness_of(row), row.confidence) == (("ready", []), "likely")


@pytest.mark.parametrize(
    ("protocol_type", "assignor", "kind"),
    [
        ("connect", "compatible", "other_protocol_type"),
        ("sr", "v0", "other_protocol_type"),
        ("house", "h", "other_protocol_type"),
        ("consumer", "stream", "streams"),
        ("consumer", "house-rules", "custom_assignor"),
    ],
)
def test_what_the_group_runs_may_stand_against_it(protocol_type: str, assignor: str, kind: str) -> None:
    row = row_of([member("a", "t0")], protocol=assignor, protocol_type=protocol_type)
    assert readiness_of(row) == ("blocked", [(kind, None)])


def test_workers_of_connect_are_not_asked_for_their_subscriptions() -> None:
    row = row_of([member("a", is_read=False)], protocol="sessioned", protocol_type="connect")
    assert [blocker.kind for blocker in row.blockers] == ["other_protocol_type"]


def test_assignments_with_user_data_are_refused_by_the_coordinator() -> None:
    members = [member("a", "t0"), member("b", "t1")]
    members[1]["assignment"]["user_data"] = b"\1"
    assert readiness_of(row_of(members)) == ("blocked", [("assigned_user_data", "b")])
    # Of no bytes it is none.
    members[1]["assignment"]["user_data"] = b""
    assert readiness_of(row_of(members)) == ("ready", [])


@pytest.mark.parametrize(("version", "since"), [(0, "before 2.4"), (1, "from 2.4 to 3.3")])
def test_clients_too_old_for_it_are_recognized_by_their_subscriptions(version: int, since: str) -> None:
    row = row_of([member("a", "t0", version=version), member("b", "t1")])
    assert readiness_of(row) == ("blocked", [("old_client", "a")])
    assert since in row.blockers[0].detail


@pytest.mark.parametrize(
    ("client_id", "version", "user_data"),
    [("sarama", 1, None), ("kafka-python-2.0.2", 0, b""), ("aiokafka-0.11", 0, b"")],
)
def test_libraries_without_it_are_recognized_by_the_names_they_give_themselves(
    client_id: str, version: int, user_data: bytes | None
) -> None:
    foreign = {**member("a", "t0", version=version), "client_id": client_id}
    foreign["subscription"]["user_data"] = user_data
    row = row_of(assigned_by_another_library([foreign], user_data))
    assert readiness_of(row) == ("blocked", [("client_library", "a")])
    # An application may choose any client id: this subscription excludes all of these libraries.
    assert readiness_of(row_of([{**member("a", "t0"), "client_id": client_id}])) == ("ready", [])


def test_a_library_without_it_is_recognized_by_what_it_alone_writes() -> None:
    """Sarama: version 2. kafka-python: a version number in the user data of sticky."""
    blocked = "blocked", [("client_library", "a")]
    assert readiness_of(row_of(assigned_by_another_library([member("a", "t0", version=2)], None))) == blocked
    members = [member("a", "t0", version=0), member("b", "t1")]
    members[0]["subscription"]["user_data"] = b"\0\1\0\0\0\0\0\0\0\7"
    row = row_of(assigned_by_another_library(members, b""), protocol="sticky")
    assert readiness_of(row) == blocked


def test_user_data_of_no_bytes_is_of_an_old_client_or_such_a_library() -> None:
    members = [member("a", "t0", version=0), member("b", "t1")]
    members[0]["subscription"]["user_data"] = b""
    row = row_of(members)
    assert readiness_of(row) == ("blocked", [("old_client", "a")])
    assert "kafka-python" in row.blockers[0].detail


def test_a_subscription_that_cannot_be_read_leaves_it_open() -> None:
    assert readiness_of(row_of([member("a", is_read=False)])) == ("unknown", [("unreadable_subscription", "a")])


@pytest.mark.parametrize(
    ("policy", "readiness"),
    [
        (None, "ready"),
        ("bidirectional", "ready"),
        ("upgrade", "ready"),
        ("downgrade", "blocked"),
        ("disabled", "blocked"),
    ],
)
def test_a_broker_may_forbid_it(policy: str | None, readiness: str) -> None:
    row = row_of([member("a", "t0")], Facts(migration_policy=policy))
    assert readiness_of(row) == (readiness, [("migration_policy", None)] * (readiness == "blocked"))


def test_every_blocker_is_reported() -> None:
    members = [member("a", "t0", version=1), {**member("b", "t1", version=1), "client_id": "sarama"}]
    members[0]["assignment"]["user_data"] = b"\1"
    row = row_of(members, Facts(migration_policy="disabled"), protocol="house-rules")
    assert [blocker.kind for blocker in row.blockers] == [
        *("custom_assignor", "migration_policy", "assigned_user_data", "old_client", "client_library")
    ]


def test_members_that_are_left_in_a_converted_group_are_asked_too() -> None:
    log = Log()
    log.write(0, value(5, [member("a", "t0"), member("b", "t1")]))
    log.write(1, gone(), classic("a", 1, 1), classic("b", 1, 3), epoch(5), native("n", client_id="sarama"), epoch(6))
    assert readiness_of(upgrades_of(log)[KEY]) == ("blocked", [("old_client", "a")])


@pytest.mark.parametrize("metadata", [b"", b"\0", None, b"\xff\xff"])
def test_a_subscription_without_a_version_says_nothing_of_its_client(metadata: bytes | None) -> None:
    offered = {"session_timeout_ms": 1, "supported_protocols": [{"name": "range", "metadata": metadata}]}
    log = Log()
    log.write(0, value(5, [member("a", "t0")]))
    log.write(1, gone(), native("a", classic_member=offered), epoch(5), native("n"), epoch(6))
    row = upgrades_of(log)[KEY]
    assert readiness_of(row) == ("ready", [])
    assert [who.member_id for who in row.members_remaining] == ["a"]


def test_a_state_of_an_older_release_says_nothing_of_libraries() -> None:
    """It has a flag in their place: of user data of no bytes."""
    (text,) = texts_of(
        "upgrades", {"g": State(classic=ClassicValueSummary("consumer", 1, "range", (summary(5),)))}
    ).values()
    assert libraries(text) == 5
    older = json.loads(text)
    del older["format"]
    older["upgrades"]["classic"][3] = [list(summary(True))]
    assert libraries(json.dumps(older)) == int(ANY_LIBRARY)


def libraries(text: str) -> int:
    return int(restored("upgrades", {"g": text})["g"].classic.members[0].libraries)


def summary(libraries: int) -> ClassicMemberSummary:
    return ClassicMemberSummary("a", None, "c", "/h", 3, 1, False, libraries, True, False)
