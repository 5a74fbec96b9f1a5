"""Since when records name how many partitions, against a walk over plain rows."""

from random import Random
from typing import Any

import pyarrow as pa

from schemas.tables import TABLES
from tests.make.tables import filled
from udfs.assignors.questions import MOST_PARTITIONS
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import EMPTY_MARKERS, OffsetReplay
from udfs.commits.offset_endings import OffsetFacts
from udfs.topics.least_partitions import NamedByGroups, NamedPartitions, merged, steps
from udfs.topics.partition_counts import named_counts

Seen = tuple[str | None, str | None, int, int | None]


def slow(seen: list[Seen]) -> list[NamedPartitions]:
    """A step is whatever exceeds all that is named up to its time."""
    result = set()
    for topic, topic_id, number, time in seen:
        others = [each for each in seen if each[:2] == (topic, topic_id) and each[3] is not None]
        if time is None or number < 1:
            continue
        before = [each[2] for each in others if each[3] < time]  # type: ignore[operator]
        at_once = [each[2] for each in others if each[3] == time]
        if number > max(before, default=0) and number == max(at_once):
            result.add(NamedPartitions(topic, topic_id, number, time))
    return sorted(result, key=lambda each: (each.topic or "", each.topic_id or "", each.from_time))


def drawn(random: Random, number: int) -> list[Seen]:
    return [
        (*random.choice([("a", None), ("a", "x"), ("b", "y"), ("b", None)]), random.randint(0, 6),
         random.choice([None, *range(12)]))
        for _ in range(number)
    ]  # fmt: skip


def commits(seen: list[Seen], *, is_tombstone: bool = False) -> pa.Table:
    rows = [
        {"topic": topic, "topic_id": topic_id, "partition": number - 1, "record_time": time, "record_offset": offset,
         "group_id": f"g{offset % 3}", "committed_offset": 5, "is_tombstone": is_tombstone}
        for offset, (topic, topic_id, number, time) in enumerate(seen)
    ]  # fmt: skip
    return filled(TABLES["offset_commits"], rows)


def named_by_commits(*windows: pa.Table, holes: bool = False) -> list[NamedPartitions]:
    run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts())
    for rows in windows:
        run.take(rows, EMPTY_MARKERS)
        if holes and rows.num_rows:
            run.hole(rows["record_offset"][-1].as_py(), None)
    return steps(run.finish().topics)


def plain(result: list[NamedPartitions]) -> list[NamedPartitions]:
    return sorted(result, key=lambda each: (each.topic or "", each.topic_id or "", each.from_time))


def test_commits_name_what_a_slow_walk_finds_however_they_are_cut() -> None:
    random = Random(7)
    for _ in range(100):
        seen = drawn(random, random.randint(0, 30))
        cut = random.randint(0, len(seen))
        rows = commits(seen)
        parts = rows.slice(0, cut), rows.slice(cut)
        assert plain(named_by_commits(rows)) == slow(seen)
        assert plain(named_by_commits(*parts)) == slow(seen)
        assert plain(named_by_commits(*parts, holes=True)) == slow(seen)
        assert plain(merged(*map(named_by_commits, parts))) == slow(seen)
    assert named_by_commits(commits([("a", None, 3, 5)], is_tombstone=True)) == []


def of_groups(random: Random) -> tuple[dict[str, list[dict[str, Any]]], list[Seen]]:
    """Rows of each table that lists partitions, and what they name."""
    tables: dict[str, list[dict[str, Any]]] = {}
    seen: list[Seen] = []

    def some(by: str, time: int) -> list[dict[str, Any]] | None:
        if random.random() < 0.2:
            return None
        rows = [
            {by: random.choice("ab"), "partitions": random.sample(range(9), random.randint(0, 3))} for _ in range(2)
        ]
        for each in rows:
            name, topic_id = (each[by], None) if by == "topic" else (None, each[by])
            seen.extend((name, topic_id, partition + 1, time) for partition in each["partitions"])
        return rows

    for time in range(random.randint(1, 6)):
        members = [
            {"assignment": None if random.random() < 0.2 else {"version": 0, "partitions": some("topic", time)}}
            for _ in range(random.randint(0, 3))
        ]
        at: dict[str, Any] = {"record_time": time}
        tables.setdefault("classic_group_metadata", []).append(at | {"members": members})
        tables.setdefault("target_assignment_members", []).append(at | {"topic_partitions": some("topic_id", time)})
        tables.setdefault("current_member_assignments", []).append(
            at | {"assigned_partitions": some("topic_id", time),
                  "partitions_pending_revocation": some("topic_id", time)}
        )  # fmt: skip
        topics = [{"topic_name": name, "topic_id": "x", "num_partitions": time + 1} for name in ("a", "<UNKNOWN>")]
        tables.setdefault("group_partition_metadata", []).append(at | {"topics": topics})
        seen.append(("a", "x", time + 1, time))
    return tables, seen


def named_by_groups(*windows: dict[str, pa.Table]) -> list[NamedPartitions]:
    named = NamedByGroups()
    for tables in windows:
        named.add(tables)
    return steps(named.table())


def test_assignments_name_what_a_slow_walk_finds_in_any_chunks() -> None:
    random = Random(8)
    for _ in range(60):
        rows, seen = of_groups(random)
        tables = {name: filled(TABLES[name], some) for name, some in rows.items()}
        cut = {name: pa.concat_tables([each.slice(1), each.slice(0, 1)]) for name, each in tables.items()}
        halves = [{name: each.slice(*part) for name, each in tables.items()} for part in ((0, 2), (2,))]
        assert named_by_groups(tables) == named_by_groups(cut) == named_by_groups(*halves) == slow(seen)


def test_numbers_without_an_id_count_for_a_topic_since_another_one_of_its_name_was_last_seen() -> None:
    named = [("a", None, 2, 5), ("a", None, 9, 30), (None, "x", 4, 10), ("a", "y", 7, 20), (None, "?", 99, 1)]
    counts = named_counts([NamedPartitions(*each) for each in named], {"x": "a"})
    asked = [("x", 10, None), ("x", 9, None), ("x", 99, 29), ("x", 99, 30), ("y", 20, None), (None, 20, 5)]
    assert [counts.most("a", *each) for each in asked] == [4, 2, 9, 4, 7, 7]
    assert [counts.first_time("a", "x", number, None) for number in (3, 5, 10)] == [10, 30, None]
    # A client may write any number into a commit.
    counts = named_counts([NamedPartitions("a", None, MOST_PARTITIONS + each, each) for each in (0, 1)], {})
    assert counts.most_ever("a", "x", None) == MOST_PARTITIONS == counts.most("a", "x", 9, None) - 1
