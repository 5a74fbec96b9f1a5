"""Logs that contradict themselves end no run, and errors of this program end it."""

import pytest

from schemas.contract.tables import TABLES
from schemas.tables.state.replayed_log import READING_ENDS
from tests.builders.groups.impossible_logs import ImpossibleLog
from tests.builders.groups.modern_log import CODES, GROUP, Log, about, completed, dead, epoch, history, owns, target
from tests.builders.groups.named_rows import named_rows
from udfs.groups import fold as folding
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable, arrow_rows
from udfs.groups.readers.classic_columns import TYPE
from udfs.groups.readers.classic_records import ClassicValue
from udfs.groups.readers.records import ImpossibleLog as Impossible
from udfs.groups.readers.records import Record
from udfs.groups.states.group import Context, Group

LOGS = 150
SOAK_LOGS = 20_000
NOBODY = ClassicValue("consumer", 1, None, None, None, ())


def replay(seed: int) -> RowsByTable:
    """In two runs, with missing records before the end of some logs. All rows must fit into their tables."""
    log = ImpossibleLog(seed)
    records = log.records(log.any_of((3, 8, 20, 60)))
    cut, hole = (log.any_of(range(len(records) * 2)) for _ in range(2))
    context, opened = Context(CODES, holes=log.any_of(((), (-1,)))), RowsByTable()
    fold = Fold(context, {})
    for number, record in enumerate(records):
        if number == cut:
            fold = Fold(context, fold.finish(RowsByTable()))
        fold.take([(GROUP, record)])
        if number == hole:
            fold.hole(record.offset, record.time)
    fold.finish(opened)
    for rows in (context.rows, opened):
        for name, of in rows.of.items():
            arrow_rows({**TABLES, READING_ENDS.name: READING_ENDS}[name], of, CODES, "c", 0)
    return context.rows


def assert_replayed(seeds: range) -> None:
    kinds = set()
    for seed in seeds:
        rows = replay(seed)
        kinds |= {row["kind"] for row in named_rows(rows, "replay_anomalies")}
        assert num_repeated_moves(rows) == 0, seed
    assert {"impossible_order", "type_conflict", "epoch_went_back", "clock_went_back"} <= kinds


def num_repeated_moves(rows: RowsByTable) -> int:
    table = TABLES["partition_moves"]
    keys = arrow_rows(table, rows.of[table.name], CODES, "c", 0).select([*table.key])
    return keys.num_rows - keys.group_by([*table.key]).aggregate([]).num_rows


def test_no_content_of_a_log_ends_the_run() -> None:
    assert_replayed(range(LOGS))


@pytest.mark.soak
def test_no_content_of_many_logs_ends_the_run() -> None:
    assert_replayed(range(LOGS, SOAK_LOGS))


def test_what_a_member_gets_twice_under_one_assignment_is_two_moves() -> None:
    """Seeds with consumer and streams groups."""
    for seed in (224, 282):
        assert num_repeated_moves(replay(seed)) == 0


def classic(log: Log, time_ms: int, value: ClassicValue | None) -> None:
    log.write(time_ms, (TYPE, None, value))


def test_a_tombstone_of_another_type_alone_is_reported_and_leaves_a_classic_group_as_it_is() -> None:
    log = Log()
    classic(log, 0, NOBODY)
    log.write(1_000, dead(8, "a"), dead(3))
    classic(log, 2_000, NOBODY._replace(generation=2))
    result = history(log)
    (row,) = result.rows("replay_anomalies")
    assert (row["kind"], row["severity"], row["record_offset"], row["evidence_first_offset"]) == (
        "impossible_order", "critical", 2, 1,
    )  # fmt: skip
    assert row["message"] == "tombstones of record types 3, 8 for a classic group, which has only type 2"
    assert result.select("group_state_intervals", "generation_or_epoch") == [1, 2]


def test_a_classic_group_that_another_type_replaced_and_deleted_in_one_operation_has_ended() -> None:
    log = Log()
    classic(log, 0, NOBODY)
    log.write(1_000, epoch(2), dead(3))
    result = history(log)
    assert result.select("replay_anomalies", "kind") == ["type_conflict"]
    assert result.select("group_state_intervals", "ended_by", "to_offset", "is_to_exact") == [("deleted", 2, False)]


def test_generations_below_0_leave_the_number_of_rebalances_unknown() -> None:
    log = Log()
    classic(log, 0, NOBODY._replace(generation=-(1 << 31)))
    classic(log, 1_000, NOBODY._replace(generation=(1 << 31) - 1))
    assert history(log).select("rebalances", "unpersisted_rounds")[-1] is None


RECORDS = {
    TYPE: [(TYPE, None, NOBODY)],
    3: [epoch(2)],
    5: [about("a")],
    6: [about("a"), completed(2)],
    7: [about("a"), target("a", 0)],
    8: [about("a"), owns("a", 2, 0)],
}


@pytest.mark.parametrize("record_type", RECORDS)
def test_an_error_of_ours_in_any_handler_ends_the_run(record_type: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Group, __: Record) -> None:
        raise KeyError("no such thing")

    monkeypatch.setitem(folding.HANDLERS, record_type, fail)
    log = Log()
    log.write(0, *RECORDS[record_type])
    with pytest.raises(KeyError, match="no such thing"):
        history(log)


@pytest.mark.parametrize("module", ["classic_groups", "modern_groups", "conversions"])
def test_an_error_of_ours_in_what_follows_from_an_operation_ends_the_run(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("no such thing")

    log = Log()
    if module != "modern_groups":
        classic(log, 0, NOBODY)
    if module != "classic_groups":
        log.write(1_000, epoch(2))
    monkeypatch.setattr(getattr(folding, module), "settle", fail)
    with pytest.raises(KeyError, match="no such thing"):
        history(log)


def test_a_contradiction_in_one_group_ends_neither_the_run_nor_other_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(group: Group, record: Record) -> None:
        if group.group_id == "bad":
            raise Impossible("no coordinator does this")
        folding.classic_groups.take(group, record)

    monkeypatch.setitem(folding.HANDLERS, TYPE, fail)
    fold, still = Fold(Context(CODES), {}), RowsByTable()
    fold.take([(group, Record(at, at, at, 0, TYPE, None, NOBODY)) for at, group in ((4, "bad"), (5, "good"))])
    fold.finish(still)
    (finding,) = named_rows(fold.context.rows, "replay_anomalies")
    names = ("group_id", "kind", "severity", "record_offset", "message")
    assert [finding[name] for name in names] == ["bad", "impossible_order", "critical", 4, "no coordinator does this"]
    assert [row["group_id"] for row in named_rows(still, "group_state_intervals")] == ["good"]
