"""What `trigger_detail` and the assignors of a rebalance say, for one run and for several."""

from typing import Any

import pytest

from tests.builders.groups.classic_log import Row, created, member, value
from tests.builders.groups.classic_log import replayed as replayed_classic
from tests.builders.groups.modern_log import (
    Log,
    about,
    completed,
    epoch,
    history,
    leaves,
    owns,
    pattern,
    target,
    topics_counted,
    waits,
)
from udfs.groups.history.change_details import Change, departure_change, detail, join_change, member_name
from udfs.groups.readers.modern_values import GroupEpoch

TWO = (member("a", "t0 t1"), member("b", "t2"))
NAMES = ("trigger", "trigger_detail")


def of_classic(*values: Row) -> tuple[str, str | None]:
    """Of the last rebalance."""
    log = [created(0, 0), value(1, 3100, 1, TWO, state=3000), *values]
    result: tuple[str, str | None] = replayed_classic(log).of("rebalances", *NAMES)[-1]
    return result


def of_modern(log: Log, *names: str, **more: Any) -> list[Any]:
    """In one run, and in two wherever they are cut."""
    whole = history(log, **more).select("rebalances", *names)
    for cut in range(1, len(log.records)):
        if log.records[cut].batch == log.records[cut - 1].batch:
            # A run that ends inside of an operation is made again from the beginning.
            continue
        assert history(log, cut=cut, **more).select("rebalances", *names) == whole, cut
    return whole


# -- words


def test_of_many_names_the_first_are_listed_and_the_rest_counted() -> None:
    text = detail("member_joined", [join_change(f"m-{number}") for number in range(100)])
    assert text == "members m-0, m-1, m-2 and 97 more joined"
    assert detail("member_joined", [join_change("m-1"), join_change("m-1")]) == "member m-1 joined"
    assert detail("unknown", []) is None


def test_what_set_it_off_comes_first() -> None:
    changes = [
        join_change("m"),
        departure_change("n", "session_timeout_likely"),
        Change("assignor_changed", "", "range → sticky"),
    ]
    assert detail("assignor_changed", changes) == "range → sticky; member m joined; member n timed out"


def test_a_name_says_where_the_member_runs_and_nothing_twice() -> None:
    assert member_name("m-3", None, "/10.0.0.7") == "m-3 (10.0.0.7)"
    assert member_name("billing-1-0001", "billing-1", "/10.0.0.7") == "billing-1-0001 (10.0.0.7)"
    assert member_name("Zc9SPB", "billing-1", "/10.0.0.7", "blue") == "Zc9SPB (instance blue, billing-1, 10.0.0.7)"
    assert member_name("m", None, None) == "m"


# -- classic groups


@pytest.mark.parametrize(
    ("after", "protocol", "expected"),
    [
        ((*TWO, member("c")), "range", ("member_joined", "member c (10.0.0.1) joined")),
        ((member("a", "t0 t1 t2"),), "range", ("member_left", "member b (10.0.0.1) left or timed out")),
        (
            (member("a", "t0 t1"), member("c", "t2")),
            "range",
            ("member_joined", "member c (10.0.0.1) joined; member b (10.0.0.1) left or timed out"),
        ),
        (TWO, "sticky", ("assignor_changed", "range → sticky")),
        (
            (member("a", "t0 t1 u0", topics="tu"), TWO[1]),
            "range",
            ("subscription_changed", "member a (10.0.0.1) subscribes to u too"),
        ),
        (
            (member("a", "t0 t1 t3 t4"), TWO[1]),
            "range",
            ("metadata_changed", "t 3 → 5 partitions assigned"),
        ),
        ((member("a"), member("b")), "range", ("metadata_changed", "topic t deleted")),
        (TWO, "range", ("leader_rejoined", "members, subscriptions and assignor did not change")),
        ((), "range", ("group_emptied", "members a (10.0.0.1), b (10.0.0.1) left or timed out")),
    ],
)
def test_a_classic_rebalance_names_what_changed(
    after: tuple[Row, ...], protocol: str, expected: tuple[str, str]
) -> None:
    assert of_classic(value(2, 9000, 2, after, state=8900, protocol=protocol)) == expected


def test_topics_in_another_order_are_no_other_subscription() -> None:
    first = value(2, 9000, 2, (member("a", "t0 t1 t2", topics="tu"),), state=8900)
    again = value(3, 9900, 3, (member("a", "t0 t1 t2", topics="ut"),), state=9800)
    assert of_classic(first, again)[0] == "leader_rejoined"


def test_a_failover_names_epochs_and_generations() -> None:
    assert of_classic(value(2, 9000, 1, (member("a", "t0 t1 t2"),), state=8900, epoch=4)) == (
        "coordinator_failover",
        "leader epoch 0 → 4, generation 1 → 1; member b (10.0.0.1) left or timed out",
    )


def test_a_follow_up_names_what_was_withheld() -> None:
    first = value(2, 9000, 2, (member("a", "t0", "t0 t1"), member("b", "t2", "t2")), state=8900)
    second = value(3, 9900, 3, (member("a", "t0", "t0"), member("b", "t1 t2", "t2")), state=9800)
    assert of_classic(first, second) == (
        "leader_rejoined",
        "assigns 1 partition, which generation 2 withheld from their new owners",
    )


def test_assignors_before_and_after_are_those_of_the_values() -> None:
    log = [created(0, 0), value(1, 3100, 1, TWO, state=3000), value(2, 9000, 2, TWO, state=8900, protocol="sticky"),
           value(3, 9900, 3, (), state=9800)]  # fmt: skip
    assert replayed_classic(log).of("rebalances", "assignor_before", "assignor_after") == [
        (None, "range"), ("range", "sticky"), ("sticky", None)
    ]  # fmt: skip


# -- consumer, share and streams groups


def of_one(**more: Any) -> Log:
    log = Log()
    log.write(0, about("a", **more), epoch(2), target("a", 0, 1), completed(2), owns("a", 2, 0, 1, previous=0))
    return log


def test_members_of_many_epochs_under_one_target_are_all_named() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), owns("b", 2, previous=0))
    log.write(200, about("c"), epoch(4), owns("c", 2, previous=0))
    log.write(300, target("a", 0), target("b", 1), completed(4), owns("c", 4, previous=2))
    assert of_modern(log, *NAMES) == [
        ("group_created", "member a (client-a, 127.0.0.1) joined"),
        ("member_joined", "members b (client-b, 127.0.0.1), c (client-c, 127.0.0.1) joined"),
    ]


def test_a_target_of_an_older_epoch_leaves_newer_causes_to_the_next_one() -> None:
    log = of_one()
    log.write(100, about("b"), epoch(3), owns("b", 2, previous=0))
    log.write(200, *leaves("b"), epoch(4))
    log.write(300, target("a", 0, 1), completed(3))
    log.write(400, target("a", 0, 1), completed(4), owns("a", 4, 0, 1, previous=2))
    changes = of_modern(log, *NAMES, "start_time", "confidence")
    assert changes[1:] == [
        ("member_joined", "member b (client-b, 127.0.0.1) joined", 100, "certain"),
        ("member_left", "member b (client-b, 127.0.0.1) left or timed out", 200, "certain"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {"topics": ["orders", "orders.eu"]}, "subscribes to orders.eu too"),
        (
            {},
            {"topics": ["clicks"]},
            "subscribes to clicks; member a (client-a, 127.0.0.1) no longer subscribes to orders",
        ),
        ({}, {"regex": "^ord.*"}, "subscribes to pattern ^ord.*"),
        ({"regex": "^ord.*"}, {}, "no longer subscribes to pattern ^ord.*"),
    ],
)
def test_a_member_that_subscribes_otherwise_says_to_what(before: Any, after: Any, expected: str) -> None:
    log = of_one(**before)
    log.write(100, about("a", **after), epoch(3), completed(3), owns("a", 3, 0, 1, previous=2))
    assert of_modern(log, *NAMES)[-1] == ("subscription_changed", f"member a (client-a, 127.0.0.1) {expected}")


def test_the_assignor_is_what_all_that_ask_for_one_ask_for() -> None:
    log = of_one(assignor="uniform")
    log.write(100, about("b", assignor="range"), epoch(3), target("a", 0), target("b", 1), completed(3),
              owns("a", 3, 0, previous=2), owns("b", 3, 1, previous=0))  # fmt: skip
    log.write(200, about("a", assignor="range"), epoch(4), completed(4), owns("a", 4, 0, previous=3),
              owns("b", 4, 1, previous=3))  # fmt: skip
    log.write(300, about("a", assignor="uniform"), about("b", assignor="uniform"), epoch(5), completed(5),
              owns("a", 5, 0, previous=4), owns("b", 5, 1, previous=4))  # fmt: skip
    changes = of_modern(log, "assignor_before", "assignor_after", *NAMES)
    assert [row[:3] for row in changes] == [
        (None, "uniform", "group_created"),
        ("uniform", None, "member_joined"),
        (None, "range", "assignor_changed"),
        ("range", "uniform", "assignor_changed"),
    ]
    assert changes[2][3] == "member a (client-a, 127.0.0.1) asks for assignor range"
    assert changes[3][3].startswith("range → uniform; members a (client-a, 127.0.0.1), b (client-b, 127.0.0.1) ask")


def test_targets_show_more_partitions_where_only_a_hash_changed() -> None:
    log = of_one()
    log.write(100, epoch(3, 8), target("a", 0, 1, 2), completed(3), owns("a", 3, 0, 1, 2, previous=2))
    assert of_modern(log, *NAMES)[-1] == ("metadata_changed", "orders 2 → 3 partitions assigned")


def test_partitions_are_counted_by_the_records_that_list_topics() -> None:
    """Type 4, to 4.0."""
    log = Log()
    log.write(0, about("a"), topics_counted(4, orders=12), epoch(2), target("a", 0), completed(2),
              owns("a", 2, 0, previous=0))  # fmt: skip
    log.write(100, topics_counted(4, orders=24), epoch(3, None), completed(3), owns("a", 3, 0, previous=2))
    log.write(200, topics_counted(4), epoch(4, None), target("a"), completed(4), owns("a", 4, previous=3))
    # That the group's first record lists a topic does not mean that the topic is new.
    assert of_modern(log, *NAMES) == [
        ("group_created", "member a (client-a, 127.0.0.1) joined"),
        ("metadata_changed", "orders 12 → 24 partitions"),
        ("metadata_changed", "topic orders deleted"),
    ]


def test_a_share_group_gets_what_was_initialized_under_an_epoch_of_the_same_hash() -> None:
    log = Log()
    log.write(0, about("a", record_type=10), epoch(2, record_type=11), completed(2, 12), owns("a", 2, record_type=14))
    log.write(100, topics_counted(15, orders=1), epoch(3, record_type=11), target("a", 0, record_type=13),
              completed(3, 12), owns("a", 3, 0, record_type=14))  # fmt: skip
    log.write(200, topics_counted(15, orders=2))
    log.write(300, epoch(4, record_type=11), target("a", 0, 1, record_type=13), completed(4, 12),
              owns("a", 4, 0, 1, record_type=14))  # fmt: skip
    assert of_modern(log, *NAMES)[1:] == [
        ("metadata_changed", "topic orders share state initialized, 1 partition"),
        ("metadata_changed", "orders 1 → 2 partitions"),
    ]


def test_settings_of_a_streams_group_are_a_cause() -> None:
    log = Log()
    for time, number, standby in ((0, 2, "0"), (100, 3, "1")):
        settings = GroupEpoch(number, 7, 0, (("num.standby.replicas", standby),))
        about_it = [about("a", topics=None, record_type=19)] if number == 2 else []
        log.write(time, *about_it, (17, None, settings), completed(number, 20))
    assert of_modern(log, *NAMES)[-1] == ("assignor_changed", "num.standby.replicas 0 → 1")


def test_a_pattern_names_topics_that_it_matches_now_and_no_longer() -> None:
    log = Log()
    log.write(0, about("a", topics=(), regex="o.*"), owns("a", 1, previous=0))
    log.write(50, pattern("o.*", "orders"), epoch(2), target("a", 0), completed(2), owns("a", 2, 0, previous=1))
    log.write(100, pattern("o.*", "orders.eu"), epoch(3, 9), completed(3), owns("a", 3, 0, previous=2))
    assert of_modern(log, *NAMES)[-1] == (
        "regex_resolved", "pattern o.* now matches orders.eu; pattern o.* no longer matches orders"
    )  # fmt: skip


def test_a_static_restart_is_no_cause_of_a_later_epoch() -> None:
    log = of_one(instance="blue")
    log.write(100, owns("a", -2, 0, 1, previous=2))
    log.write(200, *leaves("a"), about("a2", instance="blue"), target("a2", 0, 1), owns("a2", 2, 0, 1, previous=0))
    log.write(300, epoch(3, 8), target("a2", 0, 1, 2), completed(3), owns("a2", 3, 0, 1, 2, previous=2))
    assert of_modern(log, *NAMES)[-1] == ("metadata_changed", "orders 2 → 3 partitions assigned")


def test_an_unknown_trigger_is_never_certain() -> None:
    log = of_one()
    log.write(100, epoch(3, 7), completed(3), owns("a", 3, 0, 1, previous=2))
    log.write(200, about("b"), epoch(4), target("a", 0), target("b", 1), completed(4), waits("b", 4, previous=0))
    assert of_modern(log, "trigger", "confidence", "trigger_detail")[1:] == [
        ("unknown", "possible", None), ("member_joined", "certain", "member b (client-b, 127.0.0.1) joined")
    ]  # fmt: skip
