"""Whether what a broker said of a group is what the history tables say of it."""

from collections.abc import Iterator
from typing import Any, Final

from tests.replayed import END, Replayed

# How long a write may be on its way into the log while the broker still answers without it, and how much later than
# its own time a record may come to count.
SLACK_US: Final = 150_000
Look = dict[str, Any]
Seen = dict[str, Any]
# What a broker that takes no assignor from its members uses.
DEFAULT_ASSIGNOR: Final = "uniform"
# The broker shows no assignment before all have theirs, and of the join phase no record tells.
UNTOLD: Final = "PreparingRebalance"


def said(look: Look) -> Seen:
    """The broker's answer, in the words of `replayed`."""
    if look["state"] is None:
        return {"state": None, "members": {}, "owned": {}}
    seen = {
        "state": look["state"],
        "type": look["group_type"],
        "members": {
            member["member_id"]: (member["client_id"], member["client_host"], member.get("group_instance_id"))
            for member in look["members"]
        },
        "owned": {member["member_id"]: owned(member) for member in look["members"] if owned(member)},
    }
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


def told(replayed: Replayed, group: str, at: float) -> Seen:
    """What the tables say, as far as a broker would say it too."""
    state = replayed.state(group, at)
    if state is None:
        return {"state": None, "members": {}, "owned": {}}
    members = {
        member: (row["client_id"], row["client_host"], row["group_instance_id"])
        for member, row in replayed.members(group, at).items()
    }
    phases = ("assigned",) if state["group_type"] == "classic" else ("assigned", "held")
    seen = {
        "state": state["state"],
        "type": state["group_type"],
        "members": members,
        "owned": replayed.owned(group, at, phases),
    }
    if state["group_type"] == "classic":
        if state["state"] != "Stable":
            return seen | {"owned": {}}
        return seen | {"assignor": state["assignor"]}
    seen["epoch"] = state["generation_or_epoch"]
    if state["group_type"] == "consumer":
        seen["assignor"] = state["assignor"] or DEFAULT_ASSIGNOR
    return seen


def told_offsets(replayed: Replayed, group: str, at: float) -> dict[tuple[str, int], tuple[int, int | None, str]]:
    """No admin client shows a negative offset, though it is kept."""
    return {place: found for place, found in replayed.offsets(group, at).items() if found[0] >= 0}


def instants(replayed: Replayed, look: Look) -> Iterator[float]:
    """One for each stretch without change that the answer may be about; of a quiet group there is one."""
    first, last = look["asked_ms"] * 1000 - SLACK_US, look["answered_ms"] * 1000 + 999
    yield first
    yield from (bound for bound in replayed.bounds(look["group"]) if first < bound <= last)


def disagreements(replayed: Replayed, look: Look) -> list[str]:
    """Nothing, or what the broker said beside all that the tables say about that time."""
    group, found = look["group"], []
    times = list(instants(replayed, look))
    if look["state"] != UNTOLD:
        ours = [told(replayed, group, at) for at in times]
        if said(look) not in ours:
            found.append(f"{group} at {look['asked_ms']}: broker {said(look)}, tables {ours}")
    offsets = [told_offsets(replayed, group, at) for at in times]
    if said_offsets(look) not in offsets:
        found.append(f"{group} at {look['asked_ms']}: broker {said_offsets(look)}, tables {offsets}")
    return found


def end_disagreements(replayed: Replayed, looks: list[Look]) -> list[str]:
    """The belief of a broker at the end of the log, group by group, and that it has the same groups."""
    found = []
    for look in looks:
        group = look["group"]
        pairs = [(said(look), told(replayed, group, END)), (said_offsets(look), told_offsets(replayed, group, END))]
        found += [f"{group}: broker {theirs}, tables {ours}" for theirs, ours in pairs if theirs != ours]
    ours = {group for group in replayed.groups if replayed.state(group, END) is not None}
    if ours != {look["group"] for look in looks}:
        found.append(f"groups: {sorted(ours ^ {look['group'] for look in looks})} are not known to both")
    return found
