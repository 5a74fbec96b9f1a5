"""Each known defect by a record that bears its signature, and by one beside it that does not."""

from typing import Any, Final

import pytest

from tests.builders.groups.classic_audit_rows import LATER, audited, facts, member, only, sticky_data, synced
from tests.builders.groups.classic_log import value
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.audit.classic_defects import GENERATION_DEFECTS

Row = dict[str, Any]
COOPERATIVE: Final = "cooperative-sticky"
OLD: Final[Row] = {"version": 1, "generation": None}
SLOW: Final[Row] = {"state": 0}


def defect(members: list[Row], protocol: str, known: Any, *before: Row, **more: Any) -> str | None:
    at = 1 + len(before)
    more = {"leader": members[0]["member_id"]} | more
    return only([*before, value(at, 40_000, 6, members, protocol=protocol, **more)], known).known_defect


def test_a_static_member_whose_new_id_the_leader_did_not_know() -> None:
    def omitted(instance: str | None) -> str | None:
        members = [member("c1", "a0 a1 a2", topics="a"), member("c2", "-", topics="a", instance=instance)]
        return defect(members, "range", facts({"a": 3}))

    assert omitted("i") == "KAFKA-9801"
    assert omitted(None) is None


def test_claims_without_a_generation_that_share_a_partition() -> None:
    def shared(generation: int | None) -> str | None:
        members = [
            member("c1", "a0 a1", topics="a", user_data=sticky_data("a0 a1", generation)),
            member("c2", "a1 a2", topics="a", user_data=sticky_data("a1 a2", 5)),
        ]
        return defect(members, "sticky", facts({"a": 3}))

    assert shared(None) == "KAFKA-7026"
    assert shared(5) is None


def test_a_claim_without_a_generation_that_takes_back_what_another_has_by_now() -> None:
    before = value(1, 1, 5, [member("c1", "a0", topics="a"), member("c2", "a1", topics="a")], protocol="sticky")
    # c1 was away since it had both.
    back = member("c1", "a1", topics="a", user_data=sticky_data("a0 a1"))
    other = member("c2", "a0", topics="a", user_data=sticky_data("a1", 5))
    assert defect([back, other], "sticky", facts({"a": 2}), before) == "KAFKA-7026"


def test_a_leader_that_trusts_its_memory_and_not_what_members_say() -> None:
    def given(first: str, second: str, said: tuple[str, str] = ("a3 a4 a5", "a0 a1 a2")) -> str | None:
        had = [member("c1", "a0 a1 a2", topics="a"), member("c2", "a3 a4 a5", topics="a")]
        members = [
            member("c1", first, topics="a", user_data=sticky_data(said[0], 5)),
            member("c2", second, topics="a", user_data=sticky_data(said[1], 5)),
        ]
        return defect(members, "sticky", facts({"a": 6}), value(1, 1, 5, had, protocol="sticky"))

    assert given("a0 a1 a2", "a3 a4 a5") == "KAFKA-5277"
    assert given("a3 a4 a5", "a0 a1 a2") is None
    # Of one partition, it may be chance.
    assert given("a0 a1 a2", "a3 a4 a5", ("a0 a1", "a2 a3 a4 a5")) is None
    assert given("a0 a1 a2", "a3 a4 a5", ("a0", "a1 a2 a3 a4 a5")) == "KAFKA-5277"


def test_a_partition_given_away_before_its_owner_let_go() -> None:
    def given(to_third: str, rack: str | None = None) -> str | None:
        claims: Row = {"generation": 5, "topics": "a", "rack": rack}
        members = [
            member("c1", "a0 a1", "a0 a1 a2", user_data=synced(5), **claims),
            member("c2", "a3 a4", "a3 a4", user_data=synced(5), **claims),
            member("c3", to_third, topics="a", user_data=synced(-1), rack=rack),
        ]
        return defect(members, COOPERATIVE, facts({"a": 5}))

    assert given("a2") == "KAFKA-14639"
    assert given("a2", "r1") == "KAFKA-15170"
    assert given("") is None


def test_the_older_of_two_claims_wins() -> None:
    def won(first: str, second: str) -> str | None:
        members = [
            member("c1", first, "a0 a1", topics="a", user_data=synced(3), **OLD),
            member("c2", second, "a1", topics="a", user_data=synced(5), **OLD),
        ]
        return defect(members, COOPERATIVE, facts({"a": 2}))

    assert won("a1", "") == "KAFKA-13715"
    assert won("a0", "a1") is None


def test_two_claims_of_one_generation_that_leave_sizes_uneven() -> None:
    def sizes(first: str, second: str) -> str | None:
        members = [
            member("c1", first, "a0 a1", topics="a", user_data=synced(5), **OLD),
            member("c2", second, "a1", topics="a", user_data=synced(5), **OLD),
        ]
        return defect(members, COOPERATIVE, facts({"a": 4}))

    assert sizes("a0 a2 a3", "") == "KAFKA-12984"
    # As 2.8.1 and later do it: what two claim waits.
    assert sizes("a0 a2", "a3") is None


def test_members_that_forgot_their_generation_together() -> None:
    had = [member(f"c{i}", f"a{i}", topics="a", **OLD) for i in range(4)]
    before = value(1, 1, 5, had, protocol=COOPERATIVE)

    def reset(generation: int) -> str | None:
        members = [
            member(
                f"c{i}",
                f"a{i}",
                "" if i < 2 else f"a{i}",
                topics="a",
                user_data=synced(generation if i < 2 else 5),
                **OLD,
            )
            for i in range(4)
        ]
        return defect(members, COOPERATIVE, facts({"a": 4}), before)

    assert reset(-1) == "KAFKA-13891"
    assert reset(5) is None


@pytest.mark.parametrize(("protocol", "issue"), [("range", "KAFKA-8355"), ("roundrobin", "KAFKA-8356")])
def test_static_members_in_the_order_of_their_changing_ids(protocol: str, issue: str) -> None:
    def ordered(first: str, second: str) -> str | None:
        members = [member("c1", first, topics="a", instance="z"), member("c2", second, topics="a", instance="y")]
        return defect(members, protocol, facts({"a": 3}))

    lists = {"range": ("a0 a1", "a2"), "roundrobin": ("a0 a2", "a1")}[protocol]
    assert ordered(*lists) == issue
    assert ordered(*reversed(lists)) is None


def test_a_static_leader_that_did_not_notice_that_a_topic_grew() -> None:
    def grown(instance: str | None) -> str | None:
        members = [member("c1", "a0 a1", topics="a", instance=instance), member("c2", "a2", topics="a")]
        return defect(members, "range", facts({"a": 5}))

    assert grown("i") == "KAFKA-13435"
    assert grown(None) is None


def test_racks_that_break_copartitioning() -> None:
    racks: Row = {"a": [["r1"], ["r2"]], "b": [["r2"], ["r1"]]}

    def given(first: str, second: str) -> str | None:
        members = [member("c1", first, rack="r1"), member("c2", second, rack="r2")]
        return defect(members, "range", facts({"a": 2, "b": 2}, **racks))

    assert given("a0 b1", "a1 b0") == "KAFKA-14891"
    assert given("a0 b0", "a1 b1") is None


def test_whole_topics_kept_by_old_members() -> None:
    def kept(first: str, second: str) -> str | None:
        members = [
            member("c1", first, user_data=sticky_data("a0 a1 a2 b0 b1 b2", 5), generation=5),
            member("c2", second),
        ]
        return defect(members, "sticky", facts({"a": 3, "b": 3}))

    assert kept("a0 a1 a2", "b0 b1 b2") == "KAFKA-16277"
    assert kept("a0 b0 a1", "a2 b1 b2") is None


def test_more_moved_than_needed_before_3_0() -> None:
    claims = {"c1": "", "c2": "b1 a0 a1", "c3": "b2", "c4": "b3"}

    def given(**lists: str) -> str | None:
        members = [member(each, lists[each], claims[each], user_data=synced(5), **OLD) for each in claims]
        return defect(members, COOPERATIVE, facts({"a": 2, "b": 4}))

    # What 2.8.2's own class gives.
    assert given(c1="", c2="a0 b1", c3="b2 b0", c4="b3") == "KAFKA-12464"


def test_unsorted_claims_whose_order_counts() -> None:
    def claimed(owned: str) -> str | None:
        members = [
            member("c1", "a1 a0", owned, topics="a", user_data=synced(4), **OLD),
            member("c2", "a2 a3", "a2 a3", topics="a", user_data=synced(5), **OLD),
        ]
        return defect(members, COOPERATIVE, facts({"a": 4}))

    assert claimed("a1 a0") == "KAFKA-12898"
    assert claimed("a0 a1") is None


def large_group(topics_of_last: str, count: int = 320, **version: Any) -> list[Row]:
    """Each member has one partition, the last ones subscribe to other topics perhaps."""
    return [
        member(f"c{at:03}", f"a{at}", topics="ab" if at < count - 9 else topics_of_last, **version)
        for at in range(count)
    ]


@pytest.mark.parametrize(
    ("members", "more", "issue"),
    [
        (large_group("ab", **OLD), SLOW, "KAFKA-9987"),
        (large_group("a", **OLD), SLOW, "KAFKA-12675"),
        (large_group("ab", **OLD), {}, None),
        # Today's leaders are fast, and small groups were so always; something else was slow.
        (large_group("ab"), SLOW, None),
        (large_group("a"), SLOW, None),
        (large_group("ab", 20, **OLD), SLOW, None),
    ],
)
def test_a_leader_that_took_long(members: list[Row], more: Row, issue: str | None) -> None:
    assert defect(members, "sticky", facts({"a": 320, "b": 0}), **more) == issue


def test_a_balance_that_was_too_strict_and_took_long() -> None:
    def listed(first: str, others: int = 320, **more: Any) -> str | None:
        members = [
            member("c000", first, user_data=sticky_data("b0", 5), **OLD),
            *(member(f"c{at:03}", f"a{at - 1}", topics="a", **OLD) for at in range(1, others)),
        ]
        return defect(members, "sticky", facts({"a": others, "b": 1}), **more)

    # From 3.0 on a leader writes its lists as they are; before, by a map of topics.
    assert listed("b0 a319", **SLOW) == "KAFKA-15106"
    assert listed("a319 b0", **SLOW) == "KAFKA-12675"
    assert listed("b0 a319") is None
    assert listed("b0 a1", 2, **SLOW) is None


def test_two_rebalances_for_nothing_where_members_name_their_racks() -> None:
    def again(rack: str | None, seconds: int) -> str | None:
        members = [member("c1", "a0", topics="a", rack=rack), member("c2", "a1", topics="a", rack=rack)]
        racks: Row = {"a": [["r1"], ["r1"]]}
        log = [value(n, n * seconds * 1000, n, members, leader="c1") for n in (1, 2, 3)]
        known_defects = [each.known_defect for each in audited(log, facts({"a": 2}, **racks))]
        assert known_defects[:2] == [None, None]
        return known_defects[2]

    assert again("r1", 30) == "KAFKA-20778"
    assert again(None, 30) is None
    assert again("r1", 3_000) is None


def test_a_partition_given_back_to_a_member_that_no_longer_subscribes() -> None:
    members = [
        member("c1", "a0 b0", "a0 b0", topics="a", generation=4, user_data=synced(4)),
        member("c2", "b1", "b1", topics="b", generation=5, user_data=synced(5)),
    ]
    result = defect(members, COOPERATIVE, facts({"a": 1, "b": 2}))
    assert result == "sticky: given back to a member that no longer subscribes"


def test_claims_beyond_the_partitions_of_a_topic_made_anew() -> None:
    def kept(first: str) -> str | None:
        members = [
            member("c1", first, "a0 a5", topics="a", generation=5, user_data=synced(5)),
            member("c2", "a1", "a1", topics="a", generation=5, user_data=synced(5)),
        ]
        times = ((Topic("a", 6, "A" * 21 + "Q"), -2, -1), (Topic("a", 2, "A" * 21 + "g"), 0, LATER))
        return defect(members, COOPERATIVE, Facts({"a": [KnownTopic(*each) for each in times]}))

    assert kept("a0 a5") == "sticky: claims beyond the topic's partitions"
    assert kept("a0") is None


def test_an_error_of_kafka_python() -> None:
    none: Row = {"version": 0, "generation": None}
    left_out = [
        member("c1", "a0 a1", topics="a", **none),
        member("c2", "", topics="a", instance="i", **none),
        member("c3", "a2", topics="a", **none),
    ]
    assert defect(left_out, "range", facts({"a": 3})) == "kafka-python: range leaves members out"


def test_every_issue_is_named_once() -> None:
    assert len(GENERATION_DEFECTS) == len({each.name for each in GENERATION_DEFECTS}) == 22
