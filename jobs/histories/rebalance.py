"""One rebalance with all that belongs to it: who came and went, what moved, what it cost, which records say so."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.histories.history import History
from jobs.histories.table_reader import Condition, Row, equal
from jobs.row_output import time_text
from schemas.history_words import MoveKind, RebalanceTrigger
from schemas.vocabulary import OFFSETS_TOPIC, GroupType

TRIGGERS = {trigger.value: trigger.meaning for trigger in RebalanceTrigger}
# Of partitions one by one; the counts and the other formats have all.
SHOWN_MOVES = 20
COUNTS = {
    "num_moved": "moved",
    "num_returned": "stopped and returned",
    "num_withheld": "withheld for the next round",
    "num_ready_to_migrate": "given at once",
    "num_unknown_owned": "gone with their topics",
    "num_unowned": "left without owner",
}


@dataclass(frozen=True)
class Told:
    """`members` are those that came, went or restarted, with client and host; `moves` as in partition_moves."""

    rebalance: Row
    members: list[Row]
    moves: list[Row]


def rebalance_at(history: History, group: str, at: datetime) -> Told | None:
    """The one that holds the instant, else the nearest before it."""
    of_group = equal("group_id", group)
    known = history.rows("rebalances", of_group, Condition("start_time", "<=", at))
    if not known:
        return None
    found = max(known, key=lambda row: (row["start_time"], row["assignment_offset"]))
    of_assignment = equal("assignment_offset", found["assignment_offset"])
    moves = history.rows("partition_moves", of_group, of_assignment)
    return Told(found, changed_members(history, found), sorted(moves, key=move_place))


def move_place(row: Row) -> tuple[str, int, int]:
    return str(row["topic"] or row["topic_id"]), int(row["partition"]), int(row["move_offset"])


def changed_members(history: History, rebalance: Row) -> list[Row]:
    """A member that restarted came and went under two ids."""
    stays: dict[str, Row] = {}
    columns = ["member_id", "group_instance_id", "client_id", "client_host", "leave_kind", "from_offset", "confidence"]
    of_group = equal("group_id", rebalance["group_id"])
    wanted = {*rebalance["members_joined"], *rebalance["members_left"]}
    for row in sorted(
        history.rows("membership_intervals", of_group, columns=columns), key=lambda row: row["from_offset"]
    ):
        if row["member_id"] in wanted and row["from_offset"] <= rebalance["evidence_last_offset"]:
            stays[row["member_id"]] = row
    return [
        {"change": change, **(stays.get(member) or {**dict.fromkeys(columns), "member_id": member})}
        for change in ("joined", "left")
        for member in rebalance[f"members_{change}"]
    ]


def lines(told: Told, at: datetime) -> Iterator[tuple[str, str]]:
    """What and its words, for people."""
    row = told.rebalance
    unit = "generation" if row["group_type"] == GroupType.CLASSIC else "target epoch"
    yield "Group", f"{row['group_id']} ({row['group_type']})"
    yield "Rebalance", f"{unit} {shown(row['from_generation'])} to {row['to_generation']}, {row['outcome']}"
    yield "Trigger", f"{row['trigger']} ({row['confidence']}): {TRIGGERS[row['trigger']]}"
    yield "Time", times(row, at)
    if row["mode"]:
        yield "Mode", f"{row['mode']}{', hands out what the round before withheld' if row['is_follow_up'] else ''}"
    for member in told.members:
        yield member["change"].capitalize(), member_text(member)
    yield "Members", f"{row['num_members_before']} before, {row['num_members_after']} after"
    if row["leader_before"] != row["leader_after"]:
        yield "Leader", f"{shown(row['leader_before'])}, then {shown(row['leader_after'])}"
    yield "Partitions", partitions(row)
    yield from (("", move_text(move)) for move in told.moves[:SHOWN_MOVES])
    if len(told.moves) > SHOWN_MOVES:
        yield "", f"and {len(told.moves) - SHOWN_MOVES} more in partition_moves"
    yield "Cost", cost(told)
    if row["unpersisted_rounds"]:
        yield "Lost rounds", f"{row['unpersisted_rounds']} before it that left no record"
    first, last = row["evidence_first_offset"], row["evidence_last_offset"]
    yield "Evidence", f"{OFFSETS_TOPIC}-{row['evidence_partition']}, records {first} to {last}"


def shown(value: Any) -> str:
    return "none" if value is None else str(value)


def times(row: Row, at: datetime) -> str:
    bound = "" if row["is_start_exact"] else " or earlier"
    began = f"from {time_text(row['start_time'])}{bound}"
    end = row["end_time"]
    if end is None:
        return f"{began}, not over"
    length = f"{row['duration_ms']:,} ms{'' if row['is_start_exact'] else ' at least'}"
    distance = "" if at < end else f"; over {seconds(at - end)} before the instant asked for"
    return f"{began} to {time_text(end)}: {length}{distance}"


def seconds(length: Any) -> str:
    return f"{length.total_seconds():,.3f} s"


def member_text(member: Row) -> str:
    instance = f", instance {member['group_instance_id']}" if member["group_instance_id"] else ""
    went = f", {member['leave_kind']}" if member["change"] == "left" and member["leave_kind"] else ""
    client = f"client {shown(member['client_id'])}, host {shown(member['client_host'])}{instance}"
    return f"{member['member_id']} ({client}){went}"


def partitions(row: Row) -> str:
    counted = [f"{row[name]} {words}" for name, words in COUNTS.items() if row[name]]
    return f"{shown(row['num_partitions'])} assigned: {', '.join(counted) or 'none changed hands'}"


def move_text(move: Row) -> str:
    place = f"{move['topic'] or move['topic_id']}-{move['partition']}"
    idle = "" if move["idle_ms"] is None else f", nobody's for {move['idle_ms']:,} ms"
    gap = "" if move["commit_gap_ms"] is None else f", no commit for {move['commit_gap_ms']:,} ms"
    role = f" as {move['role']}" if move["role"] else ""
    before, after = move["from_member_id"], move["to_member_id"]
    between = f"{shown(before)} to {shown(after)}"
    if before == after:
        # Lost: it came back without it, and got it again.
        between = f"by {after}, which got it again" if move["kind"] == MoveKind.LOST else f"to {after}"
    return f"{place} {move['kind']}{role}: {between}{idle}{gap}"


def cost(told: Told) -> str:
    row = told.rebalance
    gaps = [move["commit_gap_ms"] for move in told.moves if move["commit_gap_ms"] is not None]
    parts = [
        None
        if row["stopped_partition_ms"] is None
        else f"partitions stood still for {row['stopped_partition_ms']:,} ms in all",
        f"commits stopped for {max(gaps):,} ms at most" if gaps else None,
        None if row["sync_ms"] is None else f"the leader took {row['sync_ms']:,} ms to assign",
    ]
    return ", ".join(filter(None, parts)) or "not told by the records"
