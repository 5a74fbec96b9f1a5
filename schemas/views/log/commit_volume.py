"""The view v_commit_volume: who fills the offsets topic, and what fewer commits would save."""

from schemas.tables import TABLES, Column, Type
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list, seconds_between, total

COLUMNS = (
    *map(TABLES["commit_volume"].column, ("cluster",)),
    RANK,
    *map(TABLES["commit_volume"].column, ("offsets_partition", "group_id")),
    Column("from_time", Type.TIMESTAMP, "The first hour with a commit of the group."),
    Column(
        "to_time",
        Type.TIMESTAMP,
        "The last hour with a commit. Rates are over the time from from_time to the end of this hour, without what "
        "lies before history_since_time or after as_of_time.",
    ),
    Column("num_commits", Type.BIGINT, "Offset commits, one for each partition of a request, without tombstones."),
    Column("num_bytes", Type.BIGINT, "Bytes of the keys and values of these commits, uncompressed."),
    Column("share_of_bytes", Type.DOUBLE, "num_bytes / the bytes of all groups of the cluster."),
    Column("commits_per_s", Type.DOUBLE, "Commits per second; NULL: less than a second is known."),
    Column("bytes_per_day", Type.DOUBLE, "Bytes per 24 hours; NULL: less than a second is known."),
    Column("share_unchanged", Type.DOUBLE, "Share of commits that repeat the previous offset, 0 to 1."),
    Column("peak_per_minute", Type.BIGINT, "Commits in the busiest minute."),
    Column("num_at_5_s", Type.BIGINT, "How many commits there would be if each partition were committed every 5 s."),
    Column("share_saved_at_5_s", Type.DOUBLE, "Share of commits that committing every 5 s would save."),
    Column(
        "bytes_saved_per_day_at_5_s",
        Type.DOUBLE,
        "Bytes per day that this would save, at the mean size of commits; NULL: less than a second is known.",
    ),
    *AS_OF,
)
LENGTH = seconds_between("observed_since_time", "observed_until_time")
READS = ("commit_volume", *CLUSTERS_READ)
SQL = f"""\
WITH {CLUSTERS},
summed AS (
  SELECT cluster, offsets_partition, group_id, min(hour_time) AS from_time, max(hour_time) AS to_time,
    {total("num_commits")} AS num_commits, {total("num_bytes")} AS num_bytes,
    {total("num_unchanged")} AS num_unchanged, max(peak_per_minute) AS peak_per_minute,
    {total("num_at_5_s")} AS num_at_5_s
  FROM commit_volume
  GROUP BY cluster, offsets_partition, group_id
),
-- The first and the last hour may lie in the history only in part. Without a history they count as whole hours.
observed AS (
  SELECT summed.*, as_of_time, history_since_time,
    CASE WHEN history_since_time > from_time THEN history_since_time ELSE from_time END AS observed_since_time,
    CASE WHEN as_of_time < to_time + INTERVAL '1' HOUR THEN as_of_time
      ELSE to_time + INTERVAL '1' HOUR END AS observed_until_time
  FROM summed LEFT JOIN clusters ON clusters.cluster = summed.cluster
),
timed AS (
  SELECT observed.*,
    CASE WHEN {LENGTH} > 0 THEN CAST({LENGTH} AS DOUBLE) END AS length_s,
    CAST(num_commits - num_at_5_s AS DOUBLE) / CAST(NULLIF(num_commits, 0) AS DOUBLE) AS share_saved_at_5_s,
    CAST(sum(num_bytes) OVER (PARTITION BY cluster) AS DOUBLE) AS bytes_of_cluster
  FROM observed
),
ranked AS (
  SELECT timed.*,
    CAST(num_bytes AS DOUBLE) / NULLIF(bytes_of_cluster, 0) AS share_of_bytes,
    CAST(num_commits AS DOUBLE) / length_s AS commits_per_s,
    CAST(num_bytes AS DOUBLE) * 86400 / length_s AS bytes_per_day,
    CAST(num_unchanged AS DOUBLE) / CAST(NULLIF(num_commits, 0) AS DOUBLE) AS share_unchanged,
    CAST(num_bytes AS DOUBLE) * 86400 / length_s * share_saved_at_5_s AS bytes_saved_per_day_at_5_s,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY num_bytes DESC, num_commits DESC, offsets_partition,
      group_id) AS BIGINT) AS rank
  FROM timed
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
