"""What the forecast says of a log equals what a broker's sweep did after it, to the interval of the sweep."""

from collections import defaultdict
from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from schemas.tables import TABLES
from schemas.words.lag import ExpiryRule
from tests.kafka.expiries import RETENTION_MS, SWEEP_MS, expiries_of
from tests.make.tables import filled
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay
from udfs.lag.partition_history import COMMITS, READ, BrokerSettings, PartitionHistory
from udfs.lag.watermarks import Watermarks
from udfs.rules.expiry import expiry_rows

pytestmark = pytest.mark.broker

Key = tuple[str, str, int]
# A sweep on a machine whose cores are all busy with other work.
LATE = timedelta(milliseconds=SWEEP_MS, seconds=5)
SETTINGS = BrokerSettings(offsets_retention_ms=RETENTION_MS, retention_source="settings")


@pytest.fixture(scope="module")
def expiries():
    return expiries_of()


@pytest.fixture(scope="module")
def forecast(expiries, tmp_path_factory):
    warehouse = tmp_path_factory.mktemp("before") / "warehouse"
    ingest(warehouse, "--source", f"segments:{expiries.before}")
    replay(warehouse)
    result = [row for history in histories(warehouse) for row in expiry_rows(history).to_pylist()]
    return {(row["group_id"], row["topic"], row["partition"]): row for row in result}


@pytest.fixture(scope="module")
def deleted(expiries, tmp_path_factory):
    """When the broker wrote the tombstone of each key."""
    warehouse = tmp_path_factory.mktemp("after") / "warehouse"
    ingest(warehouse, "--source", f"segments:{expiries.after}")
    tombstones = [row for row in rows(warehouse, "offset_commits") if row["is_tombstone"]]
    return {(row["group_id"], row["topic"], row["partition"]): row["record_time"] for row in tombstones}


def histories(warehouse):
    tables = {name: filled(TABLES[name], rows(warehouse, name)) for name in (*READ, "offset_commits")}
    as_of = pc.max(tables["history_coverage"]["to_time"]).cast(pa.int64()).as_py()
    for partition in pc.unique(tables["history_coverage"]["offsets_partition"]).to_pylist():
        mine = {name: of_partition(table, partition) for name, table in tables.items()}
        commits = mine.pop("offset_commits").sort_by("record_offset").select(list(COMMITS))
        read = {name: table.select(list(READ[name])) for name, table in mine.items()}
        marks = Watermarks.of(filled(TABLES["topic_snapshots"], []))
        yield PartitionHistory(partition, read, commits, marks, as_of, SETTINGS)


def of_partition(table, partition):
    name = "evidence_partition" if "evidence_partition" in table.column_names else "offsets_partition"
    return table.filter(pc.equal(table[name], partition))


def test_the_rules_are_those_of_what_was_played(forecast):
    result = defaultdict(dict)
    for (group, topic, partition), row in forecast.items():
        result[group][topic, partition] = row["rule"]
    assert result == {
        "emptied": {("orders", 0): ExpiryRule.GROUP_EMPTY, ("orders", 1): ExpiryRule.GROUP_EMPTY},
        "modern-emptied": {("orders", 0): ExpiryRule.NOT_SUBSCRIBED, ("orders", 1): ExpiryRule.NOT_SUBSCRIBED},
        "simple": {("orders", 0): ExpiryRule.SIMPLE},
        # One of them named a time of its own: that of a subscribed topic does not count.
        "stable": {
            ("orders", 0): ExpiryRule.NEVER,
            ("orders", 1): ExpiryRule.NEVER,
            ("payments", 0): ExpiryRule.NOT_SUBSCRIBED,
        },
        "modern": {("orders", 0): ExpiryRule.NEVER, ("payments", 0): ExpiryRule.NOT_SUBSCRIBED},
        "pending": {("orders", 0): ExpiryRule.SIMPLE, ("orders", 1): ExpiryRule.SIMPLE},
        "own-time": {("orders", 0): ExpiryRule.OWN_TIME, ("payments", 0): ExpiryRule.SIMPLE},
    }
    assert [key for key, row in forecast.items() if row["blocked_by_transaction"]] == [("pending", "orders", 1)]


def test_the_sweep_deletes_what_expires_when_it_expires(forecast, deleted):
    expected = {
        key: row["expires_time"]
        for key, row in forecast.items()
        if row["expires_time"] is not None and not row["blocked_by_transaction"]
    }
    assert deleted.keys() == expected.keys()
    for key, expires in expected.items():
        assert expires <= deleted[key] <= expires + LATE, key
