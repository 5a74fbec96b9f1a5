"""Which topics the records of groups name, by name or by id. Their assignments depend on what is known of these
topics."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

# Paths to names and ids within the columns of decoded tables.
NAMES = {
    "classic_group_metadata": (
        ("members", "subscription", "topics"),
        ("members", "subscription", "owned_partitions", "topic"),
        ("members", "assignment", "partitions", "topic"),
    ),
    "group_member_metadata": (("subscribed_topic_names",),),
    "group_partition_metadata": (("topics", "topic_name"),),
    "group_regular_expressions": (("topics",),),
    "streams_group_topologies": (
        ("subtopologies", "source_topics"),
        ("subtopologies", "repartition_source_topics", "name"),
    ),
}
IDS = {
    "target_assignment_members": (("topic_partitions", "topic_id"),),
    "current_member_assignments": (
        ("assigned_partitions", "topic_id"),
        ("partitions_pending_revocation", "topic_id"),
    ),
    "group_partition_metadata": (("topics", "topic_id"),),
}

Paths = Mapping[str, tuple[tuple[str, ...], ...]]


def topic_names(tables: Mapping[str, pa.Table]) -> set[str]:
    return set(values(tables, NAMES))


def topic_ids(tables: Mapping[str, pa.Table]) -> set[str]:
    return set(values(tables, IDS))


def values(tables: Mapping[str, pa.Table], paths: Paths) -> Iterator[str]:
    for name, rows in tables.items():
        for first, *rest in paths.get(name, ()):
            for chunk in rows.column(first).chunks:
                leaf = leaves(chunk, rest).unique()
                yield from (value for value in leaf.to_pylist() if value is not None)


def leaves(values: pa.Array, path: list[str]) -> pa.Array:
    """The values at the end of the path, through nested lists and structs."""
    while pa.types.is_list(values.type):
        values = values.flatten()
    if not path:
        return values
    # Not `field`, which also returns values inside structs that are NULL.
    return leaves(values.flatten()[values.type.get_field_index(path[0])], path[1:])
