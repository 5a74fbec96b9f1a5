"""Parts of a recomputation: windows of whole operations, what snapshots show, and what is remembered of groups."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jobs.recomputing.facts import Progress, known_topics
from jobs.recomputing.operations import IDS, values, whole_operations
from jobs.recomputing.operations import NAMES as OF_TOPICS
from schemas.tables import TABLES
from tests.make.tables import filled
from udfs.assignors.questions import Topic

NAMES = ("group_metadata", "group_member_metadata")
SCHEMA = pa.schema(
    [
        ("record_offset", pa.int64()),
        ("record_time", pa.timestamp("us", "UTC")),
        ("batch_first_offset", pa.int64()),
        ("group_id", pa.string()),
    ]
)
START = datetime(2026, 1, 1, tzinfo=UTC)


def random_records(rng: np.random.Generator, number: int) -> list[dict[str, Any]]:
    """As coordinators write them: a batch is of one time, and mostly of one group; archives have no batches."""
    result: list[dict[str, Any]] = []
    has_batches = bool(rng.integers(2))
    while len(result) < number:
        time, first = START + timedelta(milliseconds=int(rng.integers(3) + len(result))), len(result)
        for _ in range(rng.integers(1, 5)):
            result.append(
                {
                    "table": NAMES[rng.integers(2)],
                    "record_offset": len(result),
                    "record_time": time,
                    "batch_first_offset": first if has_batches else None,
                    "group_id": "abc"[rng.integers(3)],
                }
            )
    return result


def window(records: list[dict[str, Any]]) -> dict[str, pa.Table]:
    tables = {}
    for name in NAMES:
        if rows := [each for each in records if each["table"] == name]:
            tables[name] = pa.Table.from_pylist(rows, SCHEMA)
    return tables


def operations(records: list[dict[str, Any]]) -> set[tuple[int, ...]]:
    """Offsets of each operation: a group's records of one batch and time, one behind the other among its own."""
    result = set()
    by_group = sorted(records, key=lambda each: (each["group_id"], each["record_offset"]))
    for _, run in groupby(
        by_group, key=lambda each: (each["group_id"], each["batch_first_offset"], each["record_time"])
    ):
        result.add(tuple(each["record_offset"] for each in run))
    return result


def test_no_window_cuts_an_operation_and_none_of_the_records_is_lost(rng: np.random.Generator) -> None:
    for _ in range(200):
        records = random_records(rng, int(rng.integers(1, 40)))
        cuts = sorted({0, len(records), *rng.integers(0, len(records) + 1, 4).tolist()})
        windows = [window(records[start:end]) for start, end in pairwise(cuts)]
        place: dict[int, int] = {}
        seen: dict[tuple[str, str], list[int]] = {}
        for number, tables in enumerate(whole_operations(windows)):
            for name, rows in tables.items():
                offsets = rows.column("record_offset").to_pylist()
                assert offsets == sorted(offsets)
                place |= dict.fromkeys(offsets, number)
                for offset, group_id in zip(offsets, rows.column("group_id").to_pylist(), strict=True):
                    seen.setdefault((name, group_id), []).append(offset)
        assert sorted(place) == list(range(len(records)))
        assert all(offsets == sorted(offsets) for offsets in seen.values())
        assert [each for each in operations(records) if len({place[offset] for offset in each}) > 1] == []


def snapshot(hours: int, topic: str, racks: list[list[str | None] | None], topic_id: str | None = None) -> list[Any]:
    about = {"cluster": "c", "captured_time": START + timedelta(hours=hours), "topic": topic, "topic_id": topic_id}
    return [{**about, "partition": number, "racks": each} for number, each in enumerate(racks)]


def test_each_different_state_of_a_topic_is_known_once(rng: np.random.Generator) -> None:
    def at(hours: int) -> int:
        return int((START + timedelta(hours=hours)).timestamp()) * 1_000_000

    rows = [
        *snapshot(1, "t", [None, None]), *snapshot(2, "t", [None, None]), *snapshot(3, "t", [None] * 3),
        *snapshot(4, "t", [None, None]),
        *snapshot(1, "r", [["a", "b"], [None]], "id-1"), *snapshot(2, "r", [["b", "a"], [None]], "id-1"),
        *snapshot(3, "r", [["b", "a"], [None]], "id-2"), *snapshot(4, "r", [["b", "a"], [None]], "id-2"),
        *snapshot(1, "none", [[None], []]), *snapshot(2, "none", [None, None]),
        {**snapshot(1, "t", [None] * 9)[8], "cluster": "other"},
    ]  # fmt: skip
    rng.shuffle(rows)
    result = known_topics(filled(TABLES["topic_snapshots"], rows), "c")
    assert {
        name: [(each.topic, each.first_time, each.last_time) for each in some] for name, some in result.items()
    } == {
        "t": [(Topic("t", 2), at(1), at(2)), (Topic("t", 3), at(3), at(3)), (Topic("t", 2), at(4), at(4))],
        "r": [
            (Topic("r", 2, "id-1", (("a", "b"), (None,))), at(1), at(1)),
            (Topic("r", 2, "id-1", (("b", "a"), (None,))), at(2), at(2)),
            (Topic("r", 2, "id-2", (("b", "a"), (None,))), at(3), at(4)),
        ],
        "none": [(Topic("none", 2), at(1), at(2))],
    }


@pytest.mark.parametrize("is_chunked", [False, True])
def test_topics_are_read_at_any_depth(is_chunked: bool) -> None:
    subscription = {"topics": ["a"], "owned_partitions": [{"topic": "b", "partitions": [0]}]}
    members: list[Any] = [
        {"subscription": subscription, "assignment": {"partitions": [{"topic": "c", "partitions": [1]}]}},
        {"subscription": None, "assignment": None},
        {"subscription": {"topics": None, "owned_partitions": None}, "assignment": {"partitions": []}},
    ]
    rows = filled(TABLES["classic_group_metadata"], [{"members": members}, {"members": None}])
    targets = filled(TABLES["target_assignment_members"], [{"topic_partitions": [{"topic_id": "x"}]}])
    tables = {"classic_group_metadata": rows, "target_assignment_members": targets}
    if is_chunked:
        tables = {name: pa.concat_tables([each.slice(0, 1), each.slice(1)]) for name, each in tables.items()}
    assert (values(tables, OF_TOPICS), values(tables, IDS)) == ({"a", "b", "c"}, {"x"})


def test_a_slice_that_others_are_added_to_keeps_its_own_result() -> None:
    first, second = (Progress(0, "r", topics={name}, verdicts=Counter(same=1)) for name in "ab")
    whole = replace(first)
    whole.add(second)
    assert (whole.topics, whole.verdicts) == ({"a", "b"}, Counter(same=2))
    assert (first.topics, first.verdicts) == ({"a"}, Counter(same=1))
