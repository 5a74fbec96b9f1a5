"""What differs in a group between two times."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from jobs.answers.history import History
from jobs.answers.states.members import committed_at, members_at
from jobs.answers.table_reader import Row, equal


class Difference(NamedTuple):
    """`before` and `after` are NULL if there was nothing; `delta` is only for offsets."""

    what: str
    member_id: str | None
    topic: str | None
    partition: int | None
    before: Any
    after: Any
    delta: int | None = None


def differences(history: History, group: str, first: datetime, last: datetime) -> Iterator[Difference]:
    before, after = (known_at(history, group, at) for at in (first, last))
    # Records of the group are missing. If not all members are known, no member counts as joined or left.
    has_unknown_members = any(of["num_members"].get(GROUP_ITSELF, 0) is None for of in (before, after))
    for what in ("offset",) if has_unknown_members else before:
        for key, old, new in changes(before[what], after[what]):
            is_number = isinstance(old, int) and isinstance(new, int) and what == "offset"
            yield Difference(what, *key, old, new, new - old if is_number else None)


Key = tuple[str | None, str | None, int | None]
GROUP_ITSELF: Key = (None, None, None)
OF_THE_GROUP = ("state", "generation_or_epoch", "assignor", "num_members")


def known_at(history: History, group: str, at: datetime) -> dict[str, dict[Key, Any]]:
    of_group = equal("group_id", group)
    state = next(iter(history.rows_at("group_state_intervals", at, of_group)), None)
    known: dict[str, dict[Key, Any]] = {
        **{name: {} if state is None else {GROUP_ITSELF: state[name]} for name in OF_THE_GROUP},
        "member": {(row["member_id"], None, None): client(row) for row in members_at(history, group, at)},
        "owner": {},
        "offset": {},
    }
    for row in history.rows_at("ownership_intervals", at, of_group):
        key = (None, row["topic"] or row["topic_id"], row["partition"])
        # In a share group a partition may have several owners; in a streams group there may be standby tasks for it.
        known["owner"][key] = ", ".join(sorted(filter(None, [known["owner"].get(key), owner(row)])))
    for (topic, partition), row in committed_at(history, group, at).items():
        known["offset"][None, topic, partition] = row["committed_offset"]
    return known


def client(row: Row) -> str:
    return f"{row['client_id'] or ''}@{row['client_host'] or ''}"


def owner(row: Row) -> str:
    words = [str(row["member_id"])]
    words += [row["role"]] if row["role"] not in (None, "active") else []
    words += [row["phase"]] if row["phase"] != "assigned" else []
    return " ".join(words)


def changes(before: Mapping[Key, Any], after: Mapping[Key, Any]) -> Iterator[tuple[Key, Any, Any]]:
    for key in sorted(before.keys() | after.keys(), key=lambda key: tuple((part is not None, part) for part in key)):
        if before.get(key) != after.get(key):
            yield key, before.get(key), after.get(key)
