"""One function for each table of a replay, which makes its rows. Groups of all types write to the same tables."""

from schemas.tables import history
from schemas.tables.state import replayed_log
from udfs.groups.history.rows import row_maker

GROUP_STATE_INTERVAL = row_maker(history.GROUP_STATE_INTERVALS)
MEMBERSHIP_INTERVAL = row_maker(history.MEMBERSHIP_INTERVALS)
OWNERSHIP_INTERVAL = row_maker(history.OWNERSHIP_INTERVALS)
REBALANCE = row_maker(history.REBALANCES)
GENERATION_MEMBER = row_maker(history.GENERATION_MEMBERS)
PARTITION_MOVE = row_maker(history.PARTITION_MOVES)
READING_END = row_maker(replayed_log.READING_ENDS)
REPLAY_ANOMALY = row_maker(history.REPLAY_ANOMALIES)
