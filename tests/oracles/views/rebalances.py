"""What views over the history should give, in plain Python: no SQL, no join, one loop inside of the other."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import groupby
from typing import Any

Row = dict[str, Any]
Rows = dict[str, list[Row]]


def by(*names: str) -> Callable[[Row], tuple[Any, ...]]:
    """NULL behind all else."""
    return lambda row: tuple((row[name] is None, row[name] if row[name] is not None else 0) for name in names)


def same(left: Row, right: Row, *names: str) -> bool:
    return all(left[name] == right[name] for name in names)


def least(values: Iterable[Any]) -> Any:
    return min((value for value in values if value is not None), default=None)


def most(values: Iterable[Any]) -> Any:
    return max((value for value in values if value is not None), default=None)


def total(values: Iterable[int | None]) -> int | None:
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def cluster_times(rows: Rows, cluster: str) -> Row:
    known = [row for row in rows["history_coverage"] if row["cluster"] == cluster]
    if not known:
        return {"as_of_time": None, "history_since_time": None}
    newest = most(row["to_time"] for row in known)
    captured = most(row["captured_time"] for row in rows["topic_snapshots"] if row["cluster"] == cluster)
    is_later = captured is not None and newest is not None and captured > newest
    return {"as_of_time": captured if is_later else newest, "history_since_time": least(r["from_time"] for r in known)}


def ranked(rows: list[Row], key: Callable[[Row], Any]) -> list[Row]:
    rows = sorted(rows, key=lambda row: (row["cluster"], key(row)))
    for _, of_cluster in groupby(rows, key=lambda row: row["cluster"]):
        for rank, row in enumerate(of_cluster, 1):
            row["rank"] = rank
    return rows


def descending(value: Any) -> tuple[bool, Any]:
    return (value is None, -value if value is not None else 0)


def changed_members(rows: Rows, rebalance: Row) -> list[str]:
    return [
        row["member_id"]
        for row in rows["generation_members"]
        if same(row, rebalance, "cluster", "group_id", "assignment_offset") and row["change"] != "kept"
    ]


def client_of(rows: Rows, rebalance: Row, member_id: str | None) -> tuple[str | None, str | None]:
    stays = [
        row
        for row in rows["membership_intervals"]
        if same(row, rebalance, "cluster", "group_id") and row["member_id"] == member_id
    ]
    return least(row["client_id"] for row in stays), least(row["client_host"] for row in stays)


def is_complete(rows: Rows, row: Row) -> bool | None:
    """Whether no record is missing from its evidence on."""
    stretch = [
        each
        for each in rows["history_coverage"]
        if each["cluster"] == row["cluster"]
        and each["offsets_partition"] == row["evidence_partition"]
        and each["first_offset"] <= row["evidence_last_offset"] <= each["last_offset"]
    ]
    from_offset = stretch[0]["complete_from_offset"] if stretch else None
    return None if from_offset is None else bool(row["evidence_first_offset"] >= from_offset)


def rebalances(rows: Rows) -> list[Row]:
    result = []
    for row in rows["rebalances"]:
        moves = [m for m in rows["partition_moves"] if same(m, row, "cluster", "group_id", "assignment_offset")]
        member = least(changed_members(rows, row))
        client, host = client_of(rows, row, member)
        result.append(
            {
                **row,
                "changed_member_id": member,
                "changed_client_id": client,
                "changed_client_host": host,
                "commit_gap_ms": most(move["commit_gap_ms"] for move in moves),
                "is_complete": is_complete(rows, row),
                "unread_so_far_ms": unread_so_far(rows, row),
                **cluster_times(rows, row["cluster"]),
            }
        )

    def harm(row: Row) -> int | None:
        goes_on = row["unread_so_far_ms"] if is_missed(rows, row) else None
        return total((row["unread_partition_high_ms"], goes_on))

    worst = ("stopped_partition_ms", "duration_ms")
    return ranked(
        result,
        lambda row: (
            descending(harm(row)),
            *(descending(row[name]) for name in worst),
            *(row["group_id"], row["assignment_offset"]),
        ),
    )


def is_missed(rows: Rows, rebalance: Row) -> bool:
    """Who timed out, or left messages that wait, did not stop on purpose."""
    gone = [
        row["leave_kind"]
        for row in rows["membership_intervals"]
        if same(row, rebalance, "cluster", "group_id", "evidence_partition")
        and row["to_record_offset"] is not None
        and rebalance["evidence_first_offset"] <= row["to_record_offset"] <= rebalance["evidence_last_offset"]
    ]
    timed_out = {"session_timeout_likely", "rebalance_timeout_likely", "static_expired_likely"}
    of_cluster = [row for row in rows["group_verdicts"] if row["cluster"] == rebalance["cluster"]]
    newest = most(row["as_of_time"] for row in of_cluster if row["partition"] is None)
    return bool(timed_out & set(gone)) or any(
        row["own_verdict"] == "DOWN" and row["as_of_time"] == newest and row["partition"] is None
        for row in of_cluster
        if row["group_id"] == rebalance["group_id"]
    )


def unread_so_far(rows: Rows, rebalance: Row) -> int | None:
    """Of each partition that it took, if nothing came after that."""
    states = [row for row in rows["group_state_intervals"] if same(row, rebalance, "cluster", "group_id")]
    if not any(row["to_record_offset"] is None and row["num_members"] == 0 for row in states):
        return None
    as_of = cluster_times(rows, rebalance["cluster"])["as_of_time"]
    of_group = [row for row in rows["partition_moves"] if same(row, rebalance, "cluster", "group_id")]
    waited = []
    for move in of_group:
        later = [
            row
            for row in of_group
            if same(row, move, "topic", "partition")
            and row["move_offset"] > move["move_offset"]
            and row["role"] is None
        ]
        is_mine = move["assignment_offset"] == rebalance["assignment_offset"]
        if not is_mine or move["role"] or move["to_member_id"] or later or None in (move["move_time"], as_of):
            continue
        if move["move_time"] <= as_of:
            waited.append((as_of - move["move_time"]) // timedelta(seconds=1) * 1000)
    return total(waited)


def causes(rows: Rows) -> list[Row]:
    result = []
    names = ("cluster", "group_id", "group_type", "trigger")
    for key, some in groupby(sorted(rows["rebalances"], key=by(*names)), key=by(*names)):
        of_cause = list(some)
        of_group = [row for row in rows["rebalances"] if same(row, of_cause[0], "cluster", "group_id")]
        assert key
        result.append(
            {
                **{name: of_cause[0][name] for name in names},
                "num_rebalances": len(of_cause),
                "share_of_group": len(of_cause) / len(of_group),
                "num_certain": sum(row["confidence"] == "certain" for row in of_cause),
                "first_start_time": least(row["start_time"] for row in of_cause),
                "last_start_time": most(row["start_time"] for row in of_cause),
                "duration_ms": total(row["duration_ms"] for row in of_cause),
                "longest_duration_ms": most(row["duration_ms"] for row in of_cause),
                "num_moved": total(row["num_moved"] for row in of_cause),
                "stopped_partition_ms": total(row["stopped_partition_ms"] for row in of_cause),
                **unread(of_cause),
                **bounds(of_cause),
                **cluster_times(rows, of_cause[0]["cluster"]),
            }
        )
    return ranked(
        result,
        lambda row: (
            descending(row["unread_partition_high_ms"]),
            descending(row["stopped_partition_ms"]),
            -row["num_rebalances"],
            row["group_id"],
            row["group_type"],
            row["trigger"],
        ),
    )


def unread(some: list[Row]) -> Row:
    sums = ("unread_partition_low_ms", "unread_partition_high_ms")
    longest = most(row["longest_unread_high_ms"] for row in some)
    return {**{name: total(row[name] for row in some) for name in sums}, "longest_unread_high_ms": longest}


def bounds(some: list[Row]) -> Row:
    return {
        "evidence_partition": min(row["evidence_partition"] for row in some),
        "evidence_first_offset": min(row["evidence_first_offset"] for row in some),
        "evidence_last_offset": max(row["evidence_last_offset"] for row in some),
    }


def limit(rows: Rows, cluster: str, setting: str) -> int | None:
    found: int | None = most(
        row["value"] for row in rows["gate_limits"] if row["cluster"] == cluster and row["setting"] == setting
    )
    return found


def streaks(rows: Rows) -> Iterable[list[Row]]:
    """Of clusters whose limits are known."""
    names = ("cluster", "group_id", "evidence_partition", "assignment_offset")
    timed = sorted((row for row in rows["rebalances"] if row["start_time"] is not None), key=by(*names))
    for _, of_group in groupby(timed, key=by(*names[:3])):
        streak: list[Row] = []
        for row in of_group:
            gap_s = limit(rows, row["cluster"], "storm_gap_s")
            if gap_s is None:
                continue
            is_late = streak and row["start_time"] - streak[-1]["start_time"] > timedelta(seconds=gap_s)
            if is_late or row["trigger"] == "group_created":
                yield streak
                streak = []
            streak.append(row)
        yield streak


def storms(rows: Rows) -> list[Row]:
    result = []
    for streak in filter(None, streaks(rows)):
        fewest = limit(rows, streak[0]["cluster"], "storm_rebalances")
        if fewest is not None and len(streak) >= fewest:
            result.append({**storm(rows, streak), "kind": kind_of(rows, streak, fewest)})
    return ranked(
        result,
        lambda row: (
            row["kind"] != "storm",
            *(-row["generations_per_hour"], -row["num_rebalances"]),
            *(row["group_id"], row["from_time"], row["evidence_partition"]),
        ),
    )


class Identity:
    """The members of one client, as somebody counts who stands at the door."""

    def __init__(self, inside: int) -> None:
        self.inside = self.most_inside = inside
        self.away = self.returns = 0

    def go(self) -> None:
        if self.inside == 0:
            # It has been inside all the time, and was overlooked.
            self.most_inside += 1
        else:
            self.inside -= 1
        self.away += 1

    def come(self) -> None:
        if self.away:
            self.away -= 1
            self.returns += 1
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)


def kind_of(rows: Rows, streak: list[Row], fewest: int) -> str:
    identities: dict[Any, Identity] = {}
    num_alike = 0
    for place, rebalance in enumerate(streak):
        members = [
            (identity_of(rows, row), row["change"])
            for row in rows["generation_members"]
            if same(row, rebalance, "cluster", "group_id", "evidence_partition", "assignment_offset")
        ]
        for identity in {identity for identity, _ in members}:
            there = [change for each, change in members if each == identity and change != "joined"]
            identities.setdefault(identity, Identity(0 if place else len(there)))
        for identity, change in members:
            if change in ("left", "restarted"):
                identities[identity].go()
        for identity, change in members:
            if change in ("joined", "restarted"):
                identities[identity].come()
        num_alike += all(change == "kept" for _, change in members)
    num_alike -= sum(row["is_follow_up"] for row in streak)
    if any(each.returns > 2 * each.most_inside for each in identities.values()):
        return "storm"
    if num_alike >= fewest and 2 * num_alike > len(streak):
        return "storm"
    types = {row["group_type"] for row in streak}
    assignors = [(row["assignor_before"], row["assignor_after"]) for row in streak]
    is_other = any(None not in pair and pair[0] != pair[1] for pair in assignors)
    is_migrated = any(row["trigger"] == "protocol_migration" for row in streak)
    return "rolling_upgrade" if len(types) > 1 or is_other or is_migrated else "rolling_restart"


def identity_of(rows: Rows, member: Row) -> tuple[str, ...]:
    stays = [
        row
        for row in rows["membership_intervals"]
        if same(row, member, "cluster", "group_id", "evidence_partition", "member_id")
    ]
    client, host = (least(row[name] for row in stays) for name in ("client_id", "client_host"))
    if member["group_instance_id"] is not None:
        return ("instance", member["group_instance_id"])
    return ("unknown", member["member_id"]) if None in (client, host) else ("client", client, host)


def storm(rows: Rows, streak: list[Row]) -> Row:
    begin = streak[0]["start_time"]
    end = max(row["end_time"] or row["start_time"] for row in streak)
    length_s = (end - begin) // timedelta(seconds=1)
    changed = [(row, member) for row in streak for member in changed_members(rows, row)]
    clients = Counter(client_of(rows, row, member) for row, member in changed)
    first = min(clients, key=lambda key: (-clients[key], *((part is None, part or "") for part in key)), default=None)
    rounds = sum(rounds_of(row) for row in streak)
    busy = total(row["duration_ms"] for row in streak)
    return {
        "cluster": streak[0]["cluster"],
        "group_id": streak[0]["group_id"],
        "group_type": max(row["group_type"] for row in streak),
        "from_time": begin,
        "to_time": end,
        "num_rebalances": len(streak),
        "num_generations": rounds,
        "generations_per_hour": rounds / (length_s / 3600 if length_s > 3600 else 1),
        "num_members_changed": len({member for _, member in changed}),
        "repeated_client_id": first[0] if first else None,
        "repeated_client_host": first[1] if first else None,
        "num_repeated": clients[first] if first else None,
        "num_member_changes": len(changed) or None,
        "rebalancing_ms": busy,
        "share_rebalancing": None if busy is None and length_s else share(busy, length_s),
        "stopped_partition_ms": total(row["stopped_partition_ms"] for row in streak),
        **unread(streak),
        **bounds(streak),
        **cluster_times(rows, streak[0]["cluster"]),
    }


def share(busy: int | None, length_s: int) -> float | None:
    return None if busy is None else 1.0 if busy >= length_s * 1000 else busy / (length_s * 1000)


def rounds_of(row: Row) -> int:
    before = row["from_generation"]
    return row["to_generation"] - before if before is not None and row["to_generation"] > before else 1


def daily(rows: Rows) -> list[Row]:
    def day(row: Row) -> Row:
        start = row["start_time"]
        return {**row, "day_time": start and start.replace(hour=0, minute=0, second=0, microsecond=0)}

    names = ("cluster", "day_time", "group_id", "group_type", "trigger")
    days: dict[tuple[Any, ...], tuple[list[Row], list[Row]]] = {}
    for row in map(day, rows["rebalances"]):
        days.setdefault(tuple(row[name] for name in names), ([], []))[0].append(row)
    for move in rows["partition_moves"]:
        is_of_one = any(same(move, row, "cluster", "group_id", "assignment_offset") for row in rows["rebalances"])
        if move["kind"] == "returned" and not is_of_one:
            begun = day({"start_time": move["move_time"]})["day_time"]
            key = (move["cluster"], begun, move["group_id"], move["group_type"], "static_restart")
            days.setdefault(key, ([], []))[1].append(
                {
                    "stopped_partition_ms": move["idle_ms"],
                    "unread_partition_low_ms": move["unread_low_ms"],
                    "unread_partition_high_ms": move["unread_high_ms"],
                    "longest_unread_high_ms": move["unread_high_ms"],
                }
            )
    result = []
    for key, (of_day, returns) in days.items():
        done = [row for row in of_day if row["outcome"] == "completed"]
        lost = [
            move
            for row in of_day
            for move in rows["partition_moves"]
            if same(move, row, "cluster", "group_id", "assignment_offset") and move["kind"] == "lost"
        ]
        sums = ("num_moved", "num_returned", "num_withheld", "num_ready_to_migrate", "sync_ms")
        result.append(
            {
                **dict(zip(names, key, strict=True)),
                "num_rebalances": len(of_day),
                "num_completed": len(done),
                "num_follow_ups": sum(row["is_follow_up"] for row in of_day),
                "rebalance_total": sum(map(rounds_of, of_day)),
                "failed_rebalance_total": sum(row["unpersisted_rounds"] or 0 for row in of_day),
                "rebalance_rate_per_hour": sum(map(rounds_of, of_day)) / 24,
                "last_rebalance_time": most(row["end_time"] for row in done),
                "rebalance_ms": total(row["duration_ms"] for row in of_day),
                "longest_rebalance_ms": most(row["duration_ms"] for row in of_day),
                "longest_sync_ms": most(row["sync_ms"] for row in of_day),
                "assigned_partitions": most(row["num_partitions"] for row in of_day),
                "num_lost": len(lost),
                **{name: total(row[name] for row in of_day) for name in sums},
                "stopped_partition_ms": total(row["stopped_partition_ms"] for row in [*of_day, *returns]),
                **unread([*of_day, *returns]),
            }
        )
    return sorted(
        result,
        key=lambda row: (
            row["cluster"],
            row["day_time"] is None,
            -(row["day_time"].timestamp() if row["day_time"] else 0),
            -row["num_rebalances"],
            row["group_id"],
            row["group_type"],
            row["trigger"],
        ),
    )


def open_transactions(rows: Rows) -> list[Row]:
    result = []
    for row in rows["transactions"]:
        times = cluster_times(rows, row["cluster"])
        if row["outcome"] == "open":
            has_times = row["first_time"] is not None and times["as_of_time"] is not None
            age = (times["as_of_time"] - row["first_time"]) // timedelta(seconds=1) if has_times else None
            result.append({**row, "age_ms": None if age is None else 1000 * age, **times})
    place = ("evidence_partition", "first_offset", "producer_id")
    return ranked(result, lambda row: (descending(row["age_ms"]), *(row[name] for name in place)))


VIEWS: dict[str, Callable[[Rows], list[Row]]] = {
    "v_rebalances": rebalances,
    "v_rebalance_causes": causes,
    "v_rebalance_storms": storms,
    "v_rebalances_daily": daily,
    "v_transactions_open": open_transactions,
}
