"""Commits that name a time beyond every timestamp at which they expire: they keep their own rule."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.replaying.log.far_expiry import may_name_expiry, with_far_expiry
from tests.builders.generated.topics import written
from tests.builders.logs.by_hand import Event, write_log
from tests.make.log import T0
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

LAST = datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC)
SOON = T0 + 10**9
MOST = 2**63 - 1


def commit(partition: int, expires: int | None) -> Event:
    key = {"group": "g", "topic": "t", "partition": partition}
    value: dict[str, Any] = {"offset": 7, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + 1_000}
    value |= {} if expires is None else {"expire_timestamp": expires}
    return 1, [written(1, key, value, 3 if expires is None else 1)]


def test_a_commit_that_expires_after_the_year_9999_keeps_its_own_time(tmp_path: Path) -> None:
    warehouse = tmp_path / "w"
    times = (MOST, 253_402_300_800_000, SOON, -1, None, -MOST)
    source = write_log(tmp_path / "log", {0: [commit(place, each) for place, each in enumerate(times)]})
    ingest(warehouse, "--source", source)
    replay(warehouse)
    result_of("lag", warehouse)
    found = {row["partition"]: (row["rule"], row["expires_time"]) for row in rows(warehouse, "expiry_forecast")}
    soon = datetime.fromtimestamp(SOON / 1000, UTC)
    assert {place: found[place] for place in (0, 1, 2)} == {
        0: ("own_time", LAST),
        1: ("own_time", LAST),
        2: ("own_time", soon),
    }
    after_commit = datetime.fromtimestamp(T0 / 1000 + 1, UTC) + timedelta(days=7)
    assert found[3] == found[4] == ("simple", after_commit)
    assert found[5] == ("own_time", datetime(1970, 1, 1, tzinfo=UTC))


def test_other_times_out_of_range_change_nothing() -> None:
    far: Any = {"field": "commit_time", "value": MOST}
    expiry = pa.array([None, 5, None], pa.timestamp("us", "UTC"))
    item = pa.list_(pa.struct({"field": pa.string(), "value": pa.int64()}))
    beyond = [None, [far], [far, {"field": "expire_time", "value": MOST}]]
    for some in ([None, None, None], [None, [far], [far]], beyond):
        table = pa.table({"expire_time": expiry, "out_of_range": pa.array(some, item)})
        found = with_far_expiry(table)
        assert found.column_names == ["expire_time"]
        capped = LAST if some is beyond else None
        assert found["expire_time"].to_pylist() == [None, datetime(1970, 1, 1, 0, 0, 0, 5, UTC), capped]


@pytest.mark.parametrize(
    ("versions", "may"), [([3, 3, None], False), ([0, 3], True), ([1], True), ([0], False), ([None], True)]
)
def test_only_row_groups_that_may_have_version_1_are_asked(
    tmp_path: Path, versions: list[int | None], may: bool
) -> None:
    pq.write_table(pa.table({"value_version": pa.array(versions, pa.int32())}), tmp_path / "a.parquet")
    assert may_name_expiry(pq.read_metadata(tmp_path / "a.parquet").row_group(0)) is may
