"""The fold over many groups: chunks, holes, impossible records, and from where to where a group is known."""

import json

from schemas.words.records import GroupType
from tests.builders.groups.classic_log import Row, created, member, replayed, tombstone, value
from tests.builders.groups.named_rows import named_rows
from udfs.groups import fold as folding
from udfs.groups.fold import Fold
from udfs.groups.history.ledger import Ledger
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.classic_columns import TYPE
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.group import Context, Group
from udfs.groups.states.modern import Modern
from udfs.topics.partition_codes import TopicCodes

EMPTY = ClassicValue("consumer", 1, None, None, None, ())


def record(offset: int, content: ClassicValue | None = EMPTY) -> Record:
    return Record(offset, offset * 1000, offset, 0, TYPE, None, content)


def new_fold(states: dict[str, str] | None = None) -> Fold:
    return Fold(Context(TopicCodes()), states or {})


def test_an_operation_that_a_chunk_cuts_is_one() -> None:
    first = record(1)._replace(batch=1, time=5)
    last = record(2, EMPTY._replace(generation=2))._replace(batch=1, time=5)
    fold = new_fold()
    fold.take([("g", first)])
    fold.take([("g", last)])
    fold.finish(RowsByTable())
    assert [row["assignment_offset"] for row in named_rows(fold.context.rows, "rebalances")] == [2]


def test_a_group_is_known_from_its_value_to_its_tombstone_and_again() -> None:
    fold = new_fold()
    fold.take([("g", record(1)), ("g", record(3, None)), ("g", record(7))])
    fold.finish(RowsByTable())
    assert fold.existence == {"g": [(Moment(1, 1000), Moment(3, 3000)), (Moment(7, 7000), None)]}


def test_what_is_known_of_a_group_goes_on_over_runs_and_does_not_touch_it() -> None:
    fold = new_fold()
    fold.take([("g", record(1)), ("gone", record(2)), ("gone", record(3, None))])
    states = fold.finish(RowsByTable())
    after = new_fold(states)
    assert after.existence == {"g": [(Moment(1, 1000), None)], "gone": [(Moment(2, 2000), Moment(3, 3000))]}
    assert after.finish(RowsByTable()) == {}
    after = new_fold(states)
    after.take([("g", record(9, None))])
    assert set(after.finish(RowsByTable())) == {"g"}
    assert after.existence["g"] == [(Moment(1, 1000), Moment(9, 9000))]


def test_a_hole_ends_every_group_that_has_a_state() -> None:
    fold = new_fold()
    fold.take([("g", record(1))])
    after = new_fold(fold.finish(RowsByTable()))
    after.hole(20, 30_000)
    still = RowsByTable()
    states = after.finish(still)
    assert json.loads(states["g"])["kind"] is None
    assert after.existence["g"] == [(Moment(1, 1000), Moment(20, 30_000))]
    assert [row["to_time"] for row in named_rows(after.context.rows, "group_state_intervals")] == [30_000]
    assert not any(still.of.values())


def test_history_time_outlives_a_group() -> None:
    fold = new_fold()
    fold.take([("g", record(9)), ("g", record(10, None))])
    after = new_fold(fold.finish(RowsByTable()))
    after.take([("g", record(11)._replace(time=100))])
    still = RowsByTable()
    after.finish(still)
    assert named_rows(still, "group_state_intervals")[0]["from_time"] == 10_000


def test_names_of_any_kind_survive_a_cut() -> None:
    strange: list[Row] = [
        created(0, 0, group='"\\\n\u2028'),
        value(1, 3100, 1, [member('a"\u0000', "t0")], state=3000, group='"\\\n\u2028'),
        tombstone(2, 5000, group='"\\\n\u2028'),
    ]
    assert replayed(strange, cuts=[1, 2]).rows == replayed(strange).rows


def test_a_value_for_a_group_of_another_type_replaces_it_and_is_reported() -> None:
    context = Context(TopicCodes())
    group = Group("g", context, Ledger("g", context.rows), now=Modern(GroupType.CONSUMER))
    folding.classic_groups.take(group, record(3))
    assert isinstance(group.now, Classic)
    (finding,) = named_rows(context.rows, "replay_anomalies")
    assert (finding["kind"], finding["severity"]) == ("type_conflict", "warning")


def test_partitions_of_a_group_with_many_members_find_who_gets_them() -> None:
    fold = new_fold()
    fold.context.topics.of_name("t")
    for generation, places in ((1, range(300)), (2, range(299, -1, -1))):
        members = tuple(
            ClassicMember(f"m{n}", None, "c", "/h", 1, 1, ("t",), frozenset(), 1, None, frozenset({place}))
            for n, place in enumerate(places)
        )
        fold.take([("g", record(generation, ClassicValue("consumer", generation, "range", "m0", None, members)))])
    fold.finish(RowsByTable())
    rows = [row for row in named_rows(fold.context.rows, "partition_moves") if row["assignment_offset"] == 2]
    moves = {(row["from_member_id"], row["to_member_id"]) for row in rows}
    assert moves == {(f"m{n}", f"m{299 - n}") for n in range(300)}
