"""Each rule of the coordinator's sweep, by hand: what of a group may expire, from when the retention counts."""

from typing import Any

import pytest

from schemas.words.lag import ExpiryRule
from tests.builders.tables.history import at, evidence, interval
from tests.builders.tables.partition_histories import partition_history
from udfs.lag.partition_history import BrokerSettings
from udfs.rules.expiry import expiry_rows

DAY = 86_400
KEPT = BrokerSettings(offsets_retention_ms=3 * DAY * 1000, retention_source="snapshot")
NOW = DAY


def offset(topic: str = "orders", partition: int = 0, committed: int = 40, **more: Any) -> dict[str, Any]:
    """Committed twice: 100 s and 500 s after START."""
    times = {"commit_time": at(100), "last_commit_time": at(500), "num_commits": 2, "via": "plain"}
    key = {"group_id": "g", "topic": topic, "partition": partition, "committed_offset": committed}
    return {**interval(100, None, 7), "evidence_last_offset": 12, **key, **times, **more}


def state(name: str | None, group_type: str | None = "classic", protocol_type: str | None = "consumer", **more: Any):  # type: ignore[no-untyped-def]
    about = {"group_id": "g", "state": name, "group_type": group_type, "protocol_type": protocol_type}
    return {**interval(50, None, 20), **about, "num_members": 0 if name == "Empty" else 1, **more}


def member(member_id: str, topics: list[str] | None, assignment: int = 19, change: str = "kept") -> dict[str, Any]:
    return {
        "group_id": "g", "assignment_offset": assignment, "member_id": member_id, "subscribed_topics": topics,
        "change": change,
    }  # fmt: skip


def forecast(**rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [dict(row) for row in expiry_rows(partition_history(rows, NOW, KEPT)).to_pylist()]


def rule_of(**rows: list[dict[str, Any]]) -> tuple[str, Any, Any]:
    (row,) = forecast(**{"offset_history": [offset()], **rows})
    return row["rule"], row["base_time"], row["expires_time"]


AFTER_COMMIT = (at(500), at(500 + 3 * DAY))
NEVER = (ExpiryRule.NEVER, None, None)


def test_an_emptied_group_keeps_its_offsets_for_the_retention_from_when_it_became_empty() -> None:
    since = {"group_id": "g", "record_offset": 20, "current_state_time": at(600.25)}
    rule = rule_of(group_state_intervals=[state("Empty")], classic_group_metadata=[since])
    assert rule == (ExpiryRule.GROUP_EMPTY, at(600.25), at(600.25 + 3 * DAY))
    assert rule_of(group_state_intervals=[state("Empty")]) == (ExpiryRule.GROUP_EMPTY, at(50), at(50 + 3 * DAY))


def test_a_record_too_old_to_say_since_when_the_group_is_empty_leaves_the_commit() -> None:
    since = {"group_id": "g", "record_offset": 20, "current_state_time": None}
    rule = rule_of(group_state_intervals=[state("Empty", protocol_type="connect")], classic_group_metadata=[since])
    assert rule == (ExpiryRule.GROUP_EMPTY_OLD, *AFTER_COMMIT)


@pytest.mark.parametrize("protocol_type", [None, ""])
def test_offsets_of_a_simple_group_expire_after_their_last_commit(protocol_type: str | None) -> None:
    assert rule_of(group_state_intervals=[state("Empty", protocol_type=protocol_type)]) == (
        ExpiryRule.SIMPLE,
        *AFTER_COMMIT,
    )


@pytest.mark.parametrize(
    ("name", "group_type", "protocol_type"),
    [
        ("Stable", "classic", "connect"),
        ("CompletingRebalance", "classic", "consumer"),
        ("PreparingRebalance", "classic", "consumer"),
        ("Empty", "share", None),
        ("Stable", "share", None),
    ],
)
def test_nothing_of_such_a_group_expires(name: str, group_type: str, protocol_type: str | None) -> None:
    rows = {"group_state_intervals": [state(name, group_type, protocol_type)]}
    subscribed = [member("m", ["clicks"])]
    assert rule_of(**rows, generation_members=subscribed) == NEVER
    timed = [offset(last_expire_time=at(700))]
    assert rule_of(**rows, generation_members=subscribed, offset_history=timed) == NEVER


@pytest.mark.parametrize(("group_type", "name"), [("classic", "Stable"), ("consumer", "Stable"),
                                                  ("consumer", "Assigning"), ("consumer", "Reconciling")])  # fmt: skip
def test_of_a_group_with_members_topics_expire_that_none_of_the_newest_assignment_subscribes_to(
    group_type: str, name: str
) -> None:
    rows: dict[str, Any] = {
        "offset_history": [offset("orders"), offset("clicks"), offset("views"), offset("gone", last_expire_time=at(9))],
        "group_state_intervals": [state(name, group_type, "consumer" if group_type == "classic" else None)],
        "generation_members": [
            member("m1", ["views"], assignment=18),
            member("m1", ["orders"]),
            member("m2", ["clicks"]),
            member("m3", None, change="left"),
        ],
    }
    result = {row["topic"]: (row["rule"], row["base_time"], row["expires_time"]) for row in forecast(**rows)}
    assert result == {
        "orders": NEVER,
        "clicks": NEVER,
        "views": (ExpiryRule.NOT_SUBSCRIBED, *AFTER_COMMIT),
        "gone": (ExpiryRule.OWN_TIME, at(500), at(9)),
    }
    rows["generation_members"] += [member("m4", None), member("m5", ["orders"])]
    assert {row["rule"] for row in forecast(**rows)} == {ExpiryRule.UNKNOWN}
    del rows["generation_members"]
    assert {row["rule"] for row in forecast(**rows)} == {ExpiryRule.UNKNOWN}


def test_what_came_after_the_time_says_nothing_of_the_time() -> None:
    """The group's states after the time are known too: its newest record up to then is that of its state, 20."""
    later = {**state("Stable"), **interval(NOW + 1, None, 40)}
    rows = {"group_state_intervals": [{**state("Stable"), "to_time": at(NOW + 1), "to_record_offset": 40}, later]}
    assert rule_of(**rows, generation_members=[member("m", ["orders"]), member("m", ["clicks"], 39)]) == NEVER
    assert rule_of(**rows, generation_members=[member("m", ["clicks"]), member("m", ["orders"], 39)]) == (
        ExpiryRule.NOT_SUBSCRIBED,
        *AFTER_COMMIT,
    )
    topology = {"group_id": "g", "record_offset": 39, "subtopologies": [{"source_topics": ["orders"]}]}
    rows["group_state_intervals"][0] |= {"group_type": "streams", "protocol_type": None}
    assert rule_of(**rows, streams_group_topologies=[topology])[0] == ExpiryRule.UNKNOWN


def test_an_empty_consumer_group_subscribes_to_nothing() -> None:
    rows = {
        "group_state_intervals": [state("Empty", "consumer", None)],
        "generation_members": [member("m", ["orders"])],
    }
    assert rule_of(**rows) == (ExpiryRule.NOT_SUBSCRIBED, *AFTER_COMMIT)


@pytest.mark.parametrize(
    ("name", "part", "rule"),
    [
        ("Stable", {"source_topics": ["orders"]}, ExpiryRule.NEVER),
        ("Stable", {"repartition_source_topics": [{"name": "orders"}]}, ExpiryRule.NEVER),
        ("Stable", {"source_topics": ["clicks"]}, ExpiryRule.NOT_SUBSCRIBED),
        ("Stable", {"source_topic_regex": [".*"]}, ExpiryRule.UNKNOWN),
        ("NotReady", {"source_topics": ["orders"]}, ExpiryRule.NOT_SUBSCRIBED),
        ("Empty", {"source_topics": ["orders"]}, ExpiryRule.NOT_SUBSCRIBED),
        ("Stable", None, ExpiryRule.UNKNOWN),
    ],
)
def test_a_streams_group_keeps_the_sources_of_its_newest_topology(
    name: str, part: dict[str, Any] | None, rule: ExpiryRule
) -> None:
    topologies = [
        {"group_id": "g", "record_offset": 5, "subtopologies": [{"source_topics": ["elsewhere"]}]},
        {"group_id": "g", "record_offset": 6, "subtopologies": [part]},
    ]
    rows = {"streams_group_topologies": topologies if part else []}
    (row,) = forecast(offset_history=[offset()], group_state_intervals=[state(name, "streams", None)], **rows)
    assert (row["rule"], row["confidence"]) == (rule, "possible" if name == "Empty" else "certain")


def test_a_commit_that_named_its_time_expires_then() -> None:
    rule = rule_of(
        offset_history=[offset(last_expire_time=at(700))], group_state_intervals=[state("Empty", protocol_type=None)]
    )
    assert rule == (ExpiryRule.OWN_TIME, at(500), at(700))


def test_without_the_state_of_the_group_nothing_is_claimed() -> None:
    for states in ([], [state(None, None, None)], [{**state("Empty"), "to_time": at(60), "to_record_offset": 21}]):
        (row,) = forecast(offset_history=[offset()], group_state_intervals=states)
        assert (row["rule"], row["group_type"], row["expires_time"]) == (ExpiryRule.UNKNOWN, None, None)
        assert row["confidence"] == "possible"


def test_only_offsets_that_hold_at_the_time_have_a_row() -> None:
    ended = {**offset(partition=1), "to_time": at(NOW), "to_record_offset": 30}
    later = {**offset(partition=2), "from_time": at(NOW + 1)}
    still = {**offset(partition=3), "to_time": at(NOW + 1), "to_record_offset": 30}
    again = {**offset(partition=4), "last_commit_time": at(NOW + 5)}
    rows = forecast(
        offset_history=[ended, later, still, again], group_state_intervals=[state("Empty", protocol_type="")]
    )
    assert [(row["partition"], row["base_time"], row["confidence"]) for row in rows] == [
        (3, at(500), "certain"),
        # When it was committed up to then is not in the row.
        (4, at(NOW), "likely"),
    ]


@pytest.mark.parametrize(
    ("committed", "start", "end", "at_risk"),
    [(40, 10, 100, 60), (90, 10, 100, 80), (5, 10, 100, 90), (120, 10, 100, 90), (40, None, 100, None)],
)
def test_at_risk_is_the_larger_of_what_would_be_read_again_or_skipped(
    committed: int, start: int | None, end: int, at_risk: int | None
) -> None:
    def snapshot(seconds: float, start: int | None, end: int | None, topic_id: str | None = None) -> dict[str, Any]:
        ends = {"log_start_offset": start, "log_end_offset": end, "topic_id": topic_id}
        return {"captured_time": at(seconds), "topic": "orders", "partition": 0, **ends}

    rows: dict[str, Any] = {
        "offset_history": [offset(committed=committed, topic_id="id-1"), offset("unseen")],
        "topic_snapshots": [snapshot(50, 0, 1), snapshot(600, start, end), snapshot(NOW + 1, 0, 999_999)],
    }
    assert [row["messages_at_risk"] for row in forecast(**rows)] == [at_risk, None]
    rows["topic_snapshots"].append(snapshot(700, 0, 10, "id-2"))
    assert [row["messages_at_risk"] for row in forecast(**rows)] == [None, None]


@pytest.mark.parametrize(("first_id", "at_risk"), [("id-2", 60), ("id-1", None)])
def test_nothing_is_known_to_be_at_risk_of_an_offset_from_before_the_topic_was_made_anew(
    first_id: str, at_risk: int | None
) -> None:
    """The commit, of 100 s, names no id."""
    ends = {"topic": "orders", "partition": 0, "log_start_offset": 0, "log_end_offset": 100}
    named = ((50, first_id), (600, "id-2"))
    snapshots = [{"captured_time": at(second), "topic_id": topic_id, **ends} for second, topic_id in named]
    (row,) = forecast(offset_history=[offset()], topic_snapshots=snapshots)
    assert row["messages_at_risk"] == at_risk


def transaction(producer: int, first: int, end: float | None = None) -> dict[str, Any]:
    outcome = {"outcome": "open" if end is None else "committed", "end_time": None if end is None else at(end)}
    return {"producer_id": producer, "first_offset": first, "first_time": at(200), "groups": ["g"], **outcome}


def pending(record: int, partition: int, producer: int | None, **more: Any) -> dict[str, Any]:
    key = {"group_id": "g", "topic": "orders", "partition": partition, "record_offset": record, "record_time": at(300)}
    return {**key, "producer_id": producer, "is_transactional": producer is not None, **more}


def test_a_pending_commit_of_an_open_transaction_blocks_its_own_key_alone() -> None:
    commits = [
        pending(10, 0, None),
        pending(11, 1, 77),
        pending(25, 6, 79),
        pending(30, 2, 77),
        pending(31, 3, 77),
        pending(32, 3, None, is_tombstone=True),
        pending(33, 4, 78),
        pending(34, 5, 79),
        pending(35, 6, 77, record_time=at(NOW + 1)),
    ]
    rows = forecast(
        offset_history=[offset(partition=each) for each in range(7)],
        group_state_intervals=[state("Empty", protocol_type="")],
        transactions=[transaction(77, 20), transaction(78, 33, end=400), transaction(79, 34, end=NOW + 1)],
        offset_commits=commits,
    )
    assert [row["partition"] for row in rows if row["blocked_by_transaction"]] == [2, 5]
    assert {row["confidence"] for row in rows} == {"certain"}


def test_a_transaction_older_than_the_commits_at_hand_may_block_any_offset_of_its_groups() -> None:
    rows = forecast(
        offset_history=[offset(partition=0), {**offset(partition=1), "group_id": "h"}],
        group_state_intervals=[state("Empty"), {**state("Empty"), "group_id": "h"}],
        transactions=[transaction(77, 9)],
        offset_commits=[pending(10, 0, None)],
    )
    assert [(row["group_id"], row["blocked_by_transaction"], row["confidence"]) for row in rows] == [
        ("g", True, "possible"),
        ("h", False, "certain"),
    ]


def test_a_row_names_the_records_and_the_setting_that_it_rests_on() -> None:
    (row,) = forecast(offset_history=[offset(topic_id="id-1")], group_state_intervals=[state("Empty")])
    assert (row["settings_source"], row["topic_id"], row["committed_offset"], row["group_type"], row["as_of_time"]) == (
        "snapshot", "id-1", 40, "classic", at(NOW),
    )  # fmt: skip
    places = {"evidence_first_offset": 7, "evidence_last_offset": 20}
    assert {name: row[name] for name in evidence(0, 0)} == {**evidence(0, 0), **places}
    (row,) = forecast(offset_history=[offset()], group_state_intervals=[state("Stable", "share", None)])
    assert row["settings_source"] is None


def test_what_happens_at_the_very_time_has_happened() -> None:
    """A group that becomes empty, transactions that begin and end, a commit that is the last one."""
    begins = transaction(80, 40) | {"first_time": at(NOW)}
    rows = forecast(
        offset_history=[offset(partition=0), offset(partition=1), offset(partition=2, last_commit_time=at(NOW))],
        group_state_intervals=[state("Empty", protocol_type="") | {"from_time": at(NOW)}],
        transactions=[begins, transaction(81, 41, end=NOW)],
        offset_commits=[pending(40, 0, 80, record_time=at(NOW)), pending(41, 1, 81)],
    )
    assert [(row["rule"], row["blocked_by_transaction"], row["confidence"]) for row in rows] == [
        (ExpiryRule.SIMPLE, True, "certain"),
        (ExpiryRule.SIMPLE, False, "certain"),
        (ExpiryRule.SIMPLE, False, "certain"),
    ]


def test_what_has_no_time_has_happened() -> None:
    """Records without a time: an open transaction began and its commit was written, one that ended is over, and so is
    an offset that was removed; a state that ended is not that of the time."""
    removed = {**offset(partition=4), "to_time": None, "to_record_offset": 30}
    was_stable = {**state("Stable"), "to_time": None, "to_record_offset": 40}
    rows = forecast(
        offset_history=[offset(partition=0), offset(partition=1), {**offset(partition=2), "from_time": None}, removed],
        group_state_intervals=[was_stable, state("Empty", protocol_type="") | {"from_record_offset": 10}],
        transactions=[
            transaction(80, 40) | {"first_time": None},
            transaction(81, 41, end=400) | {"end_time": None},
        ],
        offset_commits=[pending(40, 0, 80, record_time=None), pending(41, 1, 81)],
    )
    assert [(row["partition"], row["rule"], row["blocked_by_transaction"]) for row in rows] == [
        (0, ExpiryRule.SIMPLE, True),
        (1, ExpiryRule.SIMPLE, False),
        (2, ExpiryRule.SIMPLE, False),
    ]


def test_a_transaction_that_begins_with_the_first_commit_at_hand_is_known_whole() -> None:
    rows = forecast(
        offset_history=[offset(partition=0), offset(partition=1)],
        group_state_intervals=[state("Empty", protocol_type="")],
        transactions=[transaction(77, 10)],
        offset_commits=[pending(10, 0, 77)],
    )
    assert [(row["blocked_by_transaction"], row["confidence"]) for row in rows] == [
        (True, "certain"),
        (False, "certain"),
    ]
