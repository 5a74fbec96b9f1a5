"""The view v_transactions_open: transactions whose marker has not come, and the groups whose offsets wait for it."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list, seconds_between

OWN = ("producer_id", "producer_epoch", "first_offset", "first_time", "groups", "num_commits")
COLUMNS = (
    TABLES["transactions"].column("cluster"),
    RANK,
    *map(TABLES["transactions"].column, OWN),
    Column(
        "age_ms",
        Type.BIGINT,
        "Time from the transaction's first record to as_of_time, in milliseconds (whole seconds only); NULL: the "
        "records have no time.",
    ),
    *GROUPS["EVIDENCE"],
    *AS_OF,
)
READS = ("transactions", *CLUSTERS_READ)
SQL = f"""\
WITH {CLUSTERS},
aged AS (
  SELECT begun.*, as_of_time, history_since_time, 1000 * {seconds_between("first_time", "as_of_time")} AS age_ms
  FROM transactions AS begun LEFT JOIN clusters ON clusters.cluster = begun.cluster
  WHERE outcome = 'open'
),
ranked AS (
  SELECT aged.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY age_ms DESC NULLS LAST, evidence_partition,
    first_offset, producer_id) AS BIGINT) AS rank
  FROM aged
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
