"""Names by what groups were assigned are the same where Spark reads and writes the tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.warehouses.lock import LOCK_FILE
from tests.jobs.ingested import ingest, rows
from tests.jobs.logs_by_hand import Log, target, write_log
from tests.jobs.replayed_logs import HISTORY, STATES, assert_same, replay, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# Which name is whose, only the group of the second log tells; a third one's ids stay unnamed.
LOGS: tuple[Log, ...] = (
    {3: [target("pair", 10, {"orders": 3, "payments": 2})], 4: [target("open", 20, {"refunds": 1}, ["a", "b"])]},
    {5: [target("one", 30, {"orders": 3})]},
)


def test_a_remote_warehouse_names_topics_as_a_local_one_does_also_when_runs_go_on(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """Its records come to it while it is a local one."""
    cluster = tmp_path.name.replace("_", "-")
    spark.conf.set(f"fs.viewfs.mounttable.{cluster}.link./data", tmp_path.as_uri())
    num_named = []
    for number, log in enumerate(LOGS):
        source = write_log(tmp_path / f"log-{number}", log)
        for name in ("local", "w"):
            ingest(tmp_path / name, "--source", source, "--cluster", "c")
        # To Hadoop's file systems the file itself is the lock.
        (tmp_path / "w" / LOCK_FILE).unlink()
        replay(tmp_path / "local")
        replay(tmp_path / "w", "--warehouse", f"viewfs://{cluster}/data/w")
        assert_same(told(tmp_path / "local", (*HISTORY, *STATES)), told(tmp_path / "w", (*HISTORY, *STATES)), "remote")
        num_named.append(sum(row["topic"] is not None for row in rows(tmp_path / "w", "ownership_intervals")))
    # Three of one group and five of the other.
    assert num_named == [0, 8]
