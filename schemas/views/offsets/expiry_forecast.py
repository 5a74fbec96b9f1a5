"""The view v_expiry_forecast: offsets that expire, the next ones first."""

from schemas.declarations.columns import Column, Type
from schemas.tables.events import EXPIRY_FORECAST
from schemas.tables.history_columns import EVIDENCE
from schemas.tables.lag import AS_OF_TIME
from schemas.views.parts import RANK, column_list, seconds_between

COLUMNS = (
    EXPIRY_FORECAST.column("cluster"),
    RANK,
    *map(EXPIRY_FORECAST.column, ("group_id", "group_type", "topic", "topic_id", "partition", "expires_time")),
    Column(
        "hours_left",
        Type.DOUBLE,
        "Hours from as_of_time to expires_time; negative: the coordinator's next check deletes the offset.",
    ),
    *map(EXPIRY_FORECAST.column, ("rule", "base_time", "settings_source", "committed_offset", "messages_at_risk")),
    EXPIRY_FORECAST.column("blocked_by_transaction"),
    *EVIDENCE,
    AS_OF_TIME,
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
