"""Names of topic ids by numbers of partitions, against a slow search of all pairings."""

from collections.abc import Sequence
from itertools import chain, permutations
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from schemas.words.history import Confidence, TopicSource
from tests.builders.groups.target_log import TargetLog, about, completed, dead, epoch, target, topic_id
from udfs.audit.modern.topic_names import (
    MOST_COUNTED,
    CommittedPartitions,
    InferredName,
    Reign,
    TargetNames,
    committed_partitions,
    names_by_id,
)
from udfs.audit.modern_audit import TargetEvidence

SECOND = 1_000_000
# Long after the targets of these tests.
LATER = 100 * SECOND


def commits(*rows: tuple[str, int, int, int]) -> CommittedPartitions:
    """Topic, partition, first and last time in seconds."""
    names = ("topic", "partition", "first_time", "last_time")
    columns = zip(*((*key, first * SECOND, last * SECOND) for *key, first, last in rows), strict=True)
    return committed_partitions(pa.table(dict(zip(names, map(list, columns), strict=True))))


def whole_topics(at: int = 50, **counts: int) -> CommittedPartitions:
    """All partitions, committed at one time."""
    return commits(*((name, each, at, at) for name, count in counts.items() for each in range(count)))


def targets(*groups: TargetLog) -> list[TargetNames]:
    found = []
    for log in groups:
        fold = TargetEvidence({})
        fold.take(log.tables)
        found += fold.target_names
    return found


def group(subscribed: str = "ab", hashed: int = 7, group_type: str = "consumer", /, **counts: int) -> TargetLog:
    """With a hash that nothing matches, as in clusters with racks."""
    log = TargetLog(group_type=group_type)
    given = {name: range(count) for name, count in counts.items()}
    log.write(1_000, about("m", list(subscribed)), epoch(1, hashed), target("m", **given), completed(1))
    return log


def named(of: list[TargetNames], committed: CommittedPartitions) -> dict[str, InferredName]:
    return names_by_id(of, {}, lambda _: committed)


def names(of: list[TargetNames], committed: CommittedPartitions) -> dict[str, str]:
    return {topic_id: each.name for topic_id, each in named(of, committed).items()}


RIGHT = {topic_id(name): name for name in "ab"}


def test_numbers_decide_which_of_two_ids_has_which_name() -> None:
    result = named(targets(group(a=6, b=3)), whole_topics(a=6, b=3))
    assert {each: of.name for each, of in result.items()} == RIGHT
    assert {(of.source, of.confidence) for of in result.values()} == {(TopicSource.PARTITION_COUNTS, Confidence.LIKELY)}


@pytest.mark.parametrize(
    ("what", "of", "committed"),
    [
        ("as many partitions", group(a=3, b=3), whole_topics(a=3, b=3)),
        ("commits of few partitions", group(a=6, b=3), whole_topics(a=3, b=3)),
        ("more than any id has", group(a=6, b=3), whole_topics(a=7, b=3)),
        ("more topics than ids", group("abc", a=6, b=3), whole_topics(a=6, b=3, c=1)),
        ("no commits", group(a=6, b=3), CommittedPartitions()),
        ("all before the target", group(a=6, b=3), whole_topics(0, a=6, b=3)),
        # Their targets have only partitions with share state.
        ("a share group", group("ab", 7, "share", a=6, b=3), whole_topics(a=6, b=3)),
    ],
)
def test_what_numbers_do_not_decide_stays_unnamed(what: str, of: TargetLog, committed: CommittedPartitions) -> None:
    assert targets(of), what
    assert names(targets(of), committed) == {}, what


def test_a_topic_that_nobody_owns_is_none_of_the_names() -> None:
    """What exists is assigned: the third name has no commits, so it may not exist."""
    assert names(targets(group("abc", a=6, b=3)), whole_topics(a=6, b=3)) == RIGHT
    # Without commits of `b`, it or `c` may be the topic of 3 partitions.
    assert names(targets(group("abc", a=6, b=3)), whole_topics(a=6)) == {topic_id("a"): "a"}


def grown(at: int, until: int) -> TargetLog:
    """`b` grows from 2 partitions to 6 at the second target."""
    log = group(a=3, b=2)
    log.write(until * 1_000, epoch(2, 8), target("m", a=range(3), b=range(at)), completed(2))
    return log


def test_a_count_that_grew_is_compared_with_commits_of_its_time() -> None:
    of = grown(6, 60)
    early = (("a", 2, 30, 50), ("b", 1, 30, 70))
    assert names(targets(of), commits(*early, ("b", 5, 70, 70))) == RIGHT
    # The other way round, the same commits are of no target.
    assert names(targets(grown(3, 60)), commits(("a", 2, 50, 50), ("b", 1, 50, 50))) == {}


def test_a_commit_just_before_a_target_ends_may_be_of_a_topic_that_has_grown() -> None:
    """`b` has 6 partitions before the group has its target. Then neither number shows whose id has 3."""
    log = group(a=3, b=2)
    log.write(60_000, dead("group_metadata"))
    just_before = (("b", 0, 30, 50), ("a", 0, 30, 50), ("b", 2, 50, 50))
    assert names(targets(log), commits(*just_before)) == {}
    log = group(a=3, b=2)
    log.write(60_000, dead("group_metadata"))
    assert names(targets(log), commits(("b", 0, 30, 50), ("a", 2, 30, 50))) == RIGHT


def test_commits_after_the_group_ended_are_of_other_topics() -> None:
    log = group(a=6, b=3)
    log.write(20_000, dead("group_metadata"))
    assert names(targets(log), whole_topics(30, a=6, b=3)) == {}


def test_a_target_that_contradicts_a_name_leaves_it_out() -> None:
    """Of another group, whose commits show more of `a` than the id has: then something else is wrong."""
    other = TargetLog("h")
    other.write(200_000, about("n", ["a", "b"]), epoch(1, 7), target("n", a=range(6), b=range(3)), completed(1))
    evidence = (("a", 5, 50, 50), ("b", 2, 50, 50))
    assert names(targets(group(a=6, b=3), other), commits(*evidence)) == RIGHT
    log = group(a=6, b=3)
    log.write(150_000, epoch(2, 8))
    assert names(targets(log, other), commits(*evidence, ("a", 7, 250, 250))) == {}


def test_owners_that_do_not_subscribe_to_a_name_contradict_it() -> None:
    """The id of `a` has a name that this group reads."""
    other = TargetLog("h")
    other.write(1_000, about("n", ["c", "d"]), epoch(1, 7), target("n", a=range(6)), completed(1))
    assert names(targets(group(a=6, b=3), other), whole_topics(a=6, b=3)) == {}


def test_a_name_for_two_ids_is_the_name_of_none() -> None:
    again = TargetLog("h")
    columns = {"topic_partitions": [{"topic_id": topic_id(name), "partitions": [*range(count)]}
                                    for name, count in (("x", 6), ("b", 3))]}  # fmt: skip
    again.write(1_000, about("n", ["a", "b"]), epoch(1, 7),
                ("target_assignment_members", {"member_id": "n", **columns}), completed(1))  # fmt: skip
    result = names(targets(group(a=6, b=3), again), whole_topics(a=6, b=3))
    assert result.get(topic_id("a")) is None
    assert result.get(topic_id("x")) is None


def test_a_name_that_another_id_has_decides_nothing() -> None:
    of = targets(group(a=6, b=3))
    result = names_by_id(of, {topic_id("old"): "a"}, lambda _: whole_topics(a=6, b=3))
    assert result == {}


def test_what_follows_from_a_likely_name_is_likely_too() -> None:
    third = group("ac", a=6, c=6)
    result = named(targets(group(a=6, b=3), third), whole_topics(a=6, b=3))
    last = result[topic_id("c")]
    assert (last.name, last.source, last.confidence) == ("c", TopicSource.SINGLE_SUBSCRIPTION, Confidence.LIKELY)


def test_commits_are_read_only_for_ids_that_nothing_else_names() -> None:
    asked: list[set[str]] = []

    def read(of: set[str]) -> CommittedPartitions:
        asked.append(of)
        return CommittedPartitions()

    assert len(names_by_id(targets(group("a", a=6)), {}, read)) == 1
    assert asked == []
    names_by_id(targets(group("abc", a=6, b=3)), {}, read)
    assert asked == [{"a", "b", "c"}]


def test_names_are_those_that_all_pairings_of_a_slow_search_have(rng: np.random.Generator) -> None:
    random, decided = Random(int(rng.integers(2**32))), 0
    for _ in range(300):
        words = random.sample("abcde", random.randint(2, 5))
        ids = random.sample("vwxyz", random.randint(1, len(words)))
        counts = {each: random.randint(1, 6) for each in ids}
        least = {name: random.choice([0, *range(1, 7)]) for name in words}
        possible: dict[str, Sequence[str]] = {each: random.sample(words, random.randint(2, len(words))) for each in ids}
        pairings = [
            dict(zip(ids, some, strict=True))
            for some in permutations(words, len(ids))
            if {name for name in {*chain(*possible.values())} if least[name]} <= {*some}
            and all(
                name in possible[each] and least[name] <= counts[each] for each, name in zip(ids, some, strict=True)
            )
        ]
        common = {each: {of[each] for of in pairings} for each in ids}
        slow = {each: next(iter(some)) for each, some in common.items() if len(some) == 1}
        result = named([target_names(counts, possible)], whole_topics(**least, other=1))
        # Of what they leave, one name may be the only one.
        assert {each: of.name for each, of in result.items() if of.source == TopicSource.PARTITION_COUNTS} == slow
        decided += bool(slow)
    assert decided > 30


def target_names(counts: dict[str, int], possible: dict[str, Sequence[str]]) -> TargetNames:
    return TargetNames(tuple({*chain(*possible.values())}), counts, possible, None, True, 0, Reign(0))


def test_the_work_for_one_target_is_bounded() -> None:
    ids, words = [f"i{each}" for each in range(12)], tuple(f"n{each}" for each in range(12))
    # Only the last one has a single name, and all the others have too many pairings to say anything.
    possible = dict.fromkeys(ids, words) | {ids[-1]: ("gone",)}
    assert MOST_COUNTED < 12**5
    result = names([target_names(dict.fromkeys(ids, 1), possible)], whole_topics(**dict.fromkeys(words, 1)))
    assert result == {ids[-1]: "gone"}


def test_a_reign_without_an_end_takes_the_newest_commits() -> None:
    committed = commits(("a", 0, 5, 9), ("a", 3, 90, 95), ("a", 2, 20, 30))
    assert committed.least("a", Reign(10 * SECOND)) == 4
    assert committed.least("a", Reign(10 * SECOND, 60 * SECOND)) == 3
    # Less than 15 s before the end.
    assert committed.least("a", Reign(10 * SECOND, 30 * SECOND)) == 0
    assert committed.least("a", Reign(96 * SECOND)) == committed.least("b", Reign(0)) == 0
