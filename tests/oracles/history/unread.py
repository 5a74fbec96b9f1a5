"""How long nobody read the partitions of each move, one move and one commit at a time: from rows of the other tables
and from decoded records, by the contract's words. Times are microseconds."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.oracles.history.at_instant import Row, read

SECOND = 1_000_000
# Until when, since when at the earliest and at the latest.
Span = tuple[int, int, int]
DECODED = ("classic_group_metadata", "group_member_metadata", "offset_commits", "topic_snapshots", "cluster_snapshots")
HISTORY = (
    "offset_history", "partition_moves", "ownership_intervals", "membership_intervals", "rebalances",
    "group_state_intervals", "coordinator_epochs",
)  # fmt: skip


class Model:
    def __init__(self, warehouse: Path) -> None:
        self.rows = {
            name: read(warehouse, name) if (warehouse / name).exists() else [] for name in (*DECODED, *HISTORY)
        }
        self.settings: dict[str, int] = {}
        self.own: dict[str, dict[str, int]] = {}
        for row in sorted(self.rows["cluster_snapshots"], key=lambda row: int(row["captured_time"])):
            self.settings |= {name: int(value) for name, value in row["settings"] or () if value.isdecimal()}
            for group in row["group_settings"] or ():
                # What the group no longer sets has the brokers' value again.
                self.own[group["group_id"]] = {name: int(value) for name, value in group["settings"]}

    def of_group(self, table: str, group: str) -> list[Row]:
        return [row for row in self.rows[table] if row["group_id"] == group]

    def setting(self, move: Row, name: str) -> int | None:
        """The group's own one, else that of the brokers."""
        named = f"{move['group_type']}.{name}"
        return self.own.get(move["group_id"], {}).get(named, self.settings.get(f"group.{named}"))

    def unread(self, move: Row) -> tuple[int, int] | None:
        span = self.span(move)
        if span is None:
            return None
        until, first, last = span
        low = until - last - self.quiet(move, last, until)
        before = until - first - self.quiet(move, first, until)
        after = self.first_commit_after(move)
        end = until + self.delivery(move) * 1000
        tail = min(end, after if after is not None else end) - max(until, self.quiet_until(move, until))
        return low // 1000, (before + max(0, tail)) // 1000

    def delivery(self, move: Row) -> int:
        if move["group_type"] == "classic":
            return 500
        record = self.newest_record(move["group_id"], move["to_member_id"], move["move_offset"])
        if record.get("classic_member") is not None:
            return min(3_000, int(record["classic_member"]["session_timeout_ms"]) // 3)
        named = self.setting(move, "heartbeat.interval.ms")
        return 5_000 if named is None else named

    # -- when reading ended

    def span(self, move: Row) -> Span | None:
        if move["role"] not in (None, "active") or move["to_member_id"] is None:
            return None
        stay = self.stay(move)
        if stay is None or self.is_another_group(stay, move):
            return self.grown(move)
        stop = stay["to_time"]
        until = max(move["move_time"], stop)
        if stay["ended_by"] == "phase_changed":
            return until, stop, stop
        gone = self.gone(stay)
        if move["group_type"] == "share" and (gone is None or self.has_others(stay)):
            return None
        first, last, is_timeout = self.bounds(move, stay, gone)
        # What it commits when it is asked to give the partition up, it read before.
        is_told = stay["phase"] == "revoking"
        commit = None if is_told else self.last_commit(move)
        if is_timeout and self.is_restarted(move, stay):
            return None if commit is None else (until, min(stop, commit), min(stop, max(last, commit)))
        if self.may_miss_records(stay, gone):
            return None if commit is None else (until, min(stop, commit), stop)
        if not is_timeout and not is_told and commit is None and not self.have_others_commits(move):
            first = max(first, self.without_commits(move, stay, gone, last))
        floors = [] if commit is None else [commit]
        return until, min(stop, max([first, *floors])), min(stop, max([last, *floors]))

    def grown(self, move: Row) -> Span | None:
        """A partition that no snapshot before shows, of a topic of which the group has a lower one."""
        lower = [
            row["from_time"]
            for row in self.of_group("ownership_intervals", move["group_id"])
            if all(row[name] == move[name] for name in ("topic", "topic_id", "role"))
            and row["partition"] < move["partition"]
            and row["from_record_offset"] < move["move_offset"]
            and (row["to_record_offset"] is None or row["to_record_offset"] >= move["move_offset"])
        ]
        counts: dict[int, int] = {}
        for row in self.rows["topic_snapshots"]:
            if row["topic"] == move["topic"] and row["captured_time"] <= move["move_time"]:
                counts[row["captured_time"]] = max(counts.get(row["captured_time"], 0), row["partition"] + 1)
        without = [time for time, number in counts.items() if number <= move["partition"]]
        if move["group_type"] == "classic" and lower:
            lower = [
                self.values(move | {"to_record_offset": 0}, lambda offset: offset < move["move_offset"])["record_time"]
            ]
        if not lower or not without:
            return None
        seen = [time for time, number in counts.items() if time > max(without)]
        # Before that the group did not read the topic.
        return move["move_time"], max(without), max(min(seen), min(lower)) if seen else move["move_time"]

    def bounds(self, move: Row, stay: Row, gone: Row | None) -> tuple[int, int, bool]:
        """Also whether a timeout gives them."""
        session, heartbeat, rebalance, join = self.timeouts(move, stay)
        stop, since = stay["to_time"], None if stay["phase"] == "held" else stay["from_time"]
        kind = gone["leave_kind"] if gone is not None else None
        ended = "member_left" if stay["ended_by"] == "member_left" else None
        if gone is not None and gone["away_since_time"] is not None:
            # The member said it: until then it may have read.
            away, joined = min(gone["away_since_time"], stop), gone["from_time"] or 0
            return max(away - rebalance * 1000, min(joined, stop)), max(away, min(joined, stop)), False
        if stay["ended_by"] == "static_replaced" and self.is_swap(move):
            return floored(stop - session * 1000, since, stop), stop, False
        if ended and kind in ("session_timeout_likely", "static_expired_likely"):
            pair = stop - (session + join) * 1000, stop - (session - heartbeat) * 1000
        elif ended and kind == "rebalance_timeout_likely":
            pair = stop - rebalance * 1000, stop - max(rebalance - heartbeat, 0) * 1000
        elif ended and kind in ("left_or_timed_out", "left"):
            return floored(stop - max(rebalance, session + join) * 1000, since, stop), stop, False
        else:
            return floored(stop - rebalance * 1000, since, stop), stop, False
        return floored(pair[0], since, stop), floored(pair[1], since, stop), True

    def is_another_group(self, stay: Row, move: Row) -> bool:
        """It was deleted in between, or nothing is known of what was in between."""
        return any(
            row["ended_by"] in ("deleted", "coverage_hole")
            and stay["to_record_offset"] <= row["to_record_offset"] <= move["move_offset"]
            for row in self.of_group("group_state_intervals", move["group_id"])
        )

    def may_miss_records(self, stay: Row, gone: Row | None) -> bool:
        """Others may have had the partition in between."""
        if gone is not None and gone["leave_kind"] == "unknown":
            return True
        if stay["group_type"] != "classic":
            return not stay["is_to_exact"]
        if stay["ended_by"] == "static_replaced" and gone is not None and not gone["is_to_exact"]:
            rounds = [
                r
                for r in self.of_group("rebalances", stay["group_id"])
                if r["assignment_offset"] == stay["to_record_offset"]
            ]
            if not rounds:
                return True
        return any(
            row["assignment_offset"] == stay["to_record_offset"]
            and row["unpersisted_rounds"] is None
            and row["from_generation"] is not None
            and row["to_generation"] != row["from_generation"] + 1
            for row in self.of_group("rebalances", stay["group_id"])
        )

    def is_restarted(self, move: Row, stay: Row) -> bool:
        """A coordinator that takes over counts sessions anew."""
        session, _, _, join = self.timeouts(move, stay)
        epochs = [r for r in self.rows["coordinator_epochs"] if r["offsets_partition"] == stay["evidence_partition"]]
        first = min((row["first_offset"] for row in epochs), default=0)
        return any(
            first < row["first_offset"] <= stay["to_record_offset"]
            and row["from_time"] >= stay["to_time"] - (session + join) * 1000
            for row in epochs
        )

    def without_commits(self, move: Row, stay: Row, gone: Row | None, last: int) -> int:
        session, heartbeat, _, _ = self.timeouts(move, stay)
        if gone is None or gone["away_since_time"] is not None or stay["ended_by"] != "member_left":
            return last
        return last - (heartbeat + (0 if gone["leave_kind"] == "left" else session)) * 1000

    def is_swap(self, move: Row) -> bool:
        """No rebalance came with it."""
        return not any(
            row["assignment_offset"] == move["assignment_offset"]
            for row in self.of_group("rebalances", move["group_id"])
        )

    def has_others(self, stay: Row) -> bool:
        """Whether the group still had a member when that one went."""
        return any(
            row["from_record_offset"] <= stay["to_record_offset"]
            and (row["to_record_offset"] is None or row["to_record_offset"] > stay["to_record_offset"])
            for row in self.of_group("membership_intervals", stay["group_id"])
        )

    def have_others_commits(self, move: Row) -> bool:
        """Of partitions that moved with it."""
        return any(
            self.last_commit(other) is not None
            for other in self.of_group("partition_moves", move["group_id"])
            if (other["move_offset"], other["from_member_id"]) == (move["move_offset"], move["from_member_id"])
        )

    # -- what it rests on

    def stay(self, move: Row) -> Row | None:
        """The last one of the partition that ended before the move, or with it. None: none is known."""
        is_same = [
            row
            for row in self.of_group("ownership_intervals", move["group_id"])
            if all(row[name] == move[name] for name in ("topic", "topic_id", "partition", "role"))
            and row["to_record_offset"] is not None
            and row["to_record_offset"] <= move["move_offset"]
            and move["from_member_id"] in (None, row["member_id"])
            and row["from_record_offset"] < move["move_offset"]
        ]
        if move["group_type"] == "share" and self.is_held(move):
            return None
        return max(
            is_same, key=lambda row: (int(row["to_record_offset"]), int(row["from_record_offset"])), default=None
        )

    def is_held(self, move: Row) -> bool:
        """Members of share groups own partitions together."""
        return any(
            all(row[name] == move[name] for name in ("topic", "topic_id", "partition"))
            and row["from_record_offset"] < move["move_offset"]
            and (row["to_record_offset"] is None or row["to_record_offset"] > move["move_offset"])
            for row in self.of_group("ownership_intervals", move["group_id"])
        )

    def is_shared(self, move: Row) -> bool:
        """Two members may get a partition by one record, or lose it by one."""
        names = ("topic", "topic_id", "partition")
        rows = self.of_group("partition_moves", move["group_id"])
        given = [row for row in rows if all(row[name] == move[name] for name in (*names, "move_offset"))]
        ends = [
            row["to_record_offset"]
            for row in self.of_group("ownership_intervals", move["group_id"])
            if all(row[name] == move[name] for name in names)
            and (row["to_record_offset"] or 1 << 62) <= move["move_offset"]
        ]
        return len(given) > 1 or ends.count(max(ends, default=-1)) > 1

    def gone(self, stay: Row) -> Row | None:
        rows = self.of_group("membership_intervals", stay["group_id"])
        result = [
            r for r in rows if (r["member_id"], r["to_record_offset"]) == (stay["member_id"], stay["to_record_offset"])
        ]
        return result[0] if result else None

    def timeouts(self, move: Row, stay: Row) -> tuple[int, int, int, int]:
        """Session, heartbeat, rebalance, and how long the join phase may hide a removal."""
        if move["group_type"] == "classic":
            before, now = self.classic_before(stay), self.classic_at(stay)
            old = self.classic_member(stay)
            session, rebalance = old["session_timeout_ms"], rebalance_of(old)
            others = [one for one in before["members"] if any(same(one, other) for other in now["members"])]
            join = max((rebalance_of(one) for one in others), default=0)
            return session, min(3_000, session // 3), rebalance, join
        record = self.newest_record(stay["group_id"], stay["member_id"], stay["to_record_offset"])
        rebalance = record.get("rebalance_timeout_ms")
        if record.get("classic_member") is not None:
            session = record["classic_member"]["session_timeout_ms"]
            beat = min(3_000, session // 3)
        else:
            session = self.setting(move, "session.timeout.ms") or 45_000
            beat = self.setting(move, "heartbeat.interval.ms") or 5_000
        return session, beat, session if rebalance in (None, -1) else rebalance, 0

    def classic_before(self, stay: Row) -> Row:
        return self.values(stay, lambda offset: offset < stay["to_record_offset"])

    def classic_member(self, stay: Row) -> Row:
        """As the last record before the end of its stay that names it. It may be gone for some generations, its
        partition still withheld."""
        rows = sorted(self.of_group("classic_group_metadata", stay["group_id"]), key=lambda row: row["record_offset"])
        named = [
            each
            for row in rows
            if row["record_offset"] < stay["to_record_offset"]
            for each in row["members"] or ()
            if each["member_id"] == stay["member_id"]
        ]
        result: Row = named[-1]
        return result

    def classic_at(self, stay: Row) -> Row:
        return self.values(stay, lambda offset: offset == stay["to_record_offset"])

    def values(self, move: Row, chosen: Any) -> Row:
        rows = [
            row for row in self.of_group("classic_group_metadata", move["group_id"]) if chosen(row["record_offset"])
        ]
        result = max(rows, key=lambda row: int(row["record_offset"]), default=None)
        return {"members": []} if result is None or result["is_tombstone"] else result

    def newest_record(self, group: str, member: str, offset: int) -> Row:
        rows = [
            row
            for row in self.of_group("group_member_metadata", group)
            if row["member_id"] == member and not row["is_tombstone"] and row["record_offset"] <= offset
        ]
        return max(rows, key=lambda row: int(row["record_offset"]), default={})

    def commits(self, move: Row) -> list[Row]:
        return [
            row
            for row in self.of_group("offset_commits", move["group_id"])
            if (row["topic"], row["partition"]) == (move["topic"], move["partition"]) and not row["is_tombstone"]
        ]

    def last_commit(self, move: Row) -> int | None:
        rows = [row for row in self.commits(move) if row["record_offset"] <= move["move_offset"]]
        return commit_time(max(rows, key=lambda row: int(row["record_offset"]), default=None))

    def first_commit_after(self, move: Row) -> int | None:
        rows = [row for row in self.commits(move) if row["record_offset"] > move["move_offset"]]
        return commit_time(min(rows, key=lambda row: int(row["record_offset"]), default=None))

    # -- nothing to read

    def quiet(self, move: Row, since: int, until: int) -> int:
        return sum(max(0, min(until, after) - max(since, before)) for before, after in self.quiet_times(move))

    def quiet_until(self, move: Row, at: int) -> int:
        """The end of the time with nothing to read that contains the instant; else the instant."""
        for before, after in self.quiet_times(move):
            at = after if before <= at < after else at
        return at

    def quiet_times(self, move: Row) -> list[tuple[int, int]]:
        """In order, from snapshot to snapshot."""
        committed = [
            row["committed_offset"]
            for row in self.of_group("offset_history", move["group_id"])
            if (row["topic"], row["partition"]) == (move["topic"], move["partition"])
            and row["from_record_offset"] <= move["move_offset"]
            and (row["to_record_offset"] is None or move["move_offset"] < row["to_record_offset"])
        ]
        known = sorted(
            (row["captured_time"], row["log_end_offset"], row["topic_id"])
            for row in self.rows["topic_snapshots"]
            if (row["topic"], row["partition"]) == (move["topic"], move["partition"])
            and row["log_end_offset"] is not None
        )
        return [
            (before, after)
            for (before, end, topic), (after, same_end, same_topic) in pairwise(known)
            if [end] == [same_end] == committed and (None in (topic, same_topic) or topic == same_topic)
        ]


def floored(time: int, since: int | None, stop: int) -> int:
    """Not before the owner got the partition."""
    return time if since is None else max(time, min(since, stop))


def commit_time(row: Row | None) -> int | None:
    if row is None:
        return None
    time: int = row["record_time"] if row["commit_time"] is None else row["commit_time"]
    return time


def rebalance_of(member: Row) -> int:
    named, session = member["rebalance_timeout_ms"], int(member["session_timeout_ms"])
    return session if named in (None, -1) else int(named)


def same(one: Row, other: Row) -> bool:
    """A member of both values, or one static instance."""
    if one["member_id"] == other["member_id"]:
        return True
    instance = one["group_instance_id"]
    return instance is not None and instance == other["group_instance_id"]


def unlike(warehouse: Path) -> tuple[list[Any], Counter[Any]]:
    """Moves whose times differ from the model's; and how many there are of each kind, by group type."""
    model, result, kinds = Model(warehouse), [], Counter[Any]()
    for move in model.rows["partition_moves"]:
        types = {row["group_type"] for row in model.of_group("group_state_intervals", move["group_id"])}
        if len(types) > 1:
            # What a conversion leaves behind has another name in the records of the other type.
            continue
        if move["group_type"] == "share" and model.is_shared(move):
            continue
        wanted = model.unread(move)
        got = None if move["unread_high_ms"] is None else (move["unread_low_ms"], move["unread_high_ms"])
        kinds[move["group_type"], move["kind"], got is not None] += 1
        if got != wanted:
            result.append((got, wanted, move))
    return result, kinds
