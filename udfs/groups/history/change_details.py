"""What exactly triggered a rebalance, in words with names: the text of `rebalances.trigger_detail`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from schemas.words.history import LeaveKind, RebalanceTrigger
from udfs.sentences.name_lists import list_names
from udfs.topics.partition_codes import SHIFT, TopicCodes

# Names in one list. If there are more, only their number is shown.
MOST_NAMED = 3

JOINED = "joined"
LEFT = "left"
DEPARTED: Mapping[str, str] = {
    LeaveKind.LEFT: LEFT,
    LeaveKind.LEFT_OR_TIMED_OUT: "left or timed out",
    LeaveKind.SESSION_TIMEOUT_LIKELY: "timed out",
    LeaveKind.STATIC_EXPIRED_LIKELY: "did not come back within the session timeout",
    LeaveKind.REBALANCE_TIMEOUT_LIKELY: "kept partitions beyond the rebalance timeout",
}
# What became of a topic. The records of a classic group do not show whether its leader, who assigns, knew a topic.
CREATED, DELETED = "created", "deleted"
GONE_OR_UNKNOWN = "deleted, or not known to the leader"
# Changes that need no further words.
PLAIN = ""


class GoneMember(NamedTuple):
    """A member that left or timed out, and the record without it. Commits may show which of the two it was."""

    member_id: str
    offset: int


class Change(NamedTuple):
    """`text` is what members did, and `name` is one of them. Without a text, `name` is a sentence of its own."""

    trigger: str
    text: str
    name: str
    # Shown only if it is the trigger: any other trigger already explains it.
    needs_trigger: bool = False
    # If commits may show how a member left.
    gone: GoneMember | None = None


def detail(trigger: str, changes: Iterable[Change]) -> str | None:
    """First the trigger, then what else changed; NULL if nothing is known."""
    # Dicts as sets in order.
    names: dict[tuple[str, str], dict[str, None]] = {}
    for change in changes:
        if change.needs_trigger and change.trigger != trigger:
            continue
        names.setdefault((change.trigger, change.text), {})[change.name] = None
    in_order = sorted(names.items(), key=lambda each: each[0][0] != trigger)
    return "; ".join(phrase(text, [*some]) for (_, text), some in in_order) or None


def phrase(text: str, names: Sequence[str]) -> str:
    if text == PLAIN:
        return name_list(names, "; ")
    return f"{'member' if len(names) == 1 else 'members'} {name_list(names)} {text}"


def name_list(names: Sequence[str], gap: str = ", ") -> str:
    return list_names(names, MOST_NAMED, gap)


def member_name(member_id: str, client_id: str | None, client_host: str | None, instance: str | None = None) -> str:
    """The member with its host, and with its other names unless its id begins with them."""
    others = [each for each in (instance and f"instance {instance}", client_id) if each]
    details = [each for each in dict.fromkeys(others) if not member_id.startswith(each.removeprefix("instance "))]
    details += [client_host.removeprefix("/")] if client_host else []
    return f"{member_id} ({', '.join(details)})" if details else member_id


def join_change(name: str) -> Change:
    return Change(RebalanceTrigger.MEMBER_JOINED, JOINED, name)


def departure_change(name: str, leave_kind: str | None, gone: GoneMember | None = None) -> Change:
    """`gone`: if commits may show whether it timed out."""
    return Change(RebalanceTrigger.MEMBER_LEFT, DEPARTED.get(leave_kind or "", LEFT), name, gone=gone)


def from_plain(fields: Sequence[Any]) -> Change:
    """From the form in JSON."""
    change = Change(*fields)
    return change._replace(gone=None if change.gone is None else GoneMember(*change.gone))


def restart_change(instance: str | None, old_id: str, new_id: str) -> Change:
    return Change(RebalanceTrigger.STATIC_RESTART, PLAIN, f"instance {instance} restarted: {old_id} → {new_id}")


def other_assignor(before: str | None, after: str | None) -> list[Change]:
    if before is None or after is None or before == after:
        return []
    return [Change(RebalanceTrigger.ASSIGNOR_CHANGED, PLAIN, f"{before} → {after}")]


def subscription(name: str, before: Collection[str], after: Collection[str]) -> list[Change]:
    return [
        Change(RebalanceTrigger.SUBSCRIPTION_CHANGED, text, name)
        for text in subscription_texts(set(before), set(after))
    ]


def subscription_texts(before: set[str], after: set[str]) -> list[str]:
    """If several members changed their subscription in the same way, they are named together."""
    added, removed = name_list(sorted(after - before)), name_list(sorted(before - after))
    too = " too" if before & after else ""
    texts = [f"subscribes to {added}{too}" if added else "", f"no longer subscribes to {removed}" if removed else ""]
    return [text for text in texts if text]


def partition_changes(
    before: Collection[int], after: Collection[int], topics: TopicCodes, *, is_cause: bool, deleted: str = DELETED
) -> list[Change]:
    """Changes of partitions, as far as members were assigned them. `is_cause`: nothing else can have changed, so topics
    without any partition before or after were created or `deleted`."""
    had, has = by_topic(before, topics), by_topic(after, topics)
    lines = []
    for topic in sorted(had.keys() | has.keys()):
        old, new = had.get(topic, {}), has.get(topic, {})
        (num_before, ids_before), (num_after, ids_after) = size(old), size(new)
        if num_before and num_after and None not in ids_before | ids_after and not ids_before & ids_after:
            lines.append(f"topic {topic} recreated, {partitions(num_after)} assigned")
        elif num_before and num_after and num_before != num_after:
            lines.append(f"{topic} {num_before:,} → {num_after:,} partitions assigned")
        elif is_cause and num_after and not num_before:
            lines.append(f"topic {topic} {CREATED}, {partitions(num_after)} assigned")
        elif is_cause and num_before and not num_after:
            lines.append(f"topic {topic} {deleted}")
    return [Change(RebalanceTrigger.METADATA_CHANGED, PLAIN, each) for each in lines]


def by_topic(tps: Collection[int], topics: TopicCodes) -> dict[str, dict[str | None, int]]:
    """By name, or by id if there is no name: the number of partitions for each id."""
    codes: dict[int, int] = {}
    for tp in tps:
        codes[tp >> SHIFT] = codes.get(tp >> SHIFT, 0) + 1
    counts: dict[str, dict[str | None, int]] = {}
    for code, number in codes.items():
        name, topic_id = topics.topics[code]
        counts.setdefault(name or str(topic_id), {})[topic_id] = number
    return counts


def size(of_ids: Mapping[str | None, int]) -> tuple[int, set[str | None]]:
    return sum(of_ids.values()), set(of_ids)


def partitions(number: int) -> str:
    return f"{number:,} partition{'' if number == 1 else 's'}"


def topic_changes(
    before: Mapping[str, int | None],
    after: Mapping[str, int | None],
    created: str,
    deleted: str,
    *,
    needs_trigger: bool,
) -> list[Change]:
    """Changes in records that list a group's topics with their numbers of partitions. `needs_trigger`: a topic may also
    be new in the list because a member has subscribed to it."""
    metadata, changes = RebalanceTrigger.METADATA_CHANGED, []
    for topic in sorted(before.keys() | after.keys()):
        old, new = before.get(topic), after.get(topic)
        if topic not in before:
            line = f"topic {topic} {created}{f', {partitions(new)}' if new else ''}"
            changes.append(Change(metadata, PLAIN, line, needs_trigger))
        elif topic not in after:
            changes.append(Change(metadata, PLAIN, f"topic {topic} {deleted}", needs_trigger))
        elif old != new and old is not None and new is not None:
            changes.append(Change(metadata, PLAIN, f"{topic} {old:,} → {new:,} partitions"))
    return changes
