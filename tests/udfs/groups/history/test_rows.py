"""Rows of tuples as Arrow tables: topic partitions as numbers, and rows that become several."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest

from schemas.tables import TABLES, Table
from udfs.groups.history.rows import arrow_rows, fields_of, row_maker
from udfs.topics.partition_codes import SHIFT, TopicCodes

# Rows of a table are made by one function.
maker_of = cache(row_maker)


def row(table, **values):
    filled = {"group_id": "g", "group_type": "classic", "assignment_offset": 7, "is_provisional": False,
    "kind": "moved",
              "move_offset": 7, "evidence_first_offset": 6, "evidence_last_offset": 7, "confidence": "certain",
              "member_id": "m", "generation_or_epoch": 1, "change": "kept", **values}  # fmt: skip
    return maker_of(table)(**{name: filled.get(name) for name in fields_of(table)})


def test_a_row_of_several_partitions_becomes_one_row_each_with_all_else_repeated() -> None:
    topics = TopicCodes({"id-b": "b"})
    a, b = topics.of_name("a") << SHIFT, topics.of_id("id-b") << SHIFT
    rows = [
        row(TABLES["partition_moves"], tp=frozenset({a | 3, b | 1}), to_member_id="m1", idle_ms=5),
        row(TABLES["partition_moves"], tp=a | 9, to_member_id="m2", move_time=1_000_001),
        row(TABLES["partition_moves"], tp=frozenset(), to_member_id="nobody"),
    ]
    made = arrow_rows(TABLES["partition_moves"], rows, topics, "c", 4).to_pylist()
    result = sorted((each["topic"], each["topic_id"], each["partition"], each["to_member_id"]) for each in made)
    assert result == [("a", None, 3, "m1"), ("a", None, 9, "m2"), ("b", "id-b", 1, "m1")]
    assert {each["idle_ms"] for each in made if each["to_member_id"] == "m1"} == {5}
    assert {(each["cluster"], each["evidence_partition"], each["evidence_first_offset"]) for each in made} == {
        ("c", 4, 6)
    }
    (late,) = (each["move_time"] for each in made if each["to_member_id"] == "m2")
    assert (late.timestamp(), late.microsecond) == (1.000001, 1)


def test_rows_hold_no_names_of_topics_that_none_of_them_has() -> None:
    topics = TopicCodes()
    others = [topics.of_name(f"other-{number}") for number in range(3)]
    tp = topics.of_name("a") << SHIFT
    made = arrow_rows(
        TABLES["partition_moves"], [row(TABLES["partition_moves"], tp=frozenset({tp, tp | 1}))], topics, "c", 0
    )
    assert others and made.column("topic").chunk(0).dictionary.to_pylist() == ["a"]


def test_sets_become_lists_by_name_of_topic_with_partitions_ascending() -> None:
    topics = TopicCodes()
    z, a = (topics.of_name(name) << SHIFT for name in "za")
    rows = [
        row(TABLES["generation_members"], assigned=frozenset({z | 10, z | 2, a | 1}), added=frozenset()),
        row(TABLES["generation_members"]),
    ]
    first, second = arrow_rows(TABLES["generation_members"], rows, topics, "c", 0).to_pylist()
    assert first["assigned"] == [
        {"topic": "a", "topic_id": None, "partitions": [1]},
        {"topic": "z", "topic_id": None, "partitions": [2, 10]},
    ]
    assert (first["added"], second["assigned"]) == ([], None)


def test_no_rows_make_an_empty_table_of_the_declared_columns() -> None:
    made = arrow_rows(TABLES["partition_moves"], [], TopicCodes(), "c", 0)
    assert (made.num_rows, made.column_names) == (0, [column.name for column in TABLES["partition_moves"].columns])


ANOMALY = {"group_id": "g", "kind": "k", "severity": "s", "record_offset": 5, "record_time": 6, "message": "m",
           "evidence_first_offset": 7, "evidence_last_offset": 8, "confidence": "c"}  # fmt: skip
TURNED = replace(TABLES["replay_anomalies"], columns=TABLES["replay_anomalies"].columns[::-1])


def test_the_fields_of_a_row_are_the_columns_without_those_of_all_its_rows() -> None:
    assert fields_of(TABLES["replay_anomalies"]) == tuple(ANOMALY)
    assert fields_of(TABLES["partition_moves"])[:5] == (
        "group_id",
        "group_type",
        "assignment_offset",
        "tp",
        "is_provisional",
    )
    assert not {"topic", "topic_id", "partition"} & {*fields_of(TABLES["partition_moves"])}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"confidence": None}, "missing 1 required keyword-only argument: 'confidence'"),
        ({"offset": 5}, "unexpected keyword argument 'offset'"),
        ({"cluster": "c"}, "unexpected keyword argument 'cluster'"),
    ],
)
def test_a_row_without_a_field_of_its_table_or_with_another_is_refused_at_once(fields, message: str) -> None:
    given = {name: value for name, value in {**ANOMALY, **fields}.items() if value is not None}
    with pytest.raises(TypeError, match=rf"^row of replay_anomalies\(\) .*{message}"):
        row_maker(TABLES["replay_anomalies"])(**given)


def test_values_without_names_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^row of replay_anomalies\(\) takes 0 positional arguments but 9 were given"):
        row_maker(TABLES["replay_anomalies"])(*ANOMALY.values())


@pytest.mark.parametrize("made_for", [TABLES["replay_anomalies"], TURNED])
@pytest.mark.parametrize("table", [TABLES["replay_anomalies"], TURNED])
def test_the_order_of_the_columns_of_a_table_does_not_change_the_values_under_their_names(
    made_for: Table, table: Table
) -> None:
    made = arrow_rows(table, [row_maker(made_for)(**ANOMALY)], TopicCodes(), "c", 0)
    assert made.column_names == [column.name for column in table.columns]
    (result,) = made.to_pylist()
    at = datetime(1970, 1, 1, microsecond=ANOMALY["record_time"], tzinfo=UTC)
    assert result == {**ANOMALY, "record_time": at, "cluster": "c", "evidence_partition": 0}


def test_the_order_of_the_keywords_does_not_matter() -> None:
    maker = row_maker(TABLES["replay_anomalies"])
    assert maker(**dict(reversed(ANOMALY.items()))) == maker(**ANOMALY)


def test_a_row_of_another_table_is_refused() -> None:
    with pytest.raises(ValueError, match="rows of partition_moves for replay_anomalies"):
        arrow_rows(TABLES["replay_anomalies"], [row(TABLES["partition_moves"], tp=1)], TopicCodes(), "c", 0)


@pytest.mark.parametrize("other", [TABLES["partition_moves"], TURNED])
def test_a_row_between_others_that_differs_from_them_in_its_fields_is_refused(other: Table) -> None:
    names = ", ".join(sorted({"replay_anomalies", other.name}))
    stranger = row(other, record_offset=1)
    ours = row_maker(TABLES["replay_anomalies"])(**ANOMALY)
    with pytest.raises(ValueError, match=f"rows of {names} for replay_anomalies"):
        arrow_rows(TABLES["replay_anomalies"], [ours, stranger, ours], TopicCodes(), "c", 0)


def test_equal_rows_of_several_partitions_give_what_each_gives_alone() -> None:
    topics = TopicCodes()
    a, b = (topics.of_name(name) << SHIFT for name in "ab")
    rows = [
        row(TABLES["partition_moves"], tp=a | 1, to_member_id="m1"),
        row(TABLES["partition_moves"], tp=b | 7, to_member_id="m1"),
        row(TABLES["partition_moves"], tp=frozenset({a | 2}), to_member_id="m1"),
        row(TABLES["partition_moves"], tp=a | 3, to_member_id="m1", idle_ms=0),
        row(TABLES["partition_moves"], tp=a | 4, to_member_id="m2", idle_ms=0),
        row(TABLES["partition_moves"], tp=a | 5, to_member_id="m1"),
    ]
    alone = [arrow_rows(TABLES["partition_moves"], [each], topics, "c", 4).to_pylist() for each in rows]
    assert arrow_rows(TABLES["partition_moves"], rows, topics, "c", 4).to_pylist() == [
        each for some in alone for each in some
    ]
