"""Groups with records in several offsets partitions: jobs about the present leave out those of partitions that the
group's coordinator does not read."""

from jobs.warehouses.warehouse import Warehouse


def groups_left_out(warehouse: Warehouse, cluster: str) -> dict[int, frozenset[str]]:
    """By offsets partition."""
    versions = warehouse.versions()
    # Each such group has an anomaly.
    if "replay_anomalies" not in versions:
        return {}
    # Only here: it loads a reader of tables that most runs do without.
    from jobs.answers.coordinators import Coordinators
    from jobs.answers.table_reader import TableReader

    return Coordinators(TableReader(warehouse, versions), cluster).left_out
