"""Few rows of tables, and what views of the log and of validated spans give of them, reckoned by hand."""

from typing import Any

from tests.builders.tables.history import Row, at, coverage
from tests.oracles.views.housekeeping_rows import DAY, HOUR, C, Case, D, ends, gone, known, live, owned, settings, state


def volume(group: str, hour: int, commits: int, unchanged: int, peak: int, at_5_s: int, size: int) -> Row:
    counts = {"num_commits": commits, "num_unchanged": unchanged, "peak_per_minute": peak, "num_at_5_s": at_5_s}
    return {**C, "group_id": group, "hour_time": at(hour * HOUR), "offsets_partition": 3, **counts, "num_bytes": size}


def long(since: float, as_of: float, cluster: Row = C) -> Row:
    return {**cluster, **coverage(0, 99, since, as_of), "num_records": 100}


# The history of c begins in the middle of the first hour and ends in the middle of the last one; d is a part of an
# hour; of e less than a second is known, of f nothing.
VOLUME = Case(
    "v_commit_volume",
    {
        "commit_volume": [
            volume("quiet", 1, 10, 0, 1, 10, 1_000),
            volume("busy", 0, 3_000, 100, 90, 600, 2_000),
            volume("busy", 3, 1_000, 900, 70, 200, 1_000),
            volume("late", 3, 60, 0, 2, 30, 300),
            {**volume("short", 5, 180, 0, 60, 36, 720), **D},
            {**volume("instant", 5, 3, 0, 3, 1, 30), "cluster": "e"},
            {**volume("bare", 5, 36, 0, 3, 36, 3_600), "cluster": "f"},
        ],
        "history_coverage": [
            long(1_800, 3 * HOUR + 600), long(5 * HOUR + 1_001, 5 * HOUR + 1_181, D),
            long(5 * HOUR + 5, 5 * HOUR + 5, {"cluster": "e"}),
        ],
    },
    [
        {
            "cluster": "c", "rank": 1, "group_id": "busy", "from_time": at(0), "to_time": at(3 * HOUR),
            "num_commits": 4_000, "num_bytes": 3_000, "share_of_bytes": 3_000 / 4_300, "commits_per_s": 4_000 / 9_600,
            "bytes_per_day": 27_000.0, "share_unchanged": 0.25, "peak_per_minute": 90, "num_at_5_s": 800,
            "share_saved_at_5_s": 0.8, "bytes_saved_per_day_at_5_s": 21_600.0, "as_of_time": at(3 * HOUR + 600),
            "history_since_time": at(1_800),
        },
        {"rank": 2, "group_id": "quiet", "bytes_per_day": 24_000.0, "share_saved_at_5_s": 0.0, "share_unchanged": 0.0},
        {"rank": 3, "group_id": "late", "commits_per_s": 0.1, "bytes_per_day": 43_200.0},
        {"cluster": "d", "rank": 1, "group_id": "short", "from_time": at(5 * HOUR), "commits_per_s": 1.0,
         "bytes_per_day": 345_600.0, "bytes_saved_per_day_at_5_s": 276_480.0},
        {"cluster": "e", "rank": 1, "group_id": "instant", "num_commits": 3, "commits_per_s": None,
         "bytes_per_day": None, "bytes_saved_per_day_at_5_s": None},
        {"cluster": "f", "rank": 1, "group_id": "bare", "commits_per_s": 0.01, "bytes_per_day": 86_400.0},
    ],
)  # fmt: skip


def commit(offset: int, second: float, partition: int = 3, **more: Any) -> Row:
    place = {"offsets_partition": partition, "record_offset": offset, "record_time": at(second)}
    return {**C, **place, "record_bytes": 100, "group_id": "g", **more}


HEALTH = Case(
    "v_offsets_topic_health",
    {
        "history_coverage": [
            {**known(DAY), "compacted_records_estimate": 5, "last_offset": 40, "complete_from_offset": 1},
            {**known(DAY), "first_offset": 50, "complete_from_offset": 60, "complete_from_time": at(33)},
            {**known(DAY), "offsets_partition": 4, "complete_from_offset": None},
        ],
        "cluster_snapshots": [
            settings(1, log_cleaner_delete_retention_ms="1"),
            settings(2, log_cleaner_delete_retention_ms="3600000"),
            settings(3),
        ],
        "offset_commits": [
            *(commit(each, each) for each in range(6)),
            commit(7, DAY - HOUR - 1, is_tombstone=True),
            commit(8, DAY - HOUR, is_tombstone=True),
        ],
        "offset_history": [live("g"), live("g", 1), gone(live("g", 2), 60)],
        "transactions": [
            {**C, "evidence_partition": 4, "outcome": "open", "first_time": at(DAY - 60), "groups": []},
            {**C, "evidence_partition": 4, "outcome": "open", "first_time": at(DAY - 90), "groups": []},
            {**C, "evidence_partition": 3, "outcome": "aborted", "first_time": at(0), "groups": []},
        ],
    },
    [
        {
            "rank": 1, "offsets_partition": 4, "num_records": 100, "num_commits": 0, "num_live_offsets": 0,
            "share_live": None, "num_open_transactions": 2, "oldest_open_time": at(DAY - 90), "oldest_open_ms": 90_000,
            "complete_from_offset": None, "num_tombstones": 0,
        },
        {
            "rank": 2, "offsets_partition": 3, "num_records": 200, "num_commits": 8, "commit_bytes": 800,
            "num_live_offsets": 2, "share_live": 0.25, "num_tombstones": 2, "num_old_tombstones": 1,
            "delete_retention_ms": 3_600_000, "complete_from_offset": 60, "complete_from_time": at(33),
            "compacted_records_estimate": 5, "num_open_transactions": 0, "oldest_open_ms": None,
            "as_of_time": at(DAY),
        },
    ],
)  # fmt: skip


def subscribed(group: str, offset: int, member: str, topics: list[str] | None, change: str = "kept") -> Row:
    place = {"group_id": group, "assignment_offset": offset, "evidence_partition": 3, "member_id": member}
    return {**C, **place, "change": change, "subscribed_topics": topics}


COVERAGE = Case(
    "v_partition_coverage",
    {
        "history_coverage": [known(DAY)],
        "topics": [
            *({**C, "topic": name, "source": "snapshot"} for name in ("orders", "lonely", "__consumer_offsets")),
            {**C, "topic": "deleted", "source": "snapshot", "to_time": at(5)},
        ],
        "topic_snapshots": [
            *(ends(0, 9, each) for each in range(12)),
            ends(0, 9, 1, topic="lonely"),
            ends(0, 9, 0, topic="lonely", seconds=11),
            ends(0, 9, 0, topic="deleted"),
            ends(0, 9, 0, topic="__consumer_offsets"),
        ],
        "offset_history": [
            *(live("g", each) for each in range(12) if each not in (2, 10)),
            gone(live("g", 2), 70),
            live("h", 3),
            live("g", 5, topic="uncaptured"),
            # No topic has such partitions.
            live("h", -1), live("odd", -1), live("odd", 2**31 - 1), live("odd", -1, topic="odd"),
        ],
        "ownership_intervals": [
            *(owned("g", each, "a") for each in range(12)),
            owned("h", 0, "a", topic="uncaptured"),
            owned("h", 20_000_000, "a", topic="uncaptured"),
        ],
        # It subscribes, owns nothing and committed nothing; and what it subscribed to before does not count.
        "generation_members": [
            subscribed("new", 5, "m", ["lonely"]),
            subscribed("new", 9, "m", ["orders", "uncaptured"]),
            subscribed("new", 9, "n", ["orders"]),
            subscribed("new", 9, "gone", ["lonely"], change="left"),
            subscribed("g", 9, "a", None),
        ],
    },
    [
        {"rank": 1, "topic": "orders", "group_id": "new", "num_partitions": 12, "num_committed": 0, "num_owned": 0,
         "uncommitted": [*range(12)], "unowned": [*range(12)]},
        {"rank": 2, "topic": "orders", "group_id": "odd", "num_partitions": 12, "num_committed": 0, "num_owned": 0,
         "uncommitted": [*range(12)], "unowned": [*range(12)]},
        {"rank": 3, "topic": "orders", "group_id": "h", "num_partitions": 12, "num_committed": 1, "num_owned": 0,
         "uncommitted": [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11], "unowned": [*range(12)]},
        {"rank": 4, "topic": "lonely", "group_id": None, "num_partitions": 2, "num_committed": 0, "num_owned": 0,
         "uncommitted": [0, 1], "unowned": [0, 1]},
        {"rank": 5, "topic": "orders", "group_id": "g", "num_committed": 10, "num_owned": 12, "uncommitted": [2, 10],
         "unowned": None, "as_of_time": at(DAY)},
        {"rank": 6, "topic": "uncaptured", "group_id": "h", "num_partitions": None, "num_committed": 0, "num_owned": 1,
         "uncommitted": [0, 5], "unowned": [5]},
        {"rank": 7, "topic": "uncaptured", "group_id": "g", "num_partitions": None, "uncommitted": [0],
         "unowned": [0, 5]},
    ],
)  # fmt: skip


def record(group: str, offset: int, batch: int | None, size: int, whole: int | None = None, member: str = "m") -> Row:
    """`whole`: bytes of the batch."""
    place = {"offsets_partition": 3, "record_offset": offset, "batch_first_offset": batch, "batch_bytes": whole}
    return {**C, **place, "record_time": at(offset), "group_id": group, "record_bytes": size, "member_id": member}


HEADROOM = Case(
    "v_record_headroom",
    {
        "history_coverage": [known(DAY)],
        "cluster_snapshots": [settings(2, message_max_bytes="1000")],
        "group_state_intervals": [
            state("large", 30), state("modern", 2, group_type="consumer"), gone(state("deleted", 0), 5),
        ],
        "classic_group_metadata": [
            record("large", 1, 1, 100, 180), record("large", 2, 2, 820, 900), record("large", 3, 3, 300, 380),
            record("deleted", 4, 4, 919, 999),
            # It had room enough: others filled this batch.
            record("large", 20, 20, 200, 990),
        ],
        # Of an archive.
        "group_member_metadata": [
            record("modern", 30, None, 20), record("modern", 31, None, 30), record("modern", 32, None, 10, None, "n"),
        ],
        "target_assignment_members": [
            record("modern", 7, 7, 70, 150, "gone"), record("modern", 8, 8, 60, 140, "c"),
            record("modern", 9, 9, 90, 170, "d"),
            record("modern", 12, 12, 200, 620, "a"), record("modern", 13, 12, 250, 620, "b"),
            {**record("modern", 14, 12, 20, 620, "gone"), "is_tombstone": True},
            record("modern", 15, 15, 400, 480, "c"),
        ],
        # In the same batch.
        "current_member_assignments": [record("modern", 16, 12, 40, 620, "a")],
    },
    [
        {"rank": 1, "group_id": "large", "record_table": "classic_group_metadata", "batch_bytes": 900,
         "group_bytes": 820, "num_records": 1, "largest_record_bytes": 820, "whole_bytes": 820, "share_written": 1.0,
         "limit_bytes": 1_000, "share_of_limit": 0.9, "num_members": 30,
         "settings_source": "snapshot", "group_type": "classic", "evidence_partition": 3,
         "evidence_first_offset": 2, "evidence_last_offset": 2,
         "record_time": at(2), "as_of_time": at(DAY)},
        {"rank": 2, "group_id": "modern", "record_table": "current_member_assignments", "batch_bytes": 620,
         "group_bytes": 510, "num_records": 1, "whole_bytes": 40, "share_written": 1.0},
        {"rank": 3, "group_id": "modern", "record_table": "target_assignment_members", "batch_bytes": 620,
         "group_bytes": 510, "num_records": 3, "largest_record_bytes": 250, "whole_bytes": 600, "share_written": 0.75,
         "evidence_first_offset": 12, "evidence_last_offset": 14},
        {"rank": 4, "group_id": "modern", "record_table": "group_member_metadata", "batch_bytes": None,
         "num_records": 1, "share_of_limit": None, "whole_bytes": 30, "share_written": 1.0},
    ],
)  # fmt: skip


def reset(second: float | None, reread: int | None, skipped: int | None, group: str = "g") -> Row:
    moved = {"messages_reread": reread, "messages_skipped": skipped, "group_id": group, "topic": "orders"}
    lists: Row = {"partitions": [0], "from_offsets": [9], "to_offsets": [5]}
    return {**C, **moved, "at_time": None if second is None else at(second), **lists}


def rewind(second: float, commits: int, messages: int | None, kind: str = "rewind") -> Row:
    counts = {"num_commits": commits, "num_messages": messages, "kind": kind}
    return {**C, "day_time": at(second), "group_id": "h", "topic": "orders", **counts}


SPANS = Case(
    "v_replay_spans",
    {
        "history_coverage": [known(DAY)],
        "offset_resets": [
            reset(0, 100, None), reset(20 * HOUR, None, 30), reset(21 * HOUR, 5, None), reset(None, None, None),
        ],
        # The day begins three hours before START.
        "odd_commits": [
            rewind(-3 * HOUR, 4, 60), rewind(-3 * HOUR, 9, 1_000, kind="negative"), rewind(21 * HOUR, 2, None),
        ],
    },
    [
        {"rank": 1, "day_time": at(-3 * HOUR), "topic": "orders", "num_groups": 2, "num_resets": 2, "num_rewinds": 4,
         "messages_reread": 160, "messages_skipped": 30, "num_unknown": 0, "as_of_time": at(DAY)},
        {"rank": 2, "day_time": at(21 * HOUR), "num_groups": 2, "num_resets": 1, "num_rewinds": 2,
         "messages_reread": 5, "messages_skipped": None, "num_unknown": 1},
        {"rank": 3, "day_time": None, "num_groups": 1, "messages_reread": None, "num_unknown": 1},
    ],
)  # fmt: skip
DIFF = Case(
    "v_cluster_diff",
    {
        "history_coverage": [known(HOUR), known(DAY, D), known(DAY, {"cluster": "e"})],
        "offset_history": [
            live("g", 0), live("g", 1), live("g", 2), live("g", 3), gone(live("old", 0), 70),
            live("g", 0, committed_offset=35, last=90.5, **D), live("g", 1, committed_offset=2, last=50, **D),
            live("g", 2, **D), live("g", 4, **D),
        ],
        "topic_snapshots": [
            ends(5, 50), ends(5, 60, seconds=11), ends(5, None, seconds=12), ends(5, 60, cluster=D),
            ends(0, 60, 1), ends(0, 10, 1, cluster=D),
            ends(0, 60, 2),
        ],
    },
    [
        {"cluster": "c", "other_cluster": "d", "rank": 1, "partition": 3, "basis": "only_here", "difference": None},
        {"cluster": "c", "other_cluster": "d", "rank": 2, "partition": 4, "basis": "only_there", "difference": None,
         "committed_offset": None, "other_committed_offset": 40},
        {"cluster": "c", "other_cluster": "d", "rank": 3, "partition": 1, "basis": "distance_to_end",
         "messages_left": 20, "other_messages_left": 8, "difference": -12, "later_by_ms": -10_000},
        {"cluster": "c", "other_cluster": "d", "rank": 4, "group_id": "g", "topic": "orders", "partition": 0,
         "basis": "equal_ends", "committed_offset": 40, "other_committed_offset": 35, "difference": 5,
         "log_end_offset": 60, "later_by_ms": 30_000, "as_of_time": at(HOUR), "other_as_of_time": at(DAY)},
        {"cluster": "c", "other_cluster": "d", "rank": 5, "partition": 2, "basis": "no_ends", "difference": None,
         "messages_left": 20, "other_messages_left": None},
        *({"cluster": "c", "other_cluster": "e", "rank": each + 1, "partition": each, "basis": "only_here"}
          for each in range(4)),
        *({"cluster": "d", "other_cluster": "e", "rank": rank, "partition": each, "basis": "only_here"}
          for rank, each in enumerate((0, 1, 2, 4), 1)),
    ],
)  # fmt: skip
