"""Rows of tuples as Arrow tables: topic partitions as numbers, and rows that stand for several."""

from schemas.tables.history import GENERATION_MEMBERS, PARTITION_MOVES
from udfs.groups.history.rows import arrow_rows, fields_of
from udfs.topics.partition_codes import SHIFT, TopicCodes


def row(table, **values):
    filled = {"group_id": "g", "group_type": "classic", "assignment_offset": 7, "is_open": False, "kind": "moved",
              "move_offset": 7, "evidence_first_offset": 6, "evidence_last_offset": 7, "confidence": "certain",
              "member_id": "m", "generation_or_epoch": 1, "change": "kept", **values}  # fmt: skip
    return tuple(filled.get(name) for name in fields_of(table))


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
