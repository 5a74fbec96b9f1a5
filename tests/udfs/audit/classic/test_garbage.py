"""Records that no client writes: whatever they hold, each has its verdict, and it does not depend on runs."""

from random import Random
from typing import Any, Final

import pytest

from tests.builders.groups.classic_audit_rows import TABLE, facts, member, sticky_data, table
from tests.builders.groups.classic_log import tombstone, value
from tests.builders.groups.stored_states import again
from udfs.audit.checks.facts import Facts, GroupRule
from udfs.audit.classic_audit import ClassicAudit
from udfs.audit.classic_generations import latest

LOGS: Final = 50
SOAK_LOGS: Final = 5_000
LATER: Final = 10**18
Row = dict[str, Any]


def partition_lists(random: Random, *, is_strange: bool) -> list[Row]:
    numbers = [0, 1, 2, 3, 4] + ([-1, 7, 100, 2**31 - 1, -(2**31)] if is_strange else [])
    return [
        {
            "topic": random.choice(["a", "b", "c", "c" if random.random() < 0.9 else ""]),
            "partitions": random.choices(numbers, k=random.randint(0, 4)),
        }
        for _ in range(random.randint(0, 3))
    ]


def random_member(random: Random, number: int, *, is_strange: bool) -> Row:
    topics = random.choices("abcz", k=random.randint(0, 3)) if is_strange else random.sample("abc", 2)
    row = member(
        random.choice([f"c{number}", f"c{number}", f"x{random.randint(0, 3)}"]),
        topics="".join(topics),
        generation=random.choice([None, -1, 0, 1, 2, 3, 2**31 - 1]),
        version=random.choice([0, 1, 2, 3, 3, 3]),
        instance=random.choice([None, None, "i", f"i{number}"]),
        rack=random.choice([None, None, None, "r1", ""]),
        user_data=random.choice(
            [
                None,
                b"",
                b"\0\0\0\5",
                sticky_data("a0 b1 a1", 3),
                sticky_data("a0"),
                random.randbytes(random.randint(0, 20)),
            ]
        ),
    )
    row["assignment"]["partitions"] = partition_lists(random, is_strange=is_strange)
    row["subscription"]["owned_partitions"] = partition_lists(random, is_strange=is_strange)
    if random.random() < 0.05:
        row[random.choice(["subscription", "assignment"])] = None
    if random.random() < 0.05:
        row |= {"assignment": None, "assignment_bytes": b""}
    return row


def random_log(random: Random) -> list[Row]:
    log, is_strange = [], random.random() < 0.6
    for offset in range(random.randint(1, 5)):
        if random.random() < 0.1:
            log.append(tombstone(offset, offset * 1000))
            continue
        members = [random_member(random, at, is_strange=is_strange) for at in range(random.randint(0, 5))]
        log.append(
            value(
                offset,
                offset * 1000,
                random.choice([offset, offset, 1, -1]),
                members,
                protocol=random.choice(["range", "roundrobin", "sticky", "cooperative-sticky", "stream", "x"]),
                protocol_type=random.choice(["consumer"] * 9 + ["connect"]),
                leader=random.choice(["c0", "nobody"]),
                state=random.choice([None, 0, offset * 1000]),
            )
        )
    return log


def random_facts(random: Random) -> Facts:
    counts = {name: random.choice([0, 1, 3, 5]) for name in "abc" if random.random() < 0.6}
    racks: Any = {
        name: [random.choice([["r1"], [None, "r2"]]) for _ in range(count)]
        for name, count in counts.items()
        if random.random() < 0.3
    }
    known = facts(counts, since=random.choice([0, LATER]), **racks)
    rule = GroupRule("g", copartitioned=(("a", "b"),), redundancy=random.choice([1, 2]), is_rack_local=True)
    return Facts(topics=known.topics, rules=(rule,) if random.random() < 0.3 else ())


@pytest.mark.parametrize("protocol", ["range", "sticky", "cooperative-sticky"])
def test_a_number_far_beyond_what_a_record_names_is_not_computed_with(protocol: str) -> None:
    """The sticky assignors took a minute for it. A snapshot still shows what there is."""
    members = [member(f"c{at}", topics=topics, generation=1) for at, topics in enumerate(("ab", "a", "b"))]
    named = [{"topic": "a", "partitions": [99_999]}]
    members[0]["assignment"]["partitions"] = members[0]["subscription"]["owned_partitions"] = named
    log = {TABLE: table([value(0, 0, 2, members, protocol=protocol)])}
    (alone,) = ClassicAudit(facts({}), {}).take(log)
    (beside,) = ClassicAudit(facts({"a": 2, "b": 2}, since=0), {}).take(log)
    assert (alone.verdict, alone.reason) == (
        "not_recomputable", "a: the record names partition 99999, and few others",
    )  # fmt: skip
    assert alone.reason != beside.reason


@pytest.mark.parametrize("logs", [LOGS, pytest.param(SOAK_LOGS, marks=pytest.mark.soak)])
def test_garbage_has_its_verdict_and_the_same_one_whatever_run_it_comes_in(logs: int, seed: int) -> None:
    random = Random(seed)
    for _ in range(logs):
        log, known = random_log(random), random_facts(random)
        whole = ClassicAudit(known, {})
        expected = whole.take({TABLE: table(log)})
        assert [each.assignment_offset for each in expected] == [row["record_offset"] for row in log if row["members"]]
        assert all(each.verdict in ("same", "carried_over") or each.reason for each in expected)
        cut = random.randint(0, len(log))
        first = ClassicAudit(known, {})
        rows = first.take({TABLE: table(log[:cut])})
        second = ClassicAudit(known, again("classic", first.states()))
        assert rows + second.take({TABLE: table(log[cut:])}) == expected
        for group_id, state in again("classic", whole.states()).items():
            assert latest(state, known) == whole.latest()[group_id]
