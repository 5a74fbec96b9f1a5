"""What a classic group takes over from a conversion: its value is a copy, the ledger holds what goes on."""

from dataclasses import replace

from schemas.tables.history import TABLES
from tests.builders.groups.named_rows import named_rows
from udfs.groups.classic import classic_groups
from udfs.groups.history.intervals import MemberStretch, OwnerStretch
from udfs.groups.history.ledger import Ledger
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.classic_columns import TYPE
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.group import Context, Group
from udfs.topics.partition_codes import TopicCodes

SECOND = 1_000_000


def member(member_id: str, *assigned: int, claimed: tuple[int, ...] = ()) -> ClassicMember:
    return ClassicMember(
        member_id, None, "c", "/h", 300_000, 45_000, ("t",), frozenset(claimed), 5, None, frozenset(assigned)
    )


def value(generation: int, *members: ClassicMember, state_time: int | None = None) -> ClassicValue:
    return ClassicValue("consumer", generation, "range", "a", state_time, members)


def converted(*, is_rebalancing: bool = False) -> Group:
    """Member `a` owned partition 0 as a member of a consumer group; the value gives it 0 and 1, and `b` nothing."""
    context = Context(TopicCodes())
    context.topics.of_name("t")
    group = Group("g", context, Ledger("g", context.rows))
    group.ledger.join(MemberStretch(SECOND, 1, True, 1, "consumer", "a", None, "c", "/h", None, 3))
    group.ledger.own(OwnerStretch(SECOND, 1, True, 1, "consumer", frozenset({0}), "a", 3, "assigned"))
    group.now = Classic(value(5, member("a", 0, 1), member("b")), 10, 0)
    classic_groups.adopt(group, group.now, Moment(10, 10 * SECOND), is_rebalancing=is_rebalancing)
    return group


def next_value(group: Group, offset: int, content: ClassicValue) -> None:
    before, time = group.now, offset * SECOND
    group.now = Classic(content, offset, 0)
    classic_groups.settle(group, before, [Record(offset, time, offset, 0, TYPE, None, content)], Moment(offset, time))


def states(group: Group) -> list[tuple[str, int, int | None, str]]:
    opened = RowsByTable()
    group.ledger.open_rows(opened)
    reported = [row for rows in (group.context.rows, opened) for row in named_rows(rows, "group_state_intervals")]
    return [(str(row["state"]), row["from_time"], row["to_time"], str(row["confidence"])) for row in reported]


def test_the_copied_value_is_no_rebalance_and_stays_go_on() -> None:
    group = converted()
    assert all(not group.context.rows.of[table.name] for table in TABLES)
    assert states(group) == [("Stable", 10 * SECOND, None, "certain")]
    assert {each: of.from_time for each, of in group.ledger.members.items()} == {"a": SECOND, "b": 10 * SECOND}
    stays = sorted((sorted(of.tp), of.member_id, of.from_time) for of in group.ledger.stretches())
    assert stays == [([0], "a", SECOND), ([1], "a", 10 * SECOND)]


def test_a_member_that_went_with_the_conversion_makes_the_others_join_at_once() -> None:
    group = converted(is_rebalancing=True)
    next_value(group, 12, value(6, member("a", 0, 1, claimed=(0, 1)), member("b"), state_time=11 * SECOND))
    assert states(group)[0] == ("PreparingRebalance", 10 * SECOND, 11 * SECOND, "likely")


def test_the_next_rebalance_comes_of_the_migration_and_its_claims_keep_stays_of_the_other_protocol() -> None:
    group = converted()
    next_value(group, 12, value(6, member("a", 0, claimed=(0, 1)), member("b"), state_time=11 * SECOND))
    (row,) = named_rows(group.context.rows, "rebalances")
    assert (row["trigger"], row["from_generation"], row["num_withheld"]) == ("protocol_migration", 5, 1)
    stays = sorted((sorted(of.tp), of.phase, of.from_time) for of in group.ledger.stretches())
    assert stays == [([0], "assigned", SECOND), ([1], "revoking", 12 * SECOND)]


def test_a_static_swap_between_changes_nothing_about_that() -> None:
    group = converted()
    static = value(5, member("a", 0, 1)._replace(group_instance_id="i"), member("b"))
    group.now = replace(group.now, value=static)
    next_value(group, 11, value(5, member("z", 0, 1)._replace(group_instance_id="i"), member("b")))
    assert not group.context.rows.of["rebalances"]
    next_value(group, 12, value(6, member("z", 0, 1, claimed=(0, 1)), member("b"), state_time=11 * SECOND))
    (row,) = named_rows(group.context.rows, "rebalances")
    assert row["trigger"] == "protocol_migration"


def test_the_rebalance_after_that_is_an_ordinary_one() -> None:
    group = converted()
    for offset, generation in ((12, 6), (14, 7)):
        again = (member("a", 0, 1, claimed=(0, 1)), member("b"))
        next_value(group, offset, value(generation, *again, state_time=(offset - 1) * SECOND))
    rows = named_rows(group.context.rows, "rebalances")
    assert [row["trigger"] for row in rows] == ["protocol_migration", "leader_rejoined"]
