"""The words of lag, verdicts and events, each with what it means."""

from schemas.words.enumerations import Meant


class TimeLagMethod(Meant):
    STREAMS_METADATA = "streams_metadata"
    INTERPOLATED = "interpolated"
    EXTRAPOLATED = "extrapolated"
    NO_LAG = "no_lag"
    NONE = "none"


class LagUnknown(Meant):
    NO_SNAPSHOT = "no_snapshot"
    NO_COMMIT = "no_commit"
    COMMITTED_NEGATIVE = "committed_negative"
    TOPIC_RECREATED = "topic_recreated"
    HISTORY_HOLE = "history_hole"
    CLOCK_WENT_BACK = "clock_went_back"


class LagVerdict(Meant):
    OK = "OK"
    WARN = "WARN"
    STOP = "STOP"
    STALL = "STALL"
    REWIND = "REWIND"
    ERR = "ERR"
    NOTFOUND = "NOTFOUND"
    UNKNOWN = "UNKNOWN"
    DOWN = "DOWN"


# Of a partition or a group, on pages and in lists.
WORST_FIRST = (
    LagVerdict.DOWN, LagVerdict.ERR, LagVerdict.STOP, LagVerdict.REWIND, LagVerdict.STALL, LagVerdict.WARN,
    LagVerdict.NOTFOUND, LagVerdict.UNKNOWN, LagVerdict.OK,
)  # fmt: skip


class BurrowRule(Meant):
    NO_COMMITS = "no_commits"
    INCOMPLETE = "incomplete"
    LAG_ALLOWED = "lag_allowed"
    SILENT = "silent"
    WENT_BACK = "went_back"
    LAG_WAS_ALLOWED = "lag_was_allowed"
    SAME_OFFSET = "same_offset"
    NEVER_FELL = "never_fell"
    NOTHING_ELSE = "nothing_else"
    WORST_PARTITION = "worst_partition"
    NO_GROUP = "no_group"
    NO_END_OFFSETS = "no_end_offsets"
    LOG_ENDED = "log_ended"


class OwnRule(Meant):
    NOT_SUBSCRIBED = "not_subscribed"
    NOTHING_HELD = "nothing_held"
    NO_END_OFFSETS = "no_end_offsets"
    COMMITTED_NEGATIVE = "committed_negative"
    TOPIC_RECREATED = "topic_recreated"
    HISTORY_HOLE = "history_hole"
    BEYOND_END = "beyond_end"
    NOTHING_TO_READ = "nothing_to_read"
    GROUP_DOWN = "group_down"
    WENT_AWAY_UNSEEN = "went_away_unseen"
    RETIRED = "retired"
    NEVER_COMMITTED = "never_committed"
    REWOUND = "rewound"
    NOT_IN_USE = "not_in_use"
    CAUGHT_UP = "caught_up"
    GROUP_SILENT = "group_silent"
    MEMBER_SILENT = "member_silent"
    SILENT = "silent"
    STANDS_STILL = "stands_still"
    FALLS_BEHIND = "falls_behind"
    KEEPS_UP = "keeps_up"
    NO_READER = "no_reader"
    TOO_FEW = "too_few"
    LOG_ENDED = "log_ended"
    CLOCK_WENT_BACK = "clock_went_back"
    WORST_PARTITION = "worst_partition"


class EtaUnknown(Meant):
    NO_SNAPSHOTS = "no_snapshots"
    NOT_READING = "not_reading"
    NOT_CATCHING_UP = "not_catching_up"
    KEEPS_UP = "keeps_up"
    NOTHING_TO_READ = "nothing_to_read"
    CLOCK_WENT_BACK = "clock_went_back"


class ResetKind(Meant):
    TO_EARLIEST = "to_earliest"
    TO_LATEST = "to_latest"
    SHIFT = "shift"
    TO_OFFSET = "to_offset"
    EXPIRED = "expired"
    DELETED = "deleted"
    TRUNCATION = "truncation"


class ResetActor(Meant):
    ADMIN_LIKELY = "admin_likely"
    MEMBER = "member"
    SIMPLE_CONSUMER = "simple_consumer"
    TRANSACTION = "transaction"
    COORDINATOR = "coordinator"
    UNKNOWN = "unknown"


class OddCommitKind(Meant):
    GROUP_EMPTY = "group_empty"
    PARTITION_NOT_OWNED = "partition_not_owned"
    TOPIC_NOT_SUBSCRIBED = "topic_not_subscribed"
    REWIND = "rewind"
    BEYOND_END = "beyond_end"
    BELOW_START = "below_start"
    NEGATIVE = "negative"
    AFTER_MOVE = "after_move"


class ExpiryRule(Meant):
    OWN_TIME = "own_time"
    GROUP_EMPTY = "group_empty"
    GROUP_EMPTY_OLD = "group_empty_old"
    NOT_SUBSCRIBED = "not_subscribed"
    SIMPLE = "simple"
    NEVER = "never"
    UNKNOWN = "unknown"


class SettingsSource(Meant):
    SNAPSHOT = "snapshot"
    DEFAULT = "default"
