"""The view v_expiry_forecast: offsets that expire, the next ones first."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import RANK, column_list, seconds_between

COLUMNS = (
    TABLES["expiry_forecast"].column("cluster"),
    RANK,
    *map(
        TABLES["expiry_forecast"].column, ("group_id", "group_type", "topic", "topic_id", "partition", "expires_time")
    ),
    Column(
        "hours_left",
        Type.DOUBLE,
        "Hours from as_of_time to expires_time; negative: the coordinator's next check deletes the offset.",
    ),
    *map(
        TABLES["expiry_forecast"].column,
        ("rule", "base_time", "settings_source", "committed_offset", "messages_at_risk"),
    ),
    TABLES["expiry_forecast"].column("blocked_by_transaction"),
    *GROUPS["EVIDENCE"],
    *GROUPS["AS_OF_TIME"],
)
READS = ("expiry_forecast",)
SQL = f"""\
WITH ranked AS (
  SELECT forecast.*, CAST({seconds_between("as_of_time", "expires_time")} AS DOUBLE) / 3600 AS hours_left,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY blocked_by_transaction, expires_time NULLS LAST,
      messages_at_risk DESC NULLS LAST, group_id, topic NULLS LAST, topic_id NULLS LAST, partition) AS BIGINT) AS rank
  FROM expiry_forecast AS forecast
  WHERE rule <> 'never'
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""
