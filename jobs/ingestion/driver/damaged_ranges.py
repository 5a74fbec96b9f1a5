"""Offsets of each offsets partition whose bytes are damaged and that no copy has replaced."""

from collections import defaultdict

from jobs.ingestion.driver.state import rows_of_cluster
from jobs.warehouses.warehouse import Warehouse
from udfs.log.damage import Damage, joined_damage
from udfs.rows.merge_copies import REJECTED

COLUMNS = [
    "cluster",
    "offsets_partition",
    "source_file",
    "byte_position",
    "from_record_offset",
    "to_record_offset",
    "num_records",
]


def damaged_ranges(warehouse: Warehouse, cluster: str) -> dict[int, list[Damage]]:
    by_partition: dict[int, list[tuple[str, Damage]]] = defaultdict(list)
    for row in rows_of_cluster(warehouse, REJECTED, COLUMNS, cluster, "byte_position"):
        first, last, number = (row[name] for name in ("from_record_offset", "to_record_offset", "num_records"))
        if row["byte_position"] is None or row["offsets_partition"] is None or first is None or not number:
            continue
        # If nothing follows, as many offsets as it had records.
        last = first + number - 1 if last is None else last
        by_partition[row["offsets_partition"]].append((row["source_file"], Damage(first, last, number)))
    return {partition: joined_damage(ranges) for partition, ranges in by_partition.items()}
