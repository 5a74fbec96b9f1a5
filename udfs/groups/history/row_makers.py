"""One function for each table of a replay, which makes its rows. Groups of all types write to the same tables."""

from schemas.tables import READING_ENDS, TABLES
from schemas.words.history import Confidence
from udfs.groups.history.intervals import MemberStretch, OwnerStretch, StateStretch
from udfs.groups.history.member_sets import MemberSets
from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.history.rows import row_maker

CERTAIN = Confidence.CERTAIN

GROUP_STATE_INTERVAL = row_maker(TABLES["group_state_intervals"], StateStretch)
MEMBERSHIP_INTERVAL = row_maker(TABLES["membership_intervals"], MemberStretch)
OWNERSHIP_INTERVAL = row_maker(
    TABLES["ownership_intervals"], OwnerStretch, confidence=CERTAIN,
    # Added when commits are linked.
    reader_certain_until_time=None, start_offset=None, end_offset=None,
)  # fmt: skip
REBALANCE = row_maker(TABLES["rebalances"])
GENERATION_MEMBER = row_maker(TABLES["generation_members"], MemberSets, is_provisional=False, confidence=CERTAIN)
PARTITION_MOVE = row_maker(
    TABLES["partition_moves"], confidence=CERTAIN,
    # Added when commits are linked.
    commit_gap_ms=None, unread_low_ms=None, unread_high_ms=None, unread_basis=None,
)  # fmt: skip
READING_END = row_maker(READING_ENDS, ReadingEnd)
REPLAY_ANOMALY = row_maker(TABLES["replay_anomalies"])
