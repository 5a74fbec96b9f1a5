"""Whether what a broker said of a group is what the history tables say of it."""

from collections.abc import Iterator
from typing import Any, Final

from tests.oracles.history.at_instant import END, Replayed

# How long a write may be on its way into the log while the broker still answers without it, and how much later than
# its own time a record may come to count.
SLACK_US: Final = 250_000
# What a member of a consumer group is asked to give up: newer brokers show it as its own until it has, older ones not.
SHOWN: Final = ("assigned", "held", "revoking")
SHOWN_BY_3_9: Final = ("assigned", "held")
Look = dict[str, Any]
Seen = dict[str, Any]
# What a broker that takes no assignor from its members uses.
DEFAULT_ASSIGNOR: Final = "uniform"
# No record shows the join phase.
NOT_RECORDED: Final = "PreparingRebalance"
# Until all have theirs, newer brokers show the assignments of the round before, older ones none.
UNASSIGNED: Final = "CompletingRebalance"


def said(look: Look) -> Seen:
    """The broker's answer, in the words of `replayed`."""
    if look["state"] is None:
        return {"state": None}
    members = {
        member["member_id"]: (member["client_id"], member["client_host"], member.get("group_instance_id"))
        for member in look["members"]
    }
    seen = {"state": look["state"], "type": look["group_type"], "members": members}
    if look["state"] == UNASSIGNED:
        return seen
    seen["owned"] = {member["member_id"]: owned(member) for member in look["members"] if owned(member)}
    if look["group_type"] == "classic":
        return seen | ({"assignor": look["assignor"]} if look["state"] == "Stable" else {})
    return seen | {"epoch": look["group_epoch"]} | ({"assignor": look["assignor"]} if "assignor" in look else {})


def owned(member: dict[str, Any]) -> dict[Any, list[int]]:
    if "partitions" in member:
        return dict(member["partitions"])
    return {
        (role, subtopology): partitions
        for role in ("active", "standby", "warmup")
        for subtopology, partitions in member[role].items()
    }


def said_offsets(look: Look) -> dict[tuple[str, int], tuple[int, int | None, str]]:
    return {
        (each["topic"], each["partition"]): (each["offset"], each["leader_epoch"], each["metadata"])
        for each in look["offsets"]
    }


def replayed_look(replayed: Replayed, group: str, at: float, shown: tuple[str, ...] = SHOWN) -> Seen:
    """What the tables say, as far as a broker would say it too."""
    state = replayed.state(group, at)
    if state is None:
        return {"state": None}
    members = {
        member: (row["client_id"], row["client_host"], row["group_instance_id"])
        for member, row in replayed.members(group, at).items()
    }
    seen = {"state": state["state"], "type": state["group_type"], "members": members}
    if state["state"] == UNASSIGNED:
        return seen
    # Of streams groups a static member that is away (from 4.4 on) still has its tasks.
    phases = shown if state["group_type"] == "consumer" else ("assigned", "held")
    seen["owned"] = replayed.owned(group, at, phases)
    if state["group_type"] == "classic":
        return seen | ({"assignor": state["assignor"]} if state["state"] == "Stable" else {})
    seen["epoch"] = state["generation_or_epoch"]
    if state["group_type"] == "consumer":
        seen["assignor"] = state["assignor"] or DEFAULT_ASSIGNOR
    return seen


def shown_offsets(replayed: Replayed, group: str, at: float) -> dict[tuple[str, int], tuple[int, int | None, str]]:
    """No admin client shows a negative offset, though it is kept."""
    return {place: result for place, result in replayed.offsets(group, at).items() if result[0] >= 0}


def instants(replayed: Replayed, look: Look) -> Iterator[float]:
    """One for each stretch without change that the answer may be about; of a quiet group there is one."""
    first, last = look["asked_ms"] * 1000 - SLACK_US, look["answered_ms"] * 1000 + 999
    yield first
    yield from (bound for bound in replayed.bounds(look["group"]) if first < bound <= last)


def disagreements(replayed: Replayed, look: Look, shown: tuple[str, ...] = SHOWN) -> list[str]:
    """Nothing, or what the broker said beside all that the tables say about that time."""
    group, result = look["group"], []
    times = list(instants(replayed, look))
    if look["state"] != NOT_RECORDED:
        ours = [replayed_look(replayed, group, at, shown) for at in times]
        if said(look) not in ours:
            result.append(f"{group} at {look['asked_ms']}: broker {said(look)}, tables {ours}")
    offsets = [shown_offsets(replayed, group, at) for at in times]
    if "offsets" in look and said_offsets(look) not in offsets:
        result.append(f"{group} at {look['asked_ms']}: broker {said_offsets(look)}, tables {offsets}")
    return result


def end_disagreements(replayed: Replayed, looks: list[Look], shown: tuple[str, ...] = SHOWN) -> dict[str, str]:
    """The belief of a broker at the end of the log, by the group that it differs in; both have the same groups."""
    looks = [look for look in looks if not is_left_over(look) or replayed.state(look["group"], END) is not None]
    result = {}
    for look in looks:
        group = look["group"]
        ours = loaded(replayed_look(replayed, group, END, shown), replayed, group)
        pairs = [
            (said(look) if has_epoch(replayed, ours) else said(look) | {"epoch": None}, ours),
            (said_offsets(look), shown_offsets(replayed, group, END)),
        ]
        if has_target(replayed, look):
            pairs.append((said_target(look), replayed_target(replayed, look)))
        told_apart = [f"{group}: broker {theirs}, tables {ours}" for theirs, ours in pairs if theirs != ours]
        if told_apart:
            result[group] = "\n".join(told_apart)
    known = {group for group in replayed.groups if replayed.state(group, END) is not None}
    for group in known - {look["group"] for look in looks}:
        result[group] = f"{group}: not known to the broker, tables {replayed.state(group, END)}"
    return result


def has_epoch(replayed: Replayed, ours: Seen) -> bool:
    """Where records are missing, that of the group's epoch may be one of them."""
    return ours.get("epoch", 0) is not None or all(map(replayed.is_whole, replayed.partitions))


def loaded(seen: Seen, replayed: Replayed, group: str) -> Seen:
    """A coordinator that loads a classic group takes it for stable, whatever it was in the middle of."""
    if seen["state"] != NOT_RECORDED:
        return seen
    named = [row["assignor"] for row in replayed.rows("group_state_intervals", group) if row["assignor"]]
    return seen | {"state": "Stable", "assignor": named[-1]}


def is_left_over(look: Look) -> bool:
    """A group of offsets whose last one was deleted: the broker forgets it at its next sweep."""
    return bool(look.get("is_simple")) and look["offsets"] == []


def has_target(replayed: Replayed, look: Look) -> bool:
    """Whether the group as it is now was ever assigned anything, and all that is known of it. One that emptied since
    may have had a target on the way, of which the row of its emptying does not tell."""
    if look["group_type"] == "classic" or not look["members"]:
        return False
    result = assignments(replayed, look["group"])
    newest = max((row["assignment_offset"] for row in replayed.rebalances(look["group"])), default=None)
    is_newest = bool(result) and result[-1]["assignment_offset"] == newest
    return is_newest and replayed.is_whole(result[-1]["evidence_partition"])


def assignments(replayed: Replayed, group: str) -> list[dict[str, Any]]:
    """Rebalances of the group since it was last deleted or became one of another type."""
    ends = [row["to_record_offset"] for row in replayed.rows("group_state_intervals", group)
            if row["ended_by"] in ("deleted", "converted")]  # fmt: skip
    return [row for row in replayed.rebalances(group)
            if row["assignment_offset"] > max(ends, default=-1) and row["num_members_after"]]  # fmt: skip


def said_target(look: Look) -> tuple[int, dict[str, Any]]:
    """Target epoch and, of consumer groups, who shall own what."""
    targets = {member["member_id"]: member["target"] for member in look["members"] if member.get("target")}
    return look["target_epoch"], targets


def replayed_target(replayed: Replayed, look: Look) -> tuple[int, dict[str, Any]]:
    """An instance that came back under another id has the target of the one that it replaced."""
    newest = assignments(replayed, look["group"])[-1]
    if look["group_type"] != "consumer":
        return newest["to_generation"], {}
    present = {member["member_id"]: member["group_instance_id"] for member in look["members"]}
    by_instance = {instance: member for member, instance in present.items() if instance is not None}
    targets = {}
    for row in replayed.assignment(look["group"], newest["assignment_offset"]):
        member = row["member_id"] if row["member_id"] in present else by_instance.get(row["group_instance_id"])
        if member is not None and row["assigned"]:
            targets[member] = {each["topic"]: each["partitions"] for each in row["assigned"]}
    return newest["to_generation"], targets
