"""Small tables that each replay writes completely, from what is known of all offsets partitions."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from jobs.replaying.task.replay_messages import Progress
from jobs.replaying.task.warehouse_state import PROGRESS
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.log.coverage import coverage_rows
from udfs.log.leader_epochs import epoch_rows
from udfs.topics.names import Sighting, Snapshots, topic_rows


def whole_tables(
    cluster: str, progress: Iterable[Progress], snapshots: Snapshots, inferred: Iterable[Sighting] = ()
) -> dict[str, pa.Table]:
    """`inferred`: topics whose names follow from what groups were assigned."""
    known = sorted(progress, key=lambda each: each.partition)
    rows: dict[str, list[dict[str, Any]]] = {
        PROGRESS: [each.row(cluster) for each in known],
        "history_coverage": [
            row for each in known for row in coverage_rows(cluster, each.partition, each.coverage.stretches)
        ],
        "coordinator_epochs": [
            row for each in known for row in epoch_rows(cluster, each.partition, each.epochs.of.items())
        ],
        "topics": topic_rows(
            cluster, [*(sighting for each in known for sighting in each.sightings), *inferred], snapshots
        ),
    }
    return {name: pa.Table.from_pylist(of_table, table_schema(TABLES[name])) for name, of_table in rows.items()}
