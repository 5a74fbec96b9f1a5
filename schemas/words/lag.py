"""The words of lag, verdicts and events, each with what it means."""

from schemas.words.enumerations import Meant


class TimeLagMethod(Meant, of="lag_points, lag_days.time_lag_method"):
    STREAMS_METADATA = """streams_metadata: Kafka Streams attached the time of its newest message to the commit. The
        time lag counts from that time."""
    INTERPOLATED = """interpolated: Estimated on a straight line between the two snapshots between which the message was
        written."""
    EXTRAPOLATED = """extrapolated: The message is older than the oldest snapshot of the partition: estimated on a
        straight line through the oldest snapshot and the one of this row."""
    NO_LAG = "no_lag: There is nothing to read: the time lag is 0."
    NONE = "none: Not known: too few end offsets, or no commit."


class LagUnknown(Meant, of="lag_points.unknown_reason"):
    NO_SNAPSHOT = "no_snapshot: No snapshot so far has the end offset of the partition."
    NO_COMMIT = "no_commit: The group owns or subscribes to the partition and has committed nothing."
    COMMITTED_NEGATIVE = "committed_negative: The committed offset is negative: brokers keep it, clients ignore it."
    TOPIC_RECREATED = """topic_recreated: The commit is, or may be, for an older topic of this name: it has another
        topic id; or it has none, and an earlier snapshot has another topic of this name."""
    HISTORY_HOLE = "history_hole: Records of the log are missing at this time, so the committed offset is unknown."
    CLOCK_WENT_BACK = """clock_went_back: The broker's clock went back around this time, so the committed offset at the
        snapshot is unknown."""


class LagVerdict(Meant, of="group_verdicts.burrow_verdict, group_verdicts.own_verdict"):
    """Of a partition, by Burrow and by us; ERR and NOTFOUND are Burrow's, of groups alone."""

    OK = "OK: No problem."
    WARN = "WARN: The group commits, but its lag grows or does not fall."
    STOP = "STOP: The group has stopped committing, with messages left to read."
    STALL = "STALL: The group commits the same offset again and again, with messages left to read."
    REWIND = "REWIND: The committed offset moved back and has not reached its old value again."
    ERR = "ERR: Of a group, by Burrow: a partition stopped, stalled or moved back."
    NOTFOUND = "NOTFOUND: Of a group, by Burrow: nothing committed within expire-group."
    UNKNOWN = "UNKNOWN: An input is missing: see the reason."
    DOWN = "DOWN: Of a group, by us: it was in use, has no members, and messages wait. The worst of all."


# Of a partition or a group, on pages and in lists.
WORST_FIRST = (
    LagVerdict.DOWN, LagVerdict.ERR, LagVerdict.STOP, LagVerdict.REWIND, LagVerdict.STALL, LagVerdict.WARN,
    LagVerdict.NOTFOUND, LagVerdict.UNKNOWN, LagVerdict.OK,
)  # fmt: skip


class BurrowRule(Meant, of="group_verdicts.burrow_rule"):
    """The rules of Burrow's evaluation in their order; the first that matches decides."""

    NO_COMMITS = "no_commits: 1: no commit in the window: OK."
    INCOMPLETE = "incomplete: 2: fewer commits than minimum-complete asks for: OK."
    LAG_ALLOWED = "lag_allowed: 3: the current lag is allowed-lag or less: OK."
    SILENT = """silent: 4: no commit for longer than the length of the window, and the committed offset is below all
        recent end offsets: STOP."""
    WENT_BACK = """went_back: 5: after its first move to a lower offset, the committed offset has not reached the
        earlier value again: REWIND."""
    LAG_WAS_ALLOWED = "lag_was_allowed: 6: at one commit of the window the lag was allowed-lag or less: OK."
    SAME_OFFSET = "same_offset: 7: all commits have the same offset: STALL."
    NEVER_FELL = "never_fell: 8: the known lags of the window never fall: WARN."
    NOTHING_ELSE = "nothing_else: 9: anything else: OK."
    WORST_PARTITION = "worst_partition: Of a group: the verdict of its worst partition."
    NO_GROUP = "no_group: Of a group: no commit within expire-group, or none at all: NOTFOUND."
    NO_END_OFFSETS = "no_end_offsets: No snapshot has the partition's end offset: UNKNOWN, never OK."
    LOG_ENDED = """log_ended: Another rule would report a problem, but the log was not read up to this time: UNKNOWN.
        Burrow on the live log may have seen commits that are missing here."""


class OwnRule(Meant, of="group_verdicts.rule"):
    """The rules of our own verdict in their order; the first that matches decides."""

    NOT_SUBSCRIBED = "not_subscribed: The group has members, and none of them subscribes to the topic: OK."
    NOTHING_HELD = """nothing_held: No committed offset is in effect, and no member owns the partition: OK. (Burrow's
        rules still count its old commits.)"""
    NO_END_OFFSETS = """no_end_offsets: No snapshot has the partition's end offset; or the newest one shows nothing to
        read, but is older than the window: UNKNOWN."""
    COMMITTED_NEGATIVE = "committed_negative: The committed offset is negative, so its lag is unknown: UNKNOWN."
    TOPIC_RECREATED = "topic_recreated: The commit is for an older topic of this name, or may be: UNKNOWN."
    HISTORY_HOLE = "history_hole: Records are missing before this time: UNKNOWN."
    BEYOND_END = """beyond_end: The committed offset is beyond the end of the log. A consumer that starts there resets
        its offset: UNKNOWN."""
    NOTHING_TO_READ = """nothing_to_read: A member owns the partition, nothing is committed, and the log has no
        messages: OK."""
    GROUP_DOWN = """group_down: The group was in use and has no members, and messages were written since: STOP, and DOWN
        for the group. Either its last members timed out; or it was in use for most of the days before it went away; or
        it is away for longer than it ever was."""
    WENT_AWAY_UNSEEN = """went_away_unseen: The group has no members and messages were written since its last commit,
        but records that show how it lost its members are missing: UNKNOWN."""
    RETIRED = """retired: The group has no members and there are messages to read. But its last member left by itself,
        and the group was not in use for long, or is away no longer than usual: OK."""
    NEVER_COMMITTED = """never_committed: A member owns the partition and there are messages to read, but nothing is
        committed: STOP if messages were added since the member owns it, else UNKNOWN."""
    REWOUND = "rewound: The offset is below one that was in effect within the window, and no reset explains it: REWIND."
    NOT_IN_USE = """not_in_use: There is nothing to read, and the group had neither members nor commits within the
        window: OK."""
    CAUGHT_UP = """caught_up: The lag is allowed_lag or less, or the oldest unread message is younger than
        least_time_lag: OK."""
    GROUP_SILENT = """group_silent: There are messages to read, and the group has committed none of its partitions for
        much longer than usual: STOP."""
    MEMBER_SILENT = """member_silent: There are messages to read, and the member that owns the partition has committed
        none of its partitions for much longer than usual: STOP."""
    SILENT = """silent: No commit of this partition for much longer than usual, while messages were added and its member
        went on to commit others: STOP."""
    STANDS_STILL = "stands_still: The group commits the same offset again and again while messages are added: STALL."
    FALLS_BEHIND = "falls_behind: The lag grows over the window: WARN."
    KEEPS_UP = "keeps_up: The lag does not grow: OK."
    NO_READER = """no_reader: There are messages to read. But no member owns the partition, and its last commit is older
        than usual, so probably nobody reads it: UNKNOWN."""
    TOO_FEW = "too_few: Too few snapshots within the window to see a trend: UNKNOWN."
    LOG_ENDED = """log_ended: A rule that depends on recent commits would decide, but the log was not read up to this
        time, and no end offset of the log shows that all commits were read: UNKNOWN. Where the log ends early
        (`offsets_partitions`), also instead of OK."""
    CLOCK_WENT_BACK = """clock_went_back: Another rule would compare times, but the broker's clock went back within the
        window: UNKNOWN."""
    WORST_PARTITION = "worst_partition: Of a group: the verdict of its worst partition."


class EtaUnknown(Meant, of="consumption_rates.eta_unknown_reason"):
    NO_SNAPSHOTS = """no_snapshots: Fewer than two snapshots near the bucket have the end offsets of the topic, or its
        log was cut or created again between them."""
    NOT_READING = """not_reading: Messages wait, and the group has read none for 10 times as long as it usually takes
        between two commits, or in the whole bucket."""
    NOT_CATCHING_UP = """not_catching_up: The lag grows beyond its usual range: at this rate the group never catches up.
        The usual range is what 95 of 100 lags of the bucket and the hour before it do not exceed, and the messages that
        are written between two commits."""
    KEEPS_UP = "keeps_up: The lag is within its usual range: what is written is read."
    NOTHING_TO_READ = "nothing_to_read: The group has caught up."
    CLOCK_WENT_BACK = "clock_went_back: The broker's clock went back around this time, so no rate is known."


class ResetKind(Meant, of="offset_resets.kind"):
    TO_EARLIEST = "to_earliest: To the first offset of the log at that time."
    TO_LATEST = "to_latest: To the end of the log at that time."
    SHIFT = "shift: The offset of every partition was moved by the same number of messages."
    TO_OFFSET = "to_offset: To other offsets, such as those of a file or a time."
    EXPIRED = "expired: The coordinator deleted offsets that had expired."
    DELETED = "deleted: Only the offsets were deleted, or their group or topic was deleted with them."
    TRUNCATION = "truncation: The log of the topic was truncated or the topic recreated, and the group followed it."


class ResetActor(Meant, of="offset_resets.actor"):
    ADMIN_LIKELY = """admin_likely: The commits look like those of an admin tool: for a group without members, many
        partitions in one batch. Or offsets were deleted, which consumers cannot do, and they neither expired nor went
        with their topic."""
    MEMBER = "member: The group had members that owned the partitions."
    SIMPLE_CONSUMER = """simple_consumer: A program that commits without being a member, to a group without members.
        Only rows of earlier releases have this value: an admin tool can write the same, so these resets are unknown
        now."""
    TRANSACTION = "transaction: By a producer, in its transaction."
    COORDINATOR = "coordinator: The broker itself: expiry, or deletion of the topic."
    UNKNOWN = """unknown: If the group had no members: an admin tool, or a program that commits without being a member;
        the log cannot tell them apart. Of deleted offsets actor_reason says which causes are left. Otherwise records
        that would show who did it are missing."""


class OddCommitKind(Meant, of="odd_commits.kind"):
    GROUP_EMPTY = "group_empty: Commits while the group had no members, although it had some before; not a reset."
    PARTITION_NOT_OWNED = "partition_not_owned: Commits for a partition that no member had owned for 5 minutes."
    TOPIC_NOT_SUBSCRIBED = "topic_not_subscribed: Commits for a topic that no member subscribed to."
    REWIND = "rewind: Rewind: commits of a member below its previous commit; not a reset."
    BEYOND_END = "beyond_end: Commits above the end of the log."
    BELOW_START = "below_start: Commits below the first offset that could be read."
    NEGATIVE = "negative: Commits of a negative offset."
    AFTER_MOVE = "after_move: After a partition moved, commits below those of the new owner."


class ExpiryRule(Meant, of="expiry_forecast, v_expiry_forecast.rule"):
    OWN_TIME = "own_time: The commit has its own expiry time (value version 1)."
    GROUP_EMPTY = "group_empty: The group is empty: the offset expires one retention time after the group became empty."
    GROUP_EMPTY_OLD = """group_empty_old: The group is empty, but its record does not say since when: the offset expires
        one retention time after its commit."""
    NOT_SUBSCRIBED = """not_subscribed: The group has members, but does not subscribe to the topic: the offset expires
        one retention time after its commit."""
    SIMPLE = """simple: The group's offsets are committed by a program that is not a member: each offset expires one
        retention time after its commit."""
    NEVER = "never: The offset does not expire in the group's current state."
    UNKNOWN = "unknown: It is not known whether the topic is subscribed, or which state the group is in."


class SettingsSource(Meant, of="expiry_forecast, v_expiry_forecast, v_record_headroom.settings_source"):
    SNAPSHOT = "snapshot: From a snapshot of the cluster."
    DEFAULT = """default: No snapshot has the setting: Kafka's default, or record_limit_bytes of the settings in
        v_record_headroom."""


class DifferenceBasis(Meant, of="v_cluster_diff.basis"):
    """What a difference between the offsets of two clusters rests on."""

    ONLY_HERE = "only_here: Only this cluster has a committed offset, so there is no difference."
    ONLY_THERE = "only_there: Only the other cluster has a committed offset, so there is no difference."
    EQUAL_ENDS = "equal_ends: Both logs begin and end at the same offsets, so equal offsets are equal messages."
    DISTANCE_TO_END = """distance_to_end: An estimate: each committed offset's distance to the end of its own log,
        compared. It is exact if both logs ended with the same message when their snapshots were taken."""
    NO_ENDS = "no_ends: No snapshot has the end of one of the logs: the offsets cannot be compared."
