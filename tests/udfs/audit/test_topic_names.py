"""Names of topic ids, against a slow search of all pairings and against clusters of which all names are known."""

from collections.abc import Sequence
from itertools import permutations
from random import Random
from time import process_time

import pytest

from schemas.words.assignments import Verdict
from schemas.words.history import Confidence, TopicSource
from tests.builders.groups.target_log import TargetLog, about, audit_once, completed, epoch, target, topic_id
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts
from udfs.audit.modern.topic_names import MOST_BEYOND, HashSearch, InferredName, TargetNames, by_hash, names_by_id
from udfs.audit.modern_audit import TargetEvidence
from udfs.topics.metadata_hash import group_hash


def computed(
    names: str, counts: dict[str, int], *, has_hash: bool = True, is_whole: bool = True, racks: bool = False
) -> TargetNames:
    """A group of equal subscriptions; `counts`: those of its names that are topics."""
    reported = [
        Topic(name, count, topic_id(name), (("r",),) * count if racks else None) for name, count in counts.items()
    ]
    ids = dict(sorted((topic_id(name), count) for name, count in counts.items()))
    possible = dict.fromkeys(ids, sorted(names))
    return TargetNames(tuple(sorted(names)), ids, possible, group_hash(reported) if has_hash else None, is_whole, 7)


def names_of(result: dict[str, InferredName]) -> dict[str, str]:
    return {topic_id: each.name for topic_id, each in result.items()}


def slow(groups: Sequence[TargetNames], known: dict[str, str]) -> dict[str, str]:
    """Every pairing of every group, until nothing is new: by the hash first, else what alone is left."""
    result = dict(known)
    while True:
        new: dict[str, str] = {}
        for of in groups:
            for pairing in permutations(of.names, len(of.counts)):
                pairs = dict(zip(of.counts, pairing, strict=True))
                if any(result.get(each, name) != name for each, name in pairs.items()):
                    continue
                topics = [Topic(pairs[each], count, each) for each, count in of.counts.items()]
                if of.metadata_hash is not None and group_hash(topics) == of.metadata_hash:
                    new |= pairs
        if new.keys() <= result.keys():
            for of in groups:
                taken = {result[each] for each in of.counts if each in result}
                for each, names in of.possible.items():
                    left = set(names) - taken
                    if each not in result and len(left) == 1:
                        new[each] = left.pop()
        if new.keys() <= result.keys():
            return {each: name for each, name in result.items() if each not in known}
        result |= new


def test_names_are_those_of_a_slow_search_and_of_the_cluster(rng_seed: int = 20) -> None:
    random = Random(rng_seed)
    for _ in range(60):
        cluster = {name: random.randint(1, 4) for name in "abcdef"}
        groups = []
        for _ in range(random.randint(1, 4)):
            subscribed = "".join(sorted(random.sample("abcdefxy", random.randint(1, 4))))
            there = {name: cluster[name] for name in subscribed if name in cluster}
            # A broker with racks hashes them too: then nothing matches.
            groups.append(computed(subscribed, there, has_hash=random.random() < 0.7, racks=random.random() < 0.3))
        known = {topic_id(name): name for name in random.sample("abcdef", random.randint(0, 2))}
        result = names_of(names_by_id(groups, known))
        # A name that is no topic may be all that is left of a group's.
        certain = {each for each in result if result[each] in cluster}
        assert result == slow(groups, known)
        assert all(topic_id(result[each]) == each for each in certain if not has_absent(groups, each))
        shuffled = random.sample(groups, len(groups))
        assert names_by_id(shuffled, known) == names_by_id(groups, known)


def has_absent(groups: Sequence[TargetNames], each: str) -> bool:
    return any(each in of.counts and len(of.names) > len(of.counts) for of in groups)


def test_the_hash_pairs_names_and_ids_for_certain() -> None:
    names = names_by_id([computed("abc", {"a": 2, "b": 2, "c": 3})], {})
    assert names_of(names) == {topic_id(name): name for name in "abc"}
    assert {each[1:3] for each in map(tuple_of, names.values())} == {(TopicSource.METADATA_HASH, Confidence.CERTAIN)}
    assert sorted(each.num_partitions or 0 for each in names.values()) == [2, 2, 3]


def tuple_of(each: InferredName) -> tuple[str, TopicSource, Confidence, int | None]:
    return each.name, each.source, each.confidence, each.num_partitions


def test_names_that_are_no_topics_are_left_out_by_the_hash() -> None:
    assert names_of(names_by_id([computed("abxy", {"a": 2, "b": 2})], {})) == {topic_id("a"): "a", topic_id("b"): "b"}


def test_with_racks_two_names_for_two_ids_stay_open_until_another_group_shows_one() -> None:
    both = computed("ab", {"a": 2, "b": 2}, racks=True)
    assert names_by_id([both], {}) == {}
    alone = computed("a", {"a": 2}, racks=True)
    names = names_by_id([both, alone], {})
    assert names_of(names) == {topic_id("a"): "a", topic_id("b"): "b"}
    assert {each.source for each in names.values()} == {TopicSource.SINGLE_SUBSCRIPTION}


def test_after_missing_records_the_one_name_left_is_likely_alone() -> None:
    (result,) = names_by_id([computed("a", {"a": 2}, racks=True, is_whole=False)], {}).values()
    assert (result.source, result.confidence) == (TopicSource.SINGLE_SUBSCRIPTION, Confidence.LIKELY)


def test_groups_that_contradict_each_other_prove_nothing() -> None:
    one = computed("a", {"a": 2}, has_hash=False)
    other = TargetNames(("b",), one.counts, {topic_id("a"): ["b"]}, None, True)
    assert names_by_id([one, other], {}) == {}


def test_more_partitions_than_targets_show_are_tried_up_to_a_bound() -> None:
    for more, count in ((MOST_BEYOND, 1), (MOST_BEYOND + 1, 0)):
        of = computed("ab", {"a": 2 + more, "b": 2})
        seen = dict.fromkeys(of.counts, 2)
        assert len(names_by_id([TargetNames(of.names, seen, of.possible, of.metadata_hash, True)], {})) == 2 * count


def test_targets_of_a_log_are_the_evidence() -> None:
    log = TargetLog()
    six = group_hash([Topic("orders", 6, topic_id("orders")), Topic("clicks", 2, topic_id("clicks"))])
    log.write(0, about("m", ["clicks", "orders"]), epoch(1, six), target("m", orders=range(6), clicks=range(2)),
              completed(1))  # fmt: skip
    fold = TargetEvidence({})
    fold.take(log.tables)
    (result,) = fold.target_names
    assert (result.names, result.metadata_hash, result.is_whole) == (("clicks", "orders"), six, True)
    assert result.counts == {topic_id("orders"): 6, topic_id("clicks"): 2}
    assert names_of(names_by_id([result], {})) == {topic_id(name): name for name in ("orders", "clicks")}
    assert TargetEvidence({topic_id(name): name for name in ("orders", "clicks")}).take(log.tables) == []


@pytest.mark.parametrize("partition", [250_000, (1 << 31) - 2, (1 << 31) - 1])
def test_a_partition_that_no_topic_has_is_no_evidence(partition: int) -> None:
    """Every partition up to it would be hashed."""
    log = TargetLog()
    log.write(0, about("m", ["orders"]), epoch(1, 7), target("m", orders=[partition]), completed(1))
    fold = TargetEvidence({})
    fold.take(log.tables)
    assert fold.target_names == []


@pytest.mark.parametrize("name", ["<UNKNOWN>", ""])
def test_the_name_of_a_topic_that_the_coordinator_does_not_know_is_none(name: str) -> None:
    """So it writes share state of a topic that it finds in no metadata."""
    log = TargetLog(group_type="share")
    state = [{"state": "initialized", "topic_id": topic_id("clicks"), "topic_name": name, "partitions": [0, 1]}]
    six = group_hash([Topic("orders", 6, topic_id("orders")), Topic("clicks", 2, topic_id("clicks"))])
    log.write(0, ("group_partition_metadata", {"topics": state}))
    log.write(1, about("m", ["clicks", "orders"]), epoch(1, six), target("m", orders=range(6), clicks=range(2)),
              completed(1))  # fmt: skip
    fold = TargetEvidence({})
    fold.take(log.tables)
    assert names_of(names_by_id(fold.target_names, {})) == {topic_id(name): name for name in ("orders", "clicks")}


def test_an_id_that_only_the_group_itself_names_ends_no_search() -> None:
    of = computed("ab", {"a": 2, "b": 2})
    alone = {topic_id("a"): of.possible[topic_id("a")]}
    assert names_by_id([TargetNames(of.names, of.counts, alone, of.metadata_hash, True)], {}) == {}


def test_where_nothing_matches_the_work_is_bounded_and_what_is_cheap_is_inferred() -> None:
    """A racked cluster: none of the hashes of its large groups can be found, however often they change."""
    large = "abcdefgh"
    racked = [
        TargetNames(each.names, each.counts, each.possible, hashed, True, 7)
        for each in (computed(large[turn:] + large[:turn], dict.fromkeys(large, 1 + turn)) for turn in range(40))
        for hashed in range(100)
    ]
    small = computed("xyz", {"x": 2, "y": 2, "z": 3})
    search = HashSearch(names_left=2_500_000)
    assert dict(by_hash([*racked, small], {}, search)).keys() == {topic_id(name) for name in "xyz"}
    assert search.names_left == 0
    left = len(search.known)
    dict(by_hash([*racked, small], {}, search))
    assert len(search.known) == left == 41
    assert names_of(names_by_id([*racked[:200], small], {})) == {topic_id(name): name for name in "xyz"}


def test_names_that_fit_together_in_no_way_end_the_search() -> None:
    """More ids than names: all but the last id have a name in billions of ways."""
    ids, names = [f"i{each:02}" for each in range(15)], tuple(f"n{each:02}" for each in range(14))
    of = TargetNames(names, dict.fromkeys(ids, 1), dict.fromkeys(ids, names), 7, True, 0)
    small = computed("ab", {"a": 2, "b": 2})
    assert names_of(names_by_id([of, small], {})) == {topic_id(name): name for name in "ab"}


def test_the_work_for_a_target_of_many_topics_is_bounded_too() -> None:
    """Two ids each have the same two names: each pairing of all 1,200 is hashed as a whole, and none has the hash."""
    names = [f"n{each:04}" for each in range(1_200)]
    counts = {topic_id(name): 1 for name in names}
    possible = {each: names[at // 2 * 2 :][:2] for at, each in enumerate(counts)}
    of = TargetNames(tuple(names), counts, possible, 7, True, 0)
    began = process_time()
    assert names_by_id([of], {}) == {}
    assert process_time() - began < 5


def test_a_target_may_have_more_topics_without_a_name_than_python_nests_calls() -> None:
    """Two possible names for each of 1,200 topics."""
    members, log = [str(number) for number in range(600)], TargetLog()
    log.write(0, *(about(member, [f"{member} a", f"{member} b"]) for member in members), epoch(1))
    targets = [target(member, **{f"{member} a": [0], f"{member} b": [0]}) for member in members]
    log.write(1, *targets, completed(1))
    (row,) = audit_once(log, Facts(default_assignor="uniform"))
    assert row.verdict in (Verdict.SAME_UNCONFIRMED, Verdict.NOT_RECOMPUTABLE)
