"""The merge of copies, held against a slow one on random rows, and by itself on each column."""

import numpy as np
import pytest

from schemas.tables import SUBJECTS, TABLES
from tests.builders.tables.random_rows import KEY, Row, changes, row_of, tables_of, value_of
from tests.oracles.log.merged_copies import (
    OF_BOTH,
    OF_REJECTED,
    PRODUCERS,
    REJECTED,
    Differs,
    Named,
    slow_merge,
)
from udfs.rows.merge_copies import Contradiction, MergedRows, merge

DECODED = [table.name for table in SUBJECTS["decoded"] if table.name != REJECTED]
OF_THE_COPY = {"run_id", "batch_first_offset", "batch_bytes"}


# Random rows


def plain(rows: list[Named]) -> list[Named]:
    """As they come out of Arrow: times as such."""
    return [(name, dict(row)) for name, table in tables_of(rows).items() for row in table.to_pylist()]


Truth = dict[tuple[int, int | None], tuple[Named, Row]]


def truth_of(rng: np.random.Generator, names: list[str]) -> Truth:
    """Records, each decoded and rejected, by offset and leader epoch. Some offsets have one without an epoch only."""
    truth: Truth = {}
    for offset in np.unique(rng.integers(0, 40, 25)).tolist():
        epochs = (
            [-1] if rng.random() < 0.2 else np.unique(rng.choice([0, 1], rng.integers(1, 3), p=[0.6, 0.4])).tolist()
        )
        for epoch in epochs:
            key = offset, None if epoch < 0 else epoch
            name = str(rng.choice(names))
            row = row_of(rng, TABLES[name], *key)
            rejected = row_of(rng, TABLES[REJECTED], *key) | {column: row[column] for column in (*OF_BOTH, *PRODUCERS)}
            truth[key] = (name, row), rejected
    return truth


def copy_of(rng: np.random.Generator, truth: Truth, share_wrong: float) -> list[Named]:
    """Some of the records, each once, as this copy and the release that read it tell them."""
    found: list[Named] = []
    for (name, row), rejected in truth.values():
        if rng.random() < 0.4:
            continue
        # Unknown types are rejected by every copy, others by a release that did not know them.
        is_rejected = rng.random() < (0.9 if name == DECODED[-1] else 0.1)
        table, of_copy = (REJECTED, dict(rejected)) if is_rejected else (name, dict(row))
        of_copy["run_id"] = f"run-{rng.integers(0, 9)}"
        of_copy["batch_first_offset"] = None if rng.random() < 0.2 else int(rng.integers(0, 9))
        of_copy["batch_bytes"] = None if rng.random() < 0.2 else int(rng.integers(61, 99))
        if is_rejected:
            of_copy["reason"], of_copy["detail"] = f"reason-{rng.integers(0, 2)}", None
        if rng.random() < 0.2:
            of_copy |= dict.fromkeys(PRODUCERS)
        # As an archive without epochs tells it: of two leaders' records the one that counts.
        epochs = [epoch for epoch in (None, 0, 1) if (row["record_offset"], epoch) in truth]
        if rng.random() < 0.2 and row["partition_leader_epoch"] == epochs[-1]:
            of_copy["partition_leader_epoch"] = None
        if rng.random() < share_wrong:
            column = str(rng.choice([each for each in of_copy if each not in KEY | OF_THE_COPY | {*PRODUCERS}]))
            of_copy[column] = value_of(rng, TABLES[table].column(column).type)
        found.append((table, of_copy))
    return sorted(found, key=lambda each: place(each[1]))


def place(row: Row) -> tuple[int, int]:
    epoch = row["partition_leader_epoch"]
    return row["record_offset"], -1 if epoch is None else epoch


@pytest.mark.parametrize("share_wrong", [0.0, 0.02])
def test_copies_are_merged_as_the_slow_way_does(rng: np.random.Generator, share_wrong: float) -> None:
    num_raised = num_new = num_replaced = 0
    for _ in range(30):
        truth = truth_of(rng, [str(name) for name in rng.choice(DECODED, 3)])
        sources = [copy_of(rng, truth, share_wrong) for _ in range(rng.integers(1, 5))]
        if share_wrong and rng.random() < 0.3:
            # One copy may hold a record twice, as archives do.
            sources[-1] += sources[-1][: rng.integers(0, 3)]
        known, copies = sources[0] if rng.random() < 0.7 else [], sources[1:]
        try:
            expected = slow_merge(plain(known), [plain(copy) for copy in copies])
        except Differs as differs:
            num_raised += 1
            with pytest.raises(Contradiction) as raised:
                merge(tables_of(known), [tables_of(copy) for copy in copies])
            assert any(names(str(raised.value), *each) for each in differs.differences), (
                str(raised.value),
                differs.differences,
            )
            continue
        found = merge(tables_of(known), [tables_of(copy) for copy in copies])
        assert {name: ordered(table.to_pylist()) for name, table in found.new.items()} == {
            name: ordered(rows) for name, rows in expected.new.items()
        }
        for table in found.new.values():
            offsets = table.column("record_offset").to_pylist()
            assert offsets == sorted(offsets)
            num_new += len(offsets)
        assert found.num_known == expected.num_known
        assert sorted(set(found.retracted), key=repr) == sorted(expected.retracted, key=repr)
        assert found.replaced.tolist() == sorted(expected.replaced)
        assert again(found) == sorted(name if name == REJECTED else "decoded" for name, _ in expected.again)
        num_replaced += len(expected.again)
        assert found.conflicts == expected.conflicts
    assert num_new > 50
    assert num_replaced
    assert bool(num_raised) == bool(share_wrong)


def again(found: MergedRows) -> list[str]:
    rejected = 0 if found.rejected_again is None else found.rejected_again.num_rows
    return ["decoded"] * found.num_decoded_again + [REJECTED] * rejected


def names(told: str, key: tuple[int, int | None], column: str | None) -> bool:
    offset, epoch = key
    where = f"offset {offset}" + ("" if epoch is None else f" of leader epoch {epoch}")
    if column is None:
        return told.startswith(f"{where}: the record is of ")
    return told.startswith(f"{where}: ") and f".{column} is " in told


def ordered(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=place)


# Each column by itself


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", DECODED)
def test_a_difference_in_any_column_is_a_contradiction(rng: np.random.Generator, name: str) -> None:
    table = TABLES[name]
    right = row_of(rng, table, 5, 2)
    for column in table.columns:
        if column.name in KEY:
            continue
        for other in changes(rng, column.type, right[column.name]):
            wrong = right | {column.name: other}
            is_error = column.name not in OF_THE_COPY and (column.name, other) != ("is_transactional", None)
            found = contradiction(name, right, wrong)
            assert (found is not None) == is_error, (column.name, other)
            if is_error:
                assert f"offset 5 of leader epoch 2: {name}.{column.name} is " in str(found)


def contradiction(name: str, held: Row, found: Row) -> Contradiction | None:
    """Between the warehouse and a copy, which is the one between two copies."""
    results: list[Contradiction | None] = []
    for known, copies in (([(name, held)], [[(name, found)]]), ([], [[(name, held)], [(name, found)]])):
        try:
            merge(tables_of(known), [tables_of(copy) for copy in copies])
            results.append(None)
        except Contradiction as raised:
            results.append(raised)
    assert (results[0] is None) == (results[1] is None)
    return results[0]


def test_rejected_records_differ_in_what_is_of_the_record_alone(rng: np.random.Generator) -> None:
    """Another release may give another reason for the same bytes."""
    right = row_of(rng, TABLES[REJECTED], 5, 2)
    for column in TABLES[REJECTED].columns:
        if column.name in KEY or column.name == "part":
            continue
        for other in changes(rng, column.type, right[column.name]):
            wrong = right | {column.name: other}
            is_of_record = column.name in (*OF_REJECTED, *PRODUCERS)
            is_error = is_of_record and (column.name, other) != ("is_transactional", None)
            assert (contradiction(REJECTED, right, wrong) is not None) == is_error, column.name


def test_records_of_two_kinds_at_one_place_are_a_contradiction(rng: np.random.Generator) -> None:
    rows = [(name, row_of(rng, TABLES[name], 5, None)) for name in DECODED[:2]]
    with pytest.raises(
        Contradiction, match=rf"^offset 5: the record is of {DECODED[1]} in one copy, of {DECODED[0]} in the other$"
    ):
        merge(tables_of(rows[:1]), [tables_of(rows[1:])])


def test_one_copy_without_producers_hides_no_difference_of_others(rng: np.random.Generator) -> None:
    name = DECODED[0]
    mine = [row_of(rng, TABLES[name], offset, 2) for offset in (5, 6)]
    theirs = [mine[0] | dict.fromkeys(PRODUCERS), mine[1] | {"producer_id": 1_000_000}]
    with pytest.raises(Contradiction, match=f"offset 6 of leader epoch 2: {name}.producer_id is 1000000 in one copy, "):
        merge(tables_of([(name, row) for row in mine]), [tables_of([(name, row) for row in theirs])])


def test_nothing_makes_nothing() -> None:
    assert (merge({}, []).new, merge({}, [{}]).num_known) == ({}, 0)
