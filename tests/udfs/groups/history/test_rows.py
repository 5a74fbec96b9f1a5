"""Rows of tuples as Arrow tables: topic partitions as numbers, and rows that stand for several."""

from dataclasses import replace

import pytest

from schemas.tables.history import GENERATION_MEMBERS, PARTITION_MOVES, REPLAY_ANOMALIES
from udfs.groups.history.rows import RowFields, arrow_rows, fields_of, row_fields
from udfs.topics.partition_codes import SHIFT, TopicCodes


def row(table, **values):
    filled = {"group_id": "g", "group_type": "classic", "assignment_offset": 7, "is_open": False, "kind": "moved",
              "move_offset": 7, "evidence_first_offset": 6, "evidence_last_offset": 7, "confidence": "certain",
              "member_id": "m", "generation_or_epoch": 1, "change": "kept", **values}  # fmt: skip
    fields = row_fields(table, *sorted(fields_of(table)))
    return (fields, *(filled.get(name) for name in fields.names))


def test_a_row_of_several_partitions_becomes_one_row_each_with_all_else_repeated() -> None:
    topics = TopicCodes({"id-b": "b"})
    a, b = topics.of_name("a") << SHIFT, topics.of_id("id-b") << SHIFT
    rows = [
        row(PARTITION_MOVES, tp=frozenset({a | 3, b | 1}), to_member_id="m1", idle_ms=5),
        row(PARTITION_MOVES, tp=a | 9, to_member_id="m2", move_time=1_000_001),
        row(PARTITION_MOVES, tp=frozenset(), to_member_id="nobody"),
    ]
    made = arrow_rows(PARTITION_MOVES, rows, topics, "c", 4).to_pylist()
    found = sorted((each["topic"], each["topic_id"], each["partition"], each["to_member_id"]) for each in made)
    assert found == [("a", None, 3, "m1"), ("a", None, 9, "m2"), ("b", "id-b", 1, "m1")]
    assert {each["idle_ms"] for each in made if each["to_member_id"] == "m1"} == {5}
    assert {(each["cluster"], each["evidence_partition"], each["evidence_first_offset"]) for each in made} == {
        ("c", 4, 6)
    }
    (late,) = (each["move_time"] for each in made if each["to_member_id"] == "m2")
    assert (late.timestamp(), late.microsecond) == (1.000001, 1)


def test_sets_become_lists_by_name_of_topic_with_partitions_ascending() -> None:
    topics = TopicCodes()
    z, a = (topics.of_name(name) << SHIFT for name in "za")
    rows = [
        row(GENERATION_MEMBERS, assigned=frozenset({z | 10, z | 2, a | 1}), added=frozenset()),
        row(GENERATION_MEMBERS),
    ]
    first, second = arrow_rows(GENERATION_MEMBERS, rows, topics, "c", 0).to_pylist()
    assert first["assigned"] == [
        {"topic": "a", "topic_id": None, "partitions": [1]},
        {"topic": "z", "topic_id": None, "partitions": [2, 10]},
    ]
    assert (first["added"], second["assigned"]) == ([], None)


def test_no_rows_make_an_empty_table_of_the_declared_columns() -> None:
    made = arrow_rows(PARTITION_MOVES, [], TopicCodes(), "c", 0)
    assert (made.num_rows, made.column_names) == (0, [column.name for column in PARTITION_MOVES.columns])


ANOMALY = ("group_id", "kind", "severity", "record_offset", "record_time", "message", "evidence_first_offset",
           "evidence_last_offset", "confidence")  # fmt: skip


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (ANOMALY[:-1], r"missing \['confidence'\], not in the table \[\], repeated \[\]"),
        ((*ANOMALY, "offset"), r"missing \[\], not in the table \['offset'\], repeated \[\]"),
        ((*ANOMALY, "kind"), r"missing \[\], not in the table \[\], repeated \['kind'\]"),
        (("cluster", *ANOMALY), r"not in the table \['cluster'\]"),
    ],
)
def test_fields_that_are_not_those_of_the_table_are_refused_at_once(names: tuple[str, ...], told: str) -> None:
    with pytest.raises(ValueError, match=f"fields of a row of replay_anomalies: .*{told}"):
        row_fields(REPLAY_ANOMALIES, *names)


def anomaly(fields: RowFields, offset: int):
    of = {"group_id": "g", "kind": "k", "severity": "s", "record_offset": offset, "record_time": offset + 1,
          "message": "m", "evidence_first_offset": offset + 2, "evidence_last_offset": offset + 3,
          "confidence": "c"}  # fmt: skip
    return (fields, *(of[name] for name in fields.names))


def test_rows_of_several_places_keep_their_order_and_their_names() -> None:
    forward, backward = row_fields(REPLAY_ANOMALIES, *ANOMALY), row_fields(REPLAY_ANOMALIES, *reversed(ANOMALY))
    rows = [anomaly(fields, offset) for offset, fields in enumerate((forward, backward, backward, forward))]
    made = arrow_rows(REPLAY_ANOMALIES, rows, TopicCodes(), "c", 0)
    assert made == arrow_rows(REPLAY_ANOMALIES, [anomaly(forward, at) for at in range(4)], TopicCodes(), "c", 0)
    assert made.column("evidence_first_offset").to_pylist() == [2, 3, 4, 5]


@pytest.mark.parametrize("change", [lambda row: row[:-1], lambda row: (*row, None)])
def test_a_row_with_too_few_or_too_many_values_is_refused(change) -> None:
    fields = row_fields(REPLAY_ANOMALIES, *ANOMALY)
    with pytest.raises(
        ValueError,
        match=r"rows for replay_anomalies: found \[(8, 9|9, 10)\] values of replay_anomalies, expected 9: group_id",
    ):
        arrow_rows(REPLAY_ANOMALIES, [anomaly(fields, 1), change(anomaly(fields, 2))], TopicCodes(), "c", 0)


def test_a_row_of_another_table_is_refused() -> None:
    rows = [row(PARTITION_MOVES, tp=1)]
    with pytest.raises(ValueError, match=r"rows for replay_anomalies: found \[19\] values of partition_moves"):
        arrow_rows(REPLAY_ANOMALIES, rows, TopicCodes(), "c", 0)


def test_the_order_of_the_columns_of_a_table_does_not_change_the_values_under_their_names() -> None:
    fields = row_fields(REPLAY_ANOMALIES, *ANOMALY)
    turned = replace(REPLAY_ANOMALIES, columns=REPLAY_ANOMALIES.columns[::-1])
    first, second = (
        arrow_rows(table, [anomaly(fields, 5)], TopicCodes(), "c", 0) for table in (REPLAY_ANOMALIES, turned)
    )
    assert second.column_names == first.column_names[::-1]
    assert second.to_pylist() == first.to_pylist()


def test_equal_rows_of_several_partitions_give_what_each_gives_alone() -> None:
    topics = TopicCodes()
    a, b = (topics.of_name(name) << SHIFT for name in "ab")
    rows = [
        row(PARTITION_MOVES, tp=a | 1, to_member_id="m1"),
        row(PARTITION_MOVES, tp=b | 7, to_member_id="m1"),
        row(PARTITION_MOVES, tp=frozenset({a | 2}), to_member_id="m1"),
        row(PARTITION_MOVES, tp=a | 3, to_member_id="m1", idle_ms=0),
        row(PARTITION_MOVES, tp=a | 4, to_member_id="m2", idle_ms=0),
        row(PARTITION_MOVES, tp=a | 5, to_member_id="m1"),
    ]
    alone = [arrow_rows(PARTITION_MOVES, [each], topics, "c", 4).to_pylist() for each in rows]
    assert arrow_rows(PARTITION_MOVES, rows, topics, "c", 4).to_pylist() == [each for some in alone for each in some]
