"""Logs of real brokers as the recomputing of assignments gets them: decoded tables, one offsets partition at a time."""

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from jobs.replaying.log.partition import COLUMNS, GROUP_TABLES
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.releases import COMMON
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic

RACK = COMMON["broker.rack"]
Tables = dict[str, pa.Table]


def partitions_of(log_dir, warehouse):
    command(warehouse, "ingest", "--source", f"segments:{log_dir}")
    tables = {
        name: DeltaTable(warehouse / name).to_pyarrow_table() for name in GROUP_TABLES if (warehouse / name).exists()
    }
    numbers = {number for table in tables.values() for number in table["offsets_partition"].unique().to_pylist()}
    for number in sorted(numbers):
        yield {
            name: table.filter(pc.equal(table["offsets_partition"], number))
            .sort_by("record_offset")
            .select(COLUMNS[name])
            for name, table in tables.items()
        }


def facts_of(rows, time=0):
    """What a snapshot of the broker would say; every replica is in its one rack."""
    topics = [
        Topic(row["topic"], row["num_partitions"], row["topic_id"], ((RACK,),) * row["num_partitions"]) for row in rows
    ]
    return Facts({topic.name: [KnownTopic(topic, time, time)] for topic in topics}, default_assignor="uniform")
