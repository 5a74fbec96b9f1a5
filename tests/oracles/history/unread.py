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
HISTORY = ("offset_history", "partition_moves", "ownership_intervals", "membership_intervals", "rebalances")


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
        return tuple((until - since - self.quiet(move, since, until)) // 1000 for since in (last, first))  # type: ignore[return-value]

    # -- when reading ended

    def span(self, move: Row) -> Span | None:
        if move["role"] not in (None, "active") or move["kind"] in ("withheld", "unknown_owned"):
            return None
        if move["from_member_id"] is None:
            return self.rested(move)
        stay = self.stay(move)
        stop = stay["to_time"]
        until = max(move["move_time"], stop) if move["to_member_id"] else stop
        if self.is_told_before(move) or stay["ended_by"] == "phase_changed":
            return until, stop, stop
        gone = self.gone(move, stay)
        if gone is not None and gone["leave_kind"] == "static_expired_likely" and gone["away_since_time"] is not None:
            return self.away(move, gone, stop)
        first, last = self.bounds(move, stay, gone)
        since = None if stay["phase"] == "held" else stay["from_time"]
        commit = self.last_commit(move)
        floors = [each for each in (since, commit) if each is not None]
        return until, min(stop, max([first, *floors])), min(stop, max([last, *floors]))

    def rested(self, move: Row) -> Span | None:
        """Nobody's before: only what passed while the group had members."""
        if move["idle_ms"] is None or not self.classic_before(move)["members"]:
            return None
        begun = move["move_time"] - move["idle_ms"] * 1000
        return move["move_time"], begun, begun

    def bounds(self, move: Row, stay: Row, gone: Row | None) -> tuple[int, int]:
        session, heartbeat, rebalance, join = self.timeouts(move, stay)
        kind = gone["leave_kind"] if gone is not None and stay["ended_by"] == "member_left" else None
        stop: int = stay["to_time"]
        match kind:
            case "session_timeout_likely" | "static_expired_likely":
                return stop - (session + join) * 1000, stop - (session - heartbeat) * 1000
            case "rebalance_timeout_likely":
                named = self.setting(move, "heartbeat.interval.ms")
                third = rebalance // 3 if named is None or self.is_classic(move, stay) else named
                return stop - rebalance * 1000, stop - max(rebalance - third, 0) * 1000
            case "left_or_timed_out":
                return stop - max(rebalance, session + join) * 1000, stop
        return stop - rebalance * 1000, stop

    def away(self, move: Row, gone: Row, stop: int) -> Span:
        session = self.timeouts(move, self.stay(move))[0]
        until = min(stop, self.deserted_since(move, stop))
        left = min(gone["away_since_time"], until)
        commit = self.last_commit(move)
        floor = left if commit is None else min(commit, until)
        reached = stop if move["to_member_id"] is None else max(move["move_time"], stop)
        until = until if move["to_member_id"] is None else reached
        first = max(min(stop - session * 1000, left), min(gone["from_time"] or 0, left))
        return until, max(first, floor if commit is not None else 0), max(left, floor)

    def deserted_since(self, move: Row, stop: int) -> int:
        """When the last member that was not away went; the stop itself if one is there."""
        ends = []
        for row in self.of_group("membership_intervals", move["group_id"]):
            if row["from_offset"] >= move["evidence_first_offset"]:
                continue
            end = row["away_since_time"] or row["to_time"]
            if row["to_offset"] is None or row["to_offset"] > move["evidence_first_offset"]:
                end = row["away_since_time"] or stop
            ends.append(min(end, stop))
        return max(ends, default=stop)

    # -- what it rests on

    def is_classic(self, move: Row, stay: Row) -> bool:
        return move["group_type"] == "classic" or self.member_record(move, stay).get("classic_member") is not None

    def stay(self, move: Row) -> Row:
        at = {move["move_offset"]} if move["group_type"] == "classic" else {move["evidence_first_offset"]}
        (result,) = (
            row
            for row in self.of_group("ownership_intervals", move["group_id"])
            if row["member_id"] == move["from_member_id"]
            and all(row[name] == move[name] for name in ("topic", "topic_id", "partition", "role"))
            and row["to_offset"] in at
        )
        return result

    def gone(self, move: Row, stay: Row) -> Row | None:
        rows = self.of_group("membership_intervals", move["group_id"])
        result = [r for r in rows if (r["member_id"], r["to_offset"]) == (move["from_member_id"], stay["to_offset"])]
        return result[0] if result else None

    def timeouts(self, move: Row, stay: Row) -> tuple[int, int, int, int]:
        """Session, heartbeat, rebalance, and how long the join phase may hide a removal."""
        if move["group_type"] == "classic":
            before, now = self.classic_before(move), self.classic_at(move)
            old = self.classic_member(move)
            session = old["session_timeout_ms"]
            rebalance = old["rebalance_timeout_ms"]
            others = any(same(one, other) for one in before["members"] for other in now["members"])
            return session, session // 3, session if rebalance in (None, -1) else rebalance, session // 3 * others
        record = self.member_record(move, stay)
        rebalance = record.get("rebalance_timeout_ms")
        if record.get("classic_member") is not None:
            session, heartbeat = record["classic_member"]["session_timeout_ms"], None
        else:
            session = self.setting(move, "session.timeout.ms") or 45_000
            heartbeat = self.setting(move, "heartbeat.interval.ms")
        beat = session // 3 if heartbeat is None else heartbeat
        return session, beat, session if rebalance in (None, -1) else rebalance, 0

    def classic_before(self, move: Row) -> Row:
        return self.values(move, lambda offset: offset < move["move_offset"])

    def classic_member(self, move: Row) -> Row:
        """As the last record before the move that names it. It may be gone for some generations, its partition still
        withheld."""
        rows = sorted(self.of_group("classic_group_metadata", move["group_id"]), key=lambda row: row["record_offset"])
        named = [
            each
            for row in rows
            if row["record_offset"] < move["move_offset"]
            for each in row["members"] or ()
            if each["member_id"] == move["from_member_id"]
        ]
        result: Row = named[-1]
        return result

    def classic_at(self, move: Row) -> Row:
        return self.values(move, lambda offset: offset == move["move_offset"])

    def values(self, move: Row, chosen: Any) -> Row:
        rows = [
            row for row in self.of_group("classic_group_metadata", move["group_id"]) if chosen(row["record_offset"])
        ]
        result = max(rows, key=lambda row: int(row["record_offset"]), default=None)
        return {"members": []} if result is None or result["is_tombstone"] else result

    def member_record(self, move: Row, stay: Row) -> Row:
        rows = [
            row
            for row in self.of_group("group_member_metadata", move["group_id"])
            if row["member_id"] == stay["member_id"]
            and not row["is_tombstone"]
            and row["record_offset"] <= stay["to_offset"]
        ]
        return max(rows, key=lambda row: int(row["record_offset"]), default={})

    def is_told_before(self, move: Row) -> bool:
        """A target before took it away, gave it to nobody, and was overtaken."""
        return move["to_member_id"] is not None and any(
            other["kind"] == "revoked"
            and other["assignment_offset"] != move["assignment_offset"]
            and other["evidence_first_offset"] == move["evidence_first_offset"]
            and all(other[name] == move[name] for name in ("topic", "topic_id", "partition", "role", "from_member_id"))
            for other in self.of_group("partition_moves", move["group_id"])
            if other["group_type"] != "classic"
        )

    def commits(self, move: Row) -> list[Row]:
        return [
            row
            for row in self.of_group("offset_commits", move["group_id"])
            if (row["topic"], row["partition"]) == (move["topic"], move["partition"])
            and row["record_offset"] <= move["move_offset"]
        ]

    def last_commit(self, move: Row) -> int | None:
        rows = [row for row in self.commits(move) if not row["is_tombstone"]]
        if not rows:
            return None
        newest = max(rows, key=lambda row: int(row["record_offset"]))
        time: int = newest["record_time"] if newest["commit_time"] is None else newest["commit_time"]
        return time

    # -- nothing to read

    def quiet(self, move: Row, since: int, until: int) -> int:
        committed = [
            row["committed_offset"]
            for row in self.of_group("offset_history", move["group_id"])
            if (row["topic"], row["partition"]) == (move["topic"], move["partition"])
            and row["from_offset"] <= move["move_offset"]
            and (row["to_offset"] is None or move["move_offset"] < row["to_offset"])
        ]
        known = sorted(
            (row["captured_time"], row["log_end_offset"], row["topic_id"])
            for row in self.rows["topic_snapshots"]
            if (row["topic"], row["partition"]) == (move["topic"], move["partition"])
            and row["log_end_offset"] is not None
        )
        return sum(
            max(0, min(until, after) - max(since, before))
            for (before, end, topic), (after, same_end, same_topic) in pairwise(known)
            if [end] == [same_end] == committed and (None in (topic, same_topic) or topic == same_topic)
        )


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
        types = {row["group_type"] for row in model.of_group("membership_intervals", move["group_id"])}
        if len(types) > 1:
            # What a conversion leaves behind has another name in the records of the other type.
            continue
        wanted = model.unread(move)
        got = None if move["unread_high_ms"] is None else (move["unread_low_ms"], move["unread_high_ms"])
        kinds[move["group_type"], move["kind"], got is not None] += 1
        if got != wanted:
            result.append((got, wanted, move))
    return result, kinds
