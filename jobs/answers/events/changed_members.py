"""The members that joined or left in an event, with the fields of their records. The fields depend on the group
type."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.answers.history import History, group_records
from jobs.answers.table_reader import Condition, Row, equal
from schemas.words.records import GroupType

CLIENT = ("member_id", "group_instance_id", "client_id", "client_host", "rack_id", "leave_kind", "confidence")
EPOCHS = ("member_epoch", "previous_member_epoch", "member_state")
# By group type: fields from the member's own record, and from the record of what it owns.
ABOUT: Mapping[str, tuple[str, ...]] = {
    GroupType.CONSUMER: (
        "subscribed_topic_names", "subscribed_topic_regex", "server_assignor", "rebalance_timeout_ms",
    ),
    GroupType.SHARE: ("subscribed_topic_names",),
    GroupType.STREAMS: ("process_id", "topology_epoch", "rebalance_timeout_ms"),
}  # fmt: skip
OWNED: Mapping[str, tuple[str, ...]] = {
    GroupType.CONSUMER: EPOCHS,
    GroupType.SHARE: EPOCHS,
    GroupType.STREAMS: (*EPOCHS, "active_tasks", "standby_tasks", "warmup_tasks"),
}
# From a classic group's value.
CLASSIC = ("session_timeout_ms", "rebalance_timeout_ms")
Changes = Sequence[tuple[str, str]]


def changed_members(history: History, group: Row, changes: Changes, through: int) -> list[Row]:
    """`group`: its id, type and offsets partition. `changes`: how each member changed, and its id. A restarted member
    appears under two ids. Records after offset `through` belong to later events."""
    stays = newest_stays(history, group["group_id"], {member for _, member in changes}, through)
    if group["group_type"] == GroupType.CLASSIC:
        own = classic_fields(history, group, stays, through)
    else:
        own = modern_fields(history, group, through)
    unknown = dict.fromkeys(CLIENT)
    return [
        {"change": change, **unknown, **stays.get(member, {}), "member_id": member, **left_only(change), **own(member)}
        for change, member in changes
    ]


def left_only(change: str) -> Row:
    """Without how a joining member left later: that belongs to another event."""
    return {} if change == "left" else {"leave_kind": None}


def newest_stays(history: History, group_id: str, members: set[str], through: int) -> dict[str, Row]:
    columns = [*CLIENT, "from_record_offset", "to_record_offset"]
    rows = history.rows("membership_intervals", equal("group_id", group_id), columns=columns)
    stays: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: int(row["from_record_offset"])):
        if row["member_id"] in members and row["from_record_offset"] <= through:
            stays[row["member_id"]] = {name: row[name] for name in CLIENT}
    return stays


def classic_fields(history: History, group: Row, stays: Mapping[str, Row], through: int) -> Any:
    """From the newest value with the member."""
    rows = group_records(history, group, until(through), "classic_group_metadata", ["generation", "members"])
    by_member: dict[str, Row] = {}
    for row in rows:
        for member in row["members"] or ():
            if member["member_id"] in stays:
                subscribed = (member["subscription"] or {}).get("topics")
                by_member[member["member_id"]] = {
                    "generation": row["generation"],
                    **{name: member[name] for name in CLASSIC},
                    "subscribed_topics": subscribed,
                }
    unknown = dict.fromkeys(("generation", *CLASSIC, "subscribed_topics"))
    return lambda member: by_member.get(member, unknown)


def modern_fields(history: History, group: Row, through: int) -> Any:
    """From the newest records that are not tombstones."""
    kind = group["group_type"]
    tables = {"group_member_metadata": ABOUT.get(kind, ()), "current_member_assignments": OWNED.get(kind, ())}
    by_member: dict[str, Row] = {}
    unknown: Row = {}
    for table, names in tables.items():
        unknown |= dict.fromkeys(names)
        columns = ["group_type", "member_id", "is_tombstone", *names]
        for row in group_records(history, group, until(through), table, columns):
            if row["group_type"] == kind and not row["is_tombstone"]:
                by_member.setdefault(row["member_id"], {}).update({name: row[name] for name in names})
    return lambda member: {**unknown, **by_member.get(member, {})}


def until(through: int) -> Condition:
    return Condition("record_offset", "<=", through)
