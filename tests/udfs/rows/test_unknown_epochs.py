"""Rows without a leader epoch beside rows with one: which of them are of one record."""

import numpy as np
import pytest

from schemas.tables import SUBJECTS, TABLES
from tests.builders.tables.random_rows import KEY, Row, changes, row_of, tables_of
from tests.oracles.log.merged_copies import OF_BOTH, OF_REJECTED, OF_THE_COPY, PRODUCERS, REJECTED
from udfs.rows.merge_copies import merge

DECODED = [table.name for table in SUBJECTS["decoded"] if table.name != REJECTED]


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", [*DECODED, REJECTED])
def test_a_row_without_an_epoch_is_the_one_that_equals_it(rng: np.random.Generator, name: str) -> None:
    """Any difference makes it a record of its own, which the log does not contradict: the other may be truncated."""
    right = row_of(rng, TABLES[name], 5, 2)
    of_record = OF_REJECTED if name == REJECTED else [column.name for column in TABLES[name].columns]
    for column in TABLES[name].columns:
        if column.name in KEY or (name == REJECTED and column.name == "part"):
            continue
        for other in changes(rng, column.type, right[column.name]):
            wrong = right | {column.name: other, "partition_leader_epoch": None}
            is_own = column.name in {*of_record, *PRODUCERS} - {*OF_THE_COPY}
            is_own &= (column.name, other) != ("is_transactional", None)
            check_own(name, right, wrong, is_own=is_own, about=f"{column.name} {other}")


def check_own(name: str, right: Row, unknown: Row, *, is_own: bool, about: str) -> None:
    after = merge(tables_of([(name, right)]), [tables_of([(name, unknown)])])
    assert (list(after.new), after.num_known) == (([name], 0) if is_own else ([], 1)), about
    before = merge(tables_of([(name, unknown)]), [tables_of([(name, right)])])
    assert (list(before.new), before.num_known) == ([name], 0 if is_own else 1), about
    gone = (before.replaced.tolist(), before.retracted)
    assert gone == (([], []) if is_own else ([], [(5, None)]) if name == REJECTED else ([5], [])), about


def test_of_records_of_several_leaders_it_is_the_equal_one(rng: np.random.Generator) -> None:
    name = DECODED[0]
    leaders = [row_of(rng, TABLES[name], 5, epoch) for epoch in range(3)]
    for epoch, row in enumerate(leaders):
        unknown = row | {"partition_leader_epoch": None}
        for known in ([*leaders[:epoch], *leaders[epoch + 1 :]], leaders):
            merged = merge(tables_of([(name, each) for each in known]), [tables_of([(name, unknown)])])
            assert bool(merged.new) == (row not in known)
        merged = merge(tables_of([(name, unknown)]), [tables_of([(name, each) for each in leaders])])
        assert (merged.replaced.tolist(), merged.num_decoded_again, merged.num_known) == ([5], 1, 1)
    # Of two that are equal, the one with the higher epoch.
    same = leaders[0] | {"partition_leader_epoch": 7}
    held = [(name, leaders[0] | {"partition_leader_epoch": epoch}) for epoch in (None, 0)]
    merged = merge(tables_of(held), [tables_of([(name, same)])])
    assert (merged.replaced.tolist(), merged.num_decoded_again, merged.new[name].num_rows) == ([5], 1, 1)


def test_of_a_record_that_an_older_release_stored_twice_one_row_goes(rng: np.random.Generator) -> None:
    for name in (DECODED[0], REJECTED):
        known = row_of(rng, TABLES[name], 5, 2)
        held = [(name, known), (name, known | {"partition_leader_epoch": None})]
        merged = merge(tables_of(held), [tables_of(held[:1])])
        assert (merged.new, merged.num_known, merged.num_decoded_again) == ({}, 1, 0)
        assert (merged.replaced.tolist(), merged.retracted) == (([], [(5, None)]) if name == REJECTED else ([5], []))


def test_what_is_known_of_producers_stays(rng: np.random.Generator) -> None:
    """An archive may have producers and lack leader epochs, or the other way round."""
    name = DECODED[0]
    row = row_of(rng, TABLES[name], 5, 2)
    without_epoch, without_producers = row | {"partition_leader_epoch": None}, row | dict.fromkeys(PRODUCERS)
    check_own(name, without_producers, without_epoch, is_own=True, about="would be lost")
    check_own(name, row, without_epoch | dict.fromkeys(PRODUCERS), is_own=False, about="stay")


def test_a_rejected_record_without_an_epoch_goes_when_its_record_is_decoded(rng: np.random.Generator) -> None:
    name = DECODED[0]
    decoded = row_of(rng, TABLES[name], 5, 2)
    rejected = row_of(rng, TABLES[REJECTED], 5, None) | {column: decoded[column] for column in (*OF_BOTH, *PRODUCERS)}
    for column in (None, *OF_BOTH):
        unknown = dict(rejected)
        if column is not None:
            unknown[column] = next(changes(rng, TABLES[REJECTED].column(column).type, rejected[column]))
        merged = merge(tables_of([(REJECTED, unknown)]), [tables_of([(name, decoded)])])
        assert (merged.retracted, merged.num_known) == ([(5, None)] if column is None else [], 0)
        assert (merged.num_decoded_again, merged.new[name].num_rows) == (0, 1)
        merged = merge(tables_of([(name, decoded)]), [tables_of([(REJECTED, unknown)])])
        assert (list(merged.new), merged.num_known) == (([], 1) if column is None else ([REJECTED], 0))


def test_a_rejected_record_with_an_epoch_takes_the_place_of_no_decoded_one(rng: np.random.Generator) -> None:
    """Decoded later it will have the epoch, so both stay until then."""
    name = DECODED[0]
    decoded = row_of(rng, TABLES[name], 5, None)
    rejected = row_of(rng, TABLES[REJECTED], 5, 2) | {column: decoded[column] for column in (*OF_BOTH, *PRODUCERS)}
    for known, copy in (([(name, decoded)], [(REJECTED, rejected)]), ([(REJECTED, rejected)], [(name, decoded)])):
        merged = merge(tables_of(known), [tables_of(copy)])
        assert ([*merged.new], merged.num_known, merged.retracted, merged.replaced.tolist()) == (
            [copy[0][0]],
            0,
            [],
            [],
        )
