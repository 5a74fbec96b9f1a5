"""When committed offsets were last committed, at a time.

A row of `offset_history` has the time of its last commit. If that is after the requested time, the offset was committed
again and again, and the last commit until then is in `offset_commits`.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal
from jobs.output.zones import moved
from schemas.words.history import CommitVia

# Of rows of offset_history.
COLUMNS = (
    "group_id", "topic", "partition", "from_time", "to_time", "is_provisional", "from_record_offset", "commit_time",
    "last_commit_time", "via",
)  # fmt: skip
RAW = ("group_id", "topic", "partition", "record_offset", "commit_time", "is_tombstone", "is_transactional")
# Who commits the same offset again does so every few seconds. So a short time before the requested one is read first,
# and a longer one only for what is not in it.
FIRST_SPAN, GROWTH = timedelta(minutes=1), 10

Key = tuple[str, str, int]


def last_commits(history: History, rows: Sequence[Row], at: datetime) -> list[datetime | None]:
    """Of each of these rows of offset_history, which are in effect at that time. None: its records have no time."""
    known = {key(row): row["last_commit_time"] for row in rows}
    later = {key(row): row for row in rows if is_later(row, at)}
    # Which commits of transactions had taken effect by then is not in their own records: the first one had.
    known |= {each: row["commit_time"] for each, row in later.items()}
    plain = {each: row for each, row in later.items() if row["via"] == CommitVia.PLAIN}
    known |= repeated(history, plain, at)
    return [known[key(row)] for row in rows]


def last_of_groups(rows: Sequence[Row], times: Iterable[datetime | None]) -> dict[str, datetime]:
    """By group. Without those of which no time is known."""
    newest: dict[str, datetime] = {}
    for row, time in zip(rows, times, strict=True):
        if time is not None:
            newest[row["group_id"]] = max(time, newest.get(row["group_id"], time))
    return newest


def key(row: Row) -> Key:
    return row["group_id"], row["topic"], row["partition"]


def is_later(row: Row, at: datetime) -> bool:
    return row["last_commit_time"] is not None and bool(row["last_commit_time"] > at)


def repeated(history: History, rows: dict[Key, Row], at: datetime) -> dict[Key, datetime]:
    """The last commits until that time that repeat these rows."""
    found: dict[Key, datetime] = {}
    groups = {group for group, _, _ in rows}
    of_group = [equal("group_id", *groups)] if len(groups) == 1 else []
    earliest = min((row["from_time"] for row in rows.values() if row["from_time"] is not None), default=at)
    until, span = at, FIRST_SPAN
    while until > earliest and len(found) < len(rows):
        since = max(moved(until, -span), earliest)
        times = Condition("record_time", ">", since), Condition("record_time", "<=", until)
        commits = history.rows("offset_commits", *of_group, *times, columns=RAW)
        found |= newest(commits, {each: row for each, row in rows.items() if each not in found})
        until, span = since, span * GROWTH
    return found


def newest(commits: Iterable[Row], rows: dict[Key, Row]) -> dict[Key, datetime]:
    times: dict[Key, Any] = {}
    for commit in sorted(commits, key=lambda row: int(row["record_offset"])):
        row = rows.get(key(commit))
        is_plain = not (commit["is_tombstone"] or commit["is_transactional"])
        if row is not None and is_plain and commit["record_offset"] >= row["from_record_offset"]:
            times[key(commit)] = commit["commit_time"]
    return times
