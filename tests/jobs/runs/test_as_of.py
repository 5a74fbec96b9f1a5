"""Which as-of times a warehouse can answer, of one that is made by hand."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.output.failure import Failure
from jobs.runs.as_of import check_as_of, known_span
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from tests.make.tables import make

FIRST = datetime(2026, 11, 21, 3, tzinfo=UTC)
# The newest of what is known is a snapshot, as when groups commit nothing any more.
RECORDS_END, SNAPSHOT = FIRST + timedelta(hours=1), FIRST + timedelta(hours=2)
# By `date --utc --date=2026-11-21T03:00Z +%s`.
FIRST_MS = 1_795_230_000_000
HOUR_MS = 3_600_000


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    rows = [{"cluster": "a", "from_time": FIRST, "to_time": RECORDS_END}]
    return make(
        tmp_path / "w", {"history_coverage": rows, "topic_snapshots": [{"cluster": "a", "captured_time": SNAPSHOT}]}
    )


def test_the_span_begins_with_the_first_record_and_ends_with_the_newest_record_or_snapshot(
    warehouse: Warehouse,
) -> None:
    assert known_span(warehouse, "a") == (FIRST, SNAPSHOT)
    assert known_span(warehouse, "b") is None


@pytest.mark.parametrize("as_of_ms", [FIRST_MS, FIRST_MS + 2 * HOUR_MS, FIRST_MS + 3 * HOUR_MS])
def test_a_time_from_the_first_record_until_now_is_answered(warehouse: Warehouse, as_of_ms: int) -> None:
    check_as_of(warehouse, "a", as_of_ms, started_ms=FIRST_MS + 3 * HOUR_MS)


@pytest.mark.parametrize(
    ("as_of_ms", "line"),
    [
        (
            FIRST_MS - 1,
            "--as-of 2026-11-21T02:59:59.999Z: is before the first record and snapshot of cluster a; "
            "give 2026-11-21T03:00:00.000Z or a later time",
        ),
        (
            FIRST_MS + 2 * HOUR_MS + 1,
            "--as-of 2026-11-21T05:00:00.001Z: is in the future; give a time up to 2026-11-21T05:00:00.000Z",
        ),
    ],
)
def test_a_time_outside_is_refused_with_the_nearest_that_is_not(warehouse: Warehouse, as_of_ms: int, line: str) -> None:
    with pytest.raises(Failure) as refused:
        check_as_of(warehouse, "a", as_of_ms, started_ms=FIRST_MS)
    assert (refused.value.code, str(refused.value)) == (ExitCode.USAGE, line)


def test_what_is_known_is_answered_by_a_machine_whose_clock_is_slow(warehouse: Warehouse) -> None:
    check_as_of(warehouse, "a", FIRST_MS + 2 * HOUR_MS, started_ms=FIRST_MS)


def test_of_a_cluster_without_records_nothing_is_refused(warehouse: Warehouse) -> None:
    check_as_of(warehouse, "b", 0, started_ms=0)
