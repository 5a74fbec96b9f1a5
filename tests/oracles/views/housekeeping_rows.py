"""Rows of tables for the cases of views of housekeeping. Times: seconds after START."""

from dataclasses import dataclass
from typing import Any

from tests.builders.tables.history import Row, at, coverage, interval

HOUR, DAY = 3_600, 86_400
C, D = {"cluster": "c"}, {"cluster": "d"}


@dataclass(frozen=True)
class Case:
    """`expected` names some of the columns, rows are all and in order."""

    view: str
    rows: dict[str, list[Row]]
    expected: list[Row]


def known(as_of: float, cluster: Row = C) -> Row:
    return {**cluster, **coverage(0, 99, 0, as_of), "num_records": 100}


def limit(setting: str, value: int) -> Row:
    return {**C, "setting": setting, "value": value}


def live(group: str, partition: int = 0, topic: str = "orders", last: float = 60, **more: Any) -> Row:
    key = {"group_id": group, "topic": topic, "partition": partition, "committed_offset": 40, "via": "plain"}
    times = {"commit_time": at(50), "last_commit_time": at(last), "num_commits": 1}
    return {**C, **interval(50, None, 7), **key, **times, **more}


def gone(row: Row, end: float) -> Row:
    return {**row, "to_time": at(end), "to_record_offset": 90, "is_provisional": False, "ended_by": "deleted"}


def owned(group: str, partition: int, client: str | None, begin: float = 20, topic: str = "orders", **more: Any) -> Row:
    who = {"client_id": client, "client_host": None if client is None else f"/{client}", "member_id": f"m-{client}"}
    return {**C, **interval(begin, None, 9), "group_id": group, "topic": topic, "partition": partition, **who, **more}


def member(group: str, topics: list[str] | None, assignment: int = 5, change: str = "kept") -> Row:
    key = {"group_id": group, "assignment_offset": assignment, "member_id": f"m-{topics}"}
    return {**C, **key, "subscribed_topics": topics, "change": change}


def ends(start: int, end: int | None, partition: int = 0, cluster: Row = C, seconds: float = 10, **more: Any) -> Row:
    bounds = {"log_start_offset": start, "log_end_offset": end}
    return {**cluster, "captured_time": at(seconds), "topic": "orders", "partition": partition, **bounds, **more}


def settings(seconds: float, **values: str) -> Row:
    named = [(name.replace("_", "."), value) for name, value in values.items()]
    return {**C, "captured_time": at(seconds), "settings": named or None}


def state(group: str, members: int | None, begin: float = 0, **more: Any) -> Row:
    name = None if members is None else "Stable" if members else "Empty"
    return {**C, **interval(begin, None, 3), "group_id": group, "state": name, "num_members": members, **more}


def forecast(group: str, expires: float | None, rule: str = "simple", **more: Any) -> Row:
    time = None if expires is None else at(expires)
    return {**C, "group_id": group, "rule": rule, "expires_time": time, "as_of_time": at(0), "topic": "orders", **more}


def verdict(group: str, partition: int | None, own: str, seconds: float, lag: int | None = None, **more: Any) -> Row:
    topic = None if partition is None else "orders"
    judged = {"own_verdict": own, "burrow_verdict": "OK", "lag": lag, "as_of_time": at(seconds)}
    return {**C, "group_id": group, "topic": topic, "partition": partition, **judged, **more}
