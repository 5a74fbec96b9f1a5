"""The slow reading of commits: one record after the other, with dictionaries, as the coordinator loads them. Written
from the rules of the log alone; what it says is what the fast linking has to say."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

Key = tuple[str, str, int]
Row = dict[str, Any]


@dataclass
class Facts:
    missing: set[int] = field(default_factory=set)
    retention_ms: int | None = None
    # (group, time); (group, first, last or None, since); (topic, from, to)
    group_tombstones: set[tuple[str, int]] = field(default_factory=set)
    empty_groups: list[tuple[str, int, int | None, int | None]] = field(default_factory=list)
    topic_deletions: list[tuple[str, int, int]] = field(default_factory=list)


def later(one: int | None, other: int | None) -> int | None:
    known = [time for time in (one, other) if time is not None]
    return max(known) if known else None


class SlowOffsets:
    """`log` holds commits, markers and holes (`{"hole": True, "record_offset", "record_time"}`) by offset."""

    def __init__(self, log: list[Row], facts: Facts) -> None:
        self.log, self.facts = log, facts
        self.committed: dict[Key, Row] = {}
        self.pending: dict[int | None, dict[Key, Row]] = defaultdict(dict)
        # Of these, what a deletion took: the older coordinator keeps it when it loads the log.
        self.deleted_pending: dict[int | None, dict[Key, Row]] = defaultdict(dict)
        self.open_transactions: dict[int | None, Row] = {}
        self.time: dict[Key, int | None] = {}
        self.seen: dict[Key, int] = {}
        self.alive: dict[str, tuple[int, int | None]] = {}
        self.last_of_group: dict[str, int | None] = {}
        self.rows: list[Row] = []
        self.transactions: list[Row] = []
        self.liveness: list[tuple[str, int, int | None, int | None, int | None, bool]] = []
        self.steps: list[tuple[str, int]] = []
        # Group, offsets of the pending commit and of its marker.
        self.revived: list[tuple[str, int, int]] = []
        # By the rules of 3.7's preview coordinator, in which a COMMIT overrules whatever came before it.
        self.preview: dict[Key, Row] = {}
        self.preview_pending: dict[int | None, dict[Key, Row]] = defaultdict(dict)
        # Group, offsets of the commit and of its marker, where it has another value from then on.
        self.differing: list[tuple[str, int, int]] = []
        self.unexplained: list[tuple[Key, Row, Row]] = []
        for place, record in enumerate(log):
            self.apply(record)
            self.apply_to_preview(record)
            if self.ends_deletion(place):
                self.explain()
            self.note_alive(record)
        for row in self.committed.values():
            self.rows.append({**row, "is_provisional": True, "is_to_exact": True, "ended_by": None})
        for producer, transaction in self.open_transactions.items():
            lost = transaction["num_superseded"] + sum(
                self.is_behind(key, entry) for key, entry in self.pending[producer].items()
            )
            self.transactions.append({**transaction, "outcome": "open", "is_provisional": True, "num_superseded": lost})
        for group, (offset, time) in self.alive.items():
            self.liveness.append((group, offset, time, None, None, False))

    def apply(self, record: Row) -> None:
        if record.get("hole"):
            self.hole(record)
        elif "marker" in record:
            self.end_transaction(record)
        else:
            self.clock(record)
            self.commit(record)

    def apply_to_preview(self, record: Row) -> None:
        if record.get("hole"):
            self.preview.clear()
            self.preview_pending.clear()
        elif "marker" in record:
            entries = self.preview_pending.pop(record["producer_id"], {})
            if record["marker"] == "COMMIT":
                self.preview |= entries
                self.compare_with_preview(entries, record)
        else:
            key = (record["group_id"], record["topic"], record["partition"])
            is_told = record["is_transactional"]
            if record["is_tombstone"]:
                self.preview.pop(key, None)
            elif is_told or (is_told is None and record["producer_id"] is not None):
                self.preview_pending[record["producer_id"]][key] = record
            else:
                self.preview[key] = record

    def compare_with_preview(self, entries: dict[Key, Row], marker: Row) -> None:
        shown = ("committed_offset", "leader_epoch", "metadata")
        for key, entry in entries.items():
            ours = self.committed.get(key)
            # What is deleted for today's coordinator is revived for all older ones.
            is_readable = ours is not None and ours["topic_id"] is None and entry["topic_id"] is None
            if ours is not None and is_readable and any(ours[name] != entry[name] for name in shown):
                self.differing.append((key[0], entry["record_offset"], marker["record_offset"]))

    def clock(self, record: Row) -> None:
        group, time = record["group_id"], record["record_time"]
        before = self.last_of_group.get(group)
        if before is not None and time is not None and time < before - 1_000_000:
            self.steps.append((group, record["record_offset"]))
        self.last_of_group[group] = time

    def commit(self, record: Row) -> None:
        key = (record["group_id"], record["topic"], record["partition"])
        offset = record["record_offset"]
        before = self.seen.get(key, -1)
        record = {**record, "is_exact": self.is_complete(before, offset)}
        self.seen[key] = offset
        reported = record["is_transactional"]
        if record["is_tombstone"]:
            self.delete(key, record)
        elif reported or (reported is None and record["producer_id"] is not None):
            self.wait(key, record)
        else:
            self.store(key, record, record, record["is_exact"])

    def wait(self, key: Key, record: Row) -> None:
        producer = record["producer_id"]
        transaction = self.open_transactions.setdefault(
            producer,
            {
                "producer_id": producer, "producer_epoch": record["producer_epoch"],
                "first_offset": record["record_offset"], "first_time": record["record_time"], "end_time": None,
                "groups": set(), "num_commits": 0, "num_superseded": 0, "evidence_last_offset": None,
            },
        )  # fmt: skip
        transaction["groups"] = transaction["groups"] | {record["group_id"]}
        transaction["num_commits"] += 1
        transaction["num_superseded"] += key in self.pending[producer]
        transaction["evidence_last_offset"] = record["record_offset"]
        self.pending[producer][key] = record
        self.deleted_pending[producer].pop(key, None)

    def is_behind(self, key: Key, entry: Row) -> bool:
        stored = self.committed.get(key)
        return stored is not None and stored["stored_offset"] > entry["record_offset"]

    def end_transaction(self, marker: Row) -> None:
        producer = marker["producer_id"]
        entries = self.pending.pop(producer, {})
        deleted = self.deleted_pending.pop(producer, {})
        transaction = self.open_transactions.pop(producer, None)
        if transaction is None:
            return
        lost = {key for key, entry in entries.items() if self.is_behind(key, entry)}
        self.transactions.append(
            {
                **transaction,
                "outcome": "committed" if marker["marker"] == "COMMIT" else "aborted",
                "is_provisional": False,
                "num_superseded": transaction["num_superseded"] + len(lost),
                "end_time": marker["record_time"],
                "evidence_last_offset": marker["record_offset"],
            }
        )
        if marker["marker"] == "COMMIT":
            for key, entry in deleted.items():
                if key not in self.committed:
                    self.revived.append((key[0], entry["record_offset"], marker["record_offset"]))
            for key, entry in entries.items():
                if key not in lost:
                    exact = entry["is_exact"] and self.is_complete(entry["record_offset"], marker["record_offset"])
                    self.store(key, entry, marker, exact)

    def store(self, key: Key, record: Row, effect: Row, is_exact: bool) -> None:
        time = self.time[key] = later(self.time.get(key), effect["record_time"])
        is_transaction = effect is not record
        producer = record["producer_id"] if is_transaction else None
        is_possible = record["is_transactional"] is None and record["producer_id"] is None
        same = ("committed_offset", "metadata", "leader_epoch", "topic_id")
        old = self.committed.get(key)
        if old is not None and old["producer_id"] == producer and all(old[name] == record[name] for name in same):
            old["num_commits"] += 1
            old["is_possible"] |= is_possible
            old["last_commit_time"], old["last_expire_time"] = record["commit_time"], record["expire_time"]
            old["evidence_last_offset"], old["stored_offset"] = effect["record_offset"], record["record_offset"]
            return
        previous = None
        if old is not None:
            is_recreated = None not in (old["topic_id"], record["topic_id"]) and old["topic_id"] != record["topic_id"]
            self.close(key, effect["record_offset"], time, is_exact, "topic_recreated" if is_recreated else "commit")
            previous = None if is_recreated else old["committed_offset"]
        self.committed[key] = {
            "key": key, **{name: record[name] for name in same}, "from_record_offset": effect["record_offset"],
            "from_time": time, "to_record_offset": None, "to_time": None, "is_from_exact": is_exact,
            "previous_offset": previous, "commit_time": record["commit_time"], "num_commits": 1,
            "last_commit_time": record["commit_time"], "last_expire_time": record["expire_time"],
            "producer_id": producer, "is_possible": is_possible,
            "stored_offset": record["record_offset"], "evidence_first_offset": record["record_offset"],
            "evidence_last_offset": effect["record_offset"],
        }  # fmt: skip

    def close(self, key: Key, offset: int, time: int | None, is_exact: bool, why: str) -> Row:
        row = self.committed.pop(key)
        row |= {"to_record_offset": offset, "to_time": time, "is_to_exact": is_exact, "ended_by": why,
        "is_provisional": False,
                "evidence_last_offset": offset}  # fmt: skip
        self.rows.append(row)
        return row

    def delete(self, key: Key, record: Row) -> None:
        for producer, entries in self.pending.items():
            if (entry := entries.pop(key, None)) is not None:
                self.deleted_pending[producer][key] = entry
                self.open_transactions[producer]["num_superseded"] += 1
        time = self.time[key] = later(self.time.get(key), record["record_time"])
        if key in self.committed:
            row = self.close(key, record["record_offset"], time, record["is_exact"], "?")
            self.unexplained.append((key, row, record))

    def ends_deletion(self, place: int) -> bool:
        """Whether the write that the record is of has no tombstone behind it."""
        record = self.log[place]
        if "marker" in record or record.get("hole"):
            return False
        for after in self.log[place + 1 :]:
            if "marker" in after:
                continue
            if after.get("hole") or after["record_time"] is None or after["record_time"] != record["record_time"]:
                return True
            if after["is_tombstone"]:
                return False
        return True

    def explain(self) -> None:
        for key, row, tombstone in self.unexplained:
            row["ended_by"] = self.reason(key, row, tombstone)
        self.unexplained = []

    def reason(self, key: Key, row: Row, tombstone: Row) -> str:
        group, topic, _ = key
        time, facts = tombstone["record_time"], self.facts
        is_whole = not any(each[:2] == (group, topic) for each in self.committed)
        is_with_group = time is not None and (group, time) in facts.group_tombstones
        windows = [(low, high) for name, low, high in facts.topic_deletions if name == topic]
        is_with_topic = time is not None and any(low <= time <= high for low, high in windows)
        age = self.overdue(group, row, tombstone)
        is_seen = time is not None and any(low <= time <= high for low, high in windows if low < high)
        is_swept = age is not None and 0 <= age <= 20 * 60 * 1_000_000 and not is_seen
        if is_with_topic and is_whole and not is_with_group and not is_swept:
            return "topic_deleted"
        if age is not None and age >= 0:
            return "expired"
        if is_with_group:
            return "deleted"
        is_age_known = row["last_expire_time"] is not None or facts.retention_ms is not None
        return "deleted" if not is_whole and is_age_known else "tombstone_unknown"

    def overdue(self, group: str, row: Row, tombstone: Row) -> int | None:
        """How long it had expired when it was deleted, below 0 where it had not; None: not known."""
        time: int | None = tombstone["record_time"]
        if time is None:
            return None
        if row["last_expire_time"] is not None:
            return time - int(row["last_expire_time"])
        since = row["last_commit_time"]
        for name, first, last, emptied in self.facts.empty_groups:
            is_in = first < tombstone["record_offset"] and (last is None or tombstone["record_offset"] <= last)
            if name == group and is_in and emptied is not None:
                since = emptied
        retention = self.facts.retention_ms
        return None if retention is None or since is None else time - int(since) - retention * 1000

    def is_complete(self, after: int, upto: int) -> bool:
        return not any(after < offset < upto for offset in self.facts.missing)

    def hole(self, hole: Row) -> None:
        offset = hole["record_offset"]
        for key in list(self.committed):
            time = later(self.committed[key]["from_time"], hole["record_time"])
            self.close(key, offset, time, False, "coverage_hole")
        for producer, transaction in self.open_transactions.items():
            lost = sum(self.was_behind(key, entry) for key, entry in self.pending[producer].items())
            seen = {"outcome": "open", "is_provisional": False, "evidence_last_offset": offset}
            self.transactions.append({**transaction, **seen, "num_superseded": transaction["num_superseded"] + lost})
        self.open_transactions.clear()
        self.pending.clear()
        self.deleted_pending.clear()

    def was_behind(self, key: Key, entry: Row) -> bool:
        """Of the rows that the hole has just ended."""
        mine = [row for row in self.rows if row["key"] == key and row["ended_by"] == "coverage_hole"]
        return bool(mine) and mine[-1]["stored_offset"] > entry["record_offset"]

    def note_alive(self, record: Row) -> None:
        now = {key[0] for key in self.committed} | {key[0] for some in self.pending.values() for key in some}
        offset, time = record["record_offset"], record["record_time"]
        for group in now - set(self.alive):
            self.alive[group] = (offset, time)
        for group in set(self.alive) - now:
            began, since = self.alive.pop(group)
            self.liveness.append((group, began, since, offset, later(since, time), bool(record.get("hole"))))
