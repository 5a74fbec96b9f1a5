"""The view partition_coverage: which partitions of a topic each group reads, and which it leaves out."""

from schemas.tables import GROUPS, Column, ListOf, Type
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, ENDS, MEMBERS, RANK, column_list, how_many
from schemas.words.records import INTERNAL_TOPICS

# A record may name any number. No cluster can hold more partitions.
MAY_EXIST = "partition >= 0 AND partition < 20000000"
COLUMNS = (
    *GROUPS["CLUSTER"],
    RANK,
    Column("topic", Type.STRING, "The topic."),
    Column(
        "group_id",
        Type.STRING,
        "A group that has committed offsets for the topic, owns partitions of it, or has a member that subscribes to "
        "it; NULL: no group does.",
    ),
    Column(
        "num_partitions",
        Type.BIGINT,
        "Partitions of the topic; NULL: no snapshot has the topic, so the lists may lack partitions.",
    ),
    Column(
        "num_committed",
        Type.BIGINT,
        "Partitions for which the group has a committed offset. Here and in the lists, numbers in records that no "
        "partition can have do not count: below 0, or from 20,000,000 on.",
    ),
    Column("num_owned", Type.BIGINT, "Partitions that members of the group own."),
    Column("uncommitted", ListOf(Type.INT), "Partitions without a committed offset, ascending; NULL: none."),
    Column("unowned", ListOf(Type.INT), "Partitions without an owner, ascending; NULL: none."),
    *AS_OF,
)
READS = ("offset_history", "ownership_intervals", "generation_members", "topics", *CLUSTERS_READ)


def where(condition: str) -> str:
    """Partitions for which it holds, in order; NULL where there is none."""
    values = f"array_sort(array_agg(partition) FILTER (WHERE {condition}))"
    return f"CASE WHEN {how_many(condition)} > 0 THEN {values} END"


SQL = f"""\
WITH {CLUSTERS},
{ENDS},
captured AS (
  SELECT DISTINCT ends.cluster, ends.topic, ends.partition
  FROM ends
  JOIN topics AS known ON known.cluster = ends.cluster AND known.topic = ends.topic AND known.to_time IS NULL
  WHERE ends.topic NOT IN ({", ".join(f"'{each}'" for each in INTERNAL_TOPICS)})
),
committed AS (
  SELECT DISTINCT cluster, topic, partition, group_id FROM offset_history WHERE to_offset IS NULL
),
owned AS (
  SELECT DISTINCT cluster, topic, partition, group_id
  FROM ownership_intervals
  WHERE to_offset IS NULL AND topic IS NOT NULL
),
{MEMBERS},
names AS (
  SELECT DISTINCT cluster, topic FROM captured
),
readers AS (
  SELECT cluster, topic, group_id FROM committed
  UNION
  SELECT cluster, topic, group_id FROM owned
  UNION
  SELECT members.cluster, names.topic, members.group_id
  FROM members
  JOIN names ON names.cluster = members.cluster AND array_position(subscribed_topics, names.topic) > 0
),
partitions AS (
  SELECT cluster, topic, partition FROM captured
  UNION
  SELECT cluster, topic, partition FROM committed WHERE {MAY_EXIST}
  UNION
  SELECT cluster, topic, partition FROM owned WHERE {MAY_EXIST}
),
sizes AS (
  SELECT cluster, topic, count(*) AS num_partitions FROM captured GROUP BY cluster, topic
),
joined AS (
  SELECT partitions.cluster, partitions.topic, readers.group_id, partitions.partition,
    committed.group_id IS NOT NULL AS has_commit, owned.group_id IS NOT NULL AS has_owner
  FROM partitions
  LEFT JOIN readers ON readers.cluster = partitions.cluster AND readers.topic = partitions.topic
  LEFT JOIN committed ON committed.cluster = partitions.cluster AND committed.topic = partitions.topic
    AND committed.partition = partitions.partition AND committed.group_id = readers.group_id
  LEFT JOIN owned ON owned.cluster = partitions.cluster AND owned.topic = partitions.topic
    AND owned.partition = partitions.partition AND owned.group_id = readers.group_id
),
counted AS (
  SELECT cluster, topic, group_id, {how_many("has_commit")} AS num_committed, {how_many("has_owner")} AS num_owned,
    {how_many("NOT has_commit")} AS num_uncommitted, {where("NOT has_commit")} AS uncommitted,
    {where("NOT has_owner")} AS unowned
  FROM joined
  GROUP BY cluster, topic, group_id
),
ranked AS (
  SELECT counted.*, num_partitions, as_of_time, history_since_time,
    CAST(row_number() OVER (PARTITION BY counted.cluster ORDER BY num_uncommitted DESC, counted.topic,
      group_id NULLS LAST) AS BIGINT) AS rank
  FROM counted
  LEFT JOIN clusters ON clusters.cluster = counted.cluster
  LEFT JOIN sizes ON sizes.cluster = counted.cluster AND sizes.topic = counted.topic
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
