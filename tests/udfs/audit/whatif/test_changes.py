"""What-ifs of a group with other members or more partitions: by Kafka's own classes, and as `assign` answers them."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from jobs.whatif import answer_of
from schemas.words.records import GroupType
from tests.builders.assignors.server_cases import random_share_spec, random_spec
from tests.oracles.assignors.what_ifs import Lists, kafka_in_the_end, now
from tests.udfs.audit.whatif.test_what_if import as_latest, latest
from udfs.assignors.answers import answer_to
from udfs.assignors.questions import GroupProtocol
from udfs.audit.checks.facts import Facts
from udfs.audit.whatif import ALL_CHOICES, Question, spec_lines
from udfs.audit.whatif_changes import GroupChange, apply_change, balance, best, costs, moves_between, reasons

CASES = 60
EAGER = {("classic", "range"), ("classic", "roundrobin"), ("classic", "sticky")}


def test_members_leave_and_join_and_topics_grow() -> None:
    made = latest({"c1": "a0 a1", "c2": "a2 b0", "new-1": ""}, "a3 b1")
    result = apply_change(made, GroupChange(("c1",), 2, {"a": 5}))
    assert [(each.member_id, each.owned, each.subscribed_topics) for each in result.members] == [
        ("c2", (("a", (2,)), ("b", (0,))), ("a", "b")),
        ("new-1", (), ("a", "b")),
        ("new-2", (), ("a", "b")),
        ("new-3", (), ("a", "b")),
    ]
    assert [(topic.name, topic.partitions) for topic in result.topics] == [("a", 5), ("b", 1)]
    assert apply_change(made, GroupChange()) == made


def test_versions_of_subscriptions_go_with_their_members() -> None:
    made = latest({"c1": "a0", "c2": "a1"}, "a2", subscription_versions=(0, 3))
    assert apply_change(made, GroupChange(("c1",), 1)).subscription_versions == (3, None)


def test_partitions_of_a_member_that_goes_move_and_stop() -> None:
    """By hand: c1 keeps what it has, and gets a2; whoever is eager stops all three."""
    before, after = {"c1": [("a", 0), ("a", 1)], "c2": [("a", 2)]}, {"c1": [("a", 0), ("a", 1), ("a", 2)]}
    moves = moves_between(before, after)
    assert [(each.partition, each.before, each.after) for each in moves if each.is_change] == [
        (("a", 2), ("c2",), ("c1",))
    ]
    held = [{(member, *each) for member, own in lists.items() for each in own} for lists in (before, after)]
    assert [costs(*held, is_eager=each) for each in (False, True)] == [(1, 1), (1, 3)]


def row(protocol: str, assignor: str, *numbers: int) -> dict[str, Any]:
    names = ("imbalance", "moves_from_current", "partitions_stopped")
    reported = dict(zip(names, numbers or (None,) * 3, strict=True))
    return {"group_protocol": protocol, "assignor": assignor, "is_possible": bool(numbers), **reported}


SAME = "members with the same topics"
WINS = "has the best balance and moves the fewest partitions: "


def price(spread: str, moves: str, stopped: int) -> str:
    return f"{SAME} {spread}, {moves} owner, {stopped} not read during the rebalance"


ONE_MOVE = price("have equally many", "1 partition changes its", 1)


@pytest.mark.parametrize(("rows", "in_force", "sentence"), [
    ([row("classic", "range")], None, None),
    ([row("classic", "range", 0, 1, 5), row("consumer", "uniform", 0, 1, 1), row("consumer", "range")], None,
     f"uniform of the consumer protocol {WINS}{ONE_MOVE}."),
    ([row("classic", "range", 3, 0, 0), row("consumer", "uniform", 1, 4, 4)], ("classic", "range"),
     f"uniform of the consumer protocol has the best balance: "
     f"{price('differ by up to 1 partition', '4 partitions change their', 4)}; "
     "range of the classic protocol (in force) moves and stops the fewest partitions: "
     f"{price('differ by up to 3 partitions', '0 partitions change their', 0)}."),
    ([row("classic", "range", 1, 2, 9), row("consumer", "uniform", 0, 1, 1)], ("classic", "range"),
     f"uniform of the consumer protocol {WINS}{ONE_MOVE}; range of the classic protocol (in force): "
     f"{price('differ by up to 1 partition', '2 partitions change their', 9)}."),
    # Of equals the one in force: nothing is gained by a change.
    ([row("classic", "sticky", 0, 1, 1), row("consumer", "uniform", 0, 1, 1)], ("consumer", "uniform"),
     f"uniform of the consumer protocol (in force) {WINS}{ONE_MOVE}."),
])  # fmt: skip
def test_a_sentence_says_which_assignor_wins_and_at_what_price(
    rows: list[dict[str, Any]], in_force: tuple[str, str] | None, sentence: str | None
) -> None:
    assert best(rows, in_force) == sentence


@pytest.mark.parametrize(("sizes", "imbalance", "text"), [
    # Of two topics each: nothing to compare between the two.
    ([6, 7], 0, f"6 to 7 partitions a member; {SAME} have equally many"),
    ([3, 3], 0, f"3 partitions a member; {SAME} have equally many"),
    ([1, 3, 1], 2, f"1 to 3 partitions a member; {SAME} differ by up to 2 partitions"),
    ([1], 0, f"1 partition a member; {SAME} have equally many"),
])  # fmt: skip
def test_the_balance_counts_and_says_who_is_compared(sizes: list[int], imbalance: int, text: str) -> None:
    assert balance(sizes, imbalance) == text


def test_each_reason_is_told_once_and_whole() -> None:
    why = "topic ids are unknown: their order decides assignments, so Kafka's real choice may differ"
    rows = [row("consumer", name, 0, 1, 1) | {"reason": why} for name in ("uniform", "range")]
    rows += [row("classic", "sticky", 0, 1, 1) | {"reason": None}, row("classic", "range") | {"reason": "no members"}]
    assert reasons(rows, ("consumer", "range")) == [
        f"Not certain: uniform of the consumer protocol, range of the consumer protocol (in force): {why}.",
        "Not possible: range of the classic protocol: no members.",
    ]
    assert reasons(rows[:2], None) == [f"Not certain: any assignor: {why}."]


def some_change(rng: np.random.Generator, spec: Mapping[str, Any]) -> GroupChange:
    members = [member["member_id"] for member in spec["members"]]
    removed = [member for member in members[1:] if rng.random() < 0.3]
    subscribed = {name for each in spec["members"] for name in each["subscribed_topics"]}
    topics = [topic for topic in spec["topics"] if topic["name"] in subscribed and rng.random() < 0.3]
    grown = {topic["name"]: topic["partitions"] + int(rng.integers(4)) for topic in topics}
    return GroupChange(tuple(removed), int(rng.integers(3)), grown)


def changed_spec(spec: Mapping[str, Any], change: GroupChange) -> dict[str, Any]:
    subscriptions = Counter(tuple(member["subscribed_topics"]) for member in spec["members"])
    most = max(subscriptions.values())
    topics = next(each for each, number in subscriptions.items() if number == most)
    members = [member for member in spec["members"] if member["member_id"] not in change.removed_members]
    members += [
        {"member_id": f"new-{number + 1}", "subscribed_topics": list(topics), "target": []}
        for number in range(change.num_added)
    ]
    grown = [{**topic, "partitions": change.partitions.get(topic["name"], topic["partitions"])}
             for topic in spec["topics"]]  # fmt: skip
    return {**spec, "members": members, "topics": grown}


@pytest.mark.drawn(2)
@pytest.mark.broker
@pytest.mark.parametrize("choice", [each for each in ALL_CHOICES if each[0] != "share"], ids=" ".join)
def test_answers_are_those_of_kafkas_own_assignors(choice: tuple[str, str], rng: np.random.Generator) -> None:
    protocol, assignor = choice
    specs = [random_spec(rng, assignor, is_equal=bool(rng.random() < 0.5)) for _ in range(CASES)]
    changes = [some_change(rng, spec) for spec in specs]
    after = kafka_in_the_end([changed_spec(*each) for each in zip(specs, changes, strict=True)], protocol, assignor)
    for spec, change, lists in zip(specs, changes, after, strict=True):
        made = as_latest(spec, GroupType.CLASSIC)
        asked = {"group_protocol": protocol, "assignor": assignor, "is_possible": lists is not None}
        reported = answer_of(asked, Question(made, Facts(), change))
        assert reported.row["is_possible"] == (lists is not None), (spec, change, reported.row)
        if lists is None:
            continue
        result = {each.partition: (each.before, each.after) for each in reported.partitions}
        assert result == owners(now(spec), lists), (spec, change)
        if change:
            counts = reported.row["moves_from_current"], reported.row["partitions_stopped"]
            assert counts == slow_costs(now(spec), lists, choice in EAGER), (spec, change)


def owners(before: Lists, after: Lists) -> dict[tuple[str, int], tuple[tuple[str, ...], tuple[str, ...]]]:
    partitions = {each for lists in (before, after) for some in lists.values() for each in some}
    return {
        each: (
            tuple(sorted(member for member, some in before.items() if each in some)),
            tuple(sorted(member for member, some in after.items() if each in some)),
        )
        for each in partitions
    }


def slow_costs(before: Lists, after: Lists, is_eager: bool) -> tuple[int, int]:
    moves = stops = 0
    for had, has in owners(before, after).values():
        moves += any(member not in has for member in had)
        stops += bool(had) and (is_eager or not any(member in has for member in had))
    return moves, stops


@pytest.mark.parametrize("choice", ALL_CHOICES, ids=" ".join)
def test_assign_answers_the_printed_question_as_the_what_if_does(
    choice: tuple[GroupProtocol, str], rng: np.random.Generator
) -> None:
    protocol, assignor = choice
    for number in range(CASES):
        is_equal = bool(rng.random() < 0.5)
        is_share = protocol == GroupProtocol.SHARE
        spec = random_share_spec(rng, is_equal) if is_share else random_spec(rng, assignor, is_equal)
        made = as_latest(spec, GroupType.SHARE if is_share else GroupType.CONSUMER)
        if number % 2:
            made = apply_change(made, some_change(rng, spec))
        question = Question(made, Facts())
        answer = question.answer(choice)
        if isinstance(answer, str):
            continue
        *_, last = spec_lines(question, choice)
        reported = answer_to(1, dumped(last))
        assert {each["member_id"]: sorted(map(tuple, each["partitions"])) for each in reported["assignment"]} == {
            member: sorted(some) for member, some in answer.lists.items()
        }, (spec, last)


def dumped(line: dict[str, Any]) -> bytes:
    return json.dumps(line).encode()
