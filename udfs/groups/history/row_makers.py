"""One function for each table of a replay, which makes its rows. Groups of all types write to the same tables."""

from schemas.tables import history
from schemas.tables.state import replayed_log
from schemas.words.history import Confidence
from udfs.groups.history.intervals import MemberStretch, OwnerStretch, StateStretch
from udfs.groups.history.member_sets import MemberSets
from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.history.rows import row_maker

CERTAIN = Confidence.CERTAIN

GROUP_STATE_INTERVAL = row_maker(history.GROUP_STATE_INTERVALS, StateStretch)
MEMBERSHIP_INTERVAL = row_maker(history.MEMBERSHIP_INTERVALS, MemberStretch)
OWNERSHIP_INTERVAL = row_maker(
    history.OWNERSHIP_INTERVALS, OwnerStretch, confidence=CERTAIN,
    # Added when commits are linked.
    reader_certain_until_time=None, start_offset=None, end_offset=None,
)  # fmt: skip
REBALANCE = row_maker(history.REBALANCES)
GENERATION_MEMBER = row_maker(history.GENERATION_MEMBERS, MemberSets, is_open=False, confidence=CERTAIN)
PARTITION_MOVE = row_maker(
    history.PARTITION_MOVES, confidence=CERTAIN,
    # Added when commits are linked.
    commit_gap_ms=None, unread_low_ms=None, unread_high_ms=None, unread_basis=None,
)  # fmt: skip
READING_END = row_maker(replayed_log.READING_ENDS, ReadingEnd)
REPLAY_ANOMALY = row_maker(history.REPLAY_ANOMALIES)
