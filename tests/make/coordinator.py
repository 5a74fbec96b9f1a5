"""Records as coordinators write them, in short words: what stands in the cases of `tests/replay`.

Partitions are texts: "t0 t1 u0". Tasks of streams groups too: "0_1 1_0 / 1_1 / 2_0" are active tasks of subtopologies 0
and 1, then standby tasks, then warmup tasks. Members of a classic group are one text:

    a: t0 t1, b/i: t2 < t2 t3 @4, c(tu)

`a` has t0 and t1; `b` with the static id `i` has t2, and claimed t2 and t3 of generation 4; `c`, which subscribes to t
and u, has nothing. `v1` in place of the generation is an older version of the subscription. `?` is an assignment that
cannot be read, `-` one of length 0, `!` a subscription that cannot be read.

`consumer`, `share` and `streams` have the words for the groups of these types.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from schemas.records import ASSIGNMENT, SUBSCRIPTION
from tests.builders.records.encoder import encode_payload
from tests.make.log import NOW, Op, at, op

HOST: Final = "/10.0.0.1"
ROLES: Final = ("active", "standby", "warmup")
STATES: Final = ("stable", "unrevoked", "unreleased")
MEMBER: Final = re.compile(
    r"([^/(:!<@ ]+)(?:/(\w+))?(?:\((\w*)\))?(!?)(?:: ?([^<@]*))? ?(?:< ?([^@]*))?(?:@(v?)(-?\d+))?"
)
Lists = list[dict[str, Any]]


def topic_id(name: str) -> str:
    return f"{name:A<22}"


def lists(text: str) -> dict[str, list[int]]:
    """By topic, in the order of the text."""
    result: dict[str, list[int]] = {}
    for each in text.split():
        result.setdefault(each[0], []).append(int(each[1:]))
    return result


def by_name(text: str, field: str = "partitions") -> Lists:
    return [{"topic": topic, field: some} for topic, some in lists(text).items()]


def by_id(text: str) -> Lists:
    return [{"topic_id": topic_id(topic), "partitions": some} for topic, some in lists(text).items()]


# -- classic groups


def value(
    generation: int, members: str = "", *, state: int | None = None, protocol: str | None = "range",
    protocol_type: str = "consumer", group: str = "g", leader: str | None = None, timeout: int = 300_000,
) -> Op:  # fmt: skip
    """The value of a generation. `state`: the time at which its join phase ended."""
    rows = [classic_member(each.strip(), timeout) for each in members.split(",") if each.strip()]
    first = rows[0]["member_id"] if rows else None
    fields = {
        "protocol_type": protocol_type, "generation": generation, "protocol": protocol if rows else None,
        "leader": leader or first, "current_state_timestamp": at(state), "members": rows,
    }  # fmt: skip
    return op(2, {"group": group}, fields, 3).but(words=members)


def classic_member(text: str, timeout: int) -> dict[str, Any]:
    match = MEMBER.fullmatch(text)
    assert match is not None, text
    name, instance, topics, is_unread, assigned, claimed, is_version, number = match.groups()
    version, generation = (int(number), -1) if is_version else (3, int(number or -1))
    assigned = (assigned or "").strip()
    offered = {
        "topics": list(topics if topics is not None else "t"), "user_data": None,
        "owned_partitions": by_name(claimed or ""), "generation_id": generation, "rack_id": None,
    }  # fmt: skip
    has = {"assigned_partitions": by_name("" if assigned in "?-" else assigned), "user_data": None}
    payload = b"?" if assigned == "?" else b"" if assigned == "-" else encode_payload(ASSIGNMENT, min(version, 3), has)
    return {
        "member_id": name, "group_instance_id": instance, "client_id": name, "client_host": HOST,
        "rebalance_timeout": timeout, "session_timeout": 45_000,
        "subscription": b"?" if is_unread else encode_payload(SUBSCRIPTION, version, offered), "assignment": payload,
    }  # fmt: skip


def created(time: int, group: str = "g") -> Op:
    """What newer coordinators write when a group that is new to them is asked for."""
    return value(0, state=time, protocol_type="", group=group)


def dead(group: str = "g") -> Op:
    """The tombstone of a classic group; other records of a type are `gone` of their kind."""
    return op(2, {"group": group}, None)


# -- offsets


def commit(
    partition: str, offset: int, *, group: str = "g", time: int | str | None = NOW, expires: int | None = None,
    topic: str | None = None, metadata: str = "", leader: int = -1, key_version: int = 1,
) -> Op:  # fmt: skip
    """`topic`: its id, which only newer releases write; only old ones write when the offset `expires`."""
    fields: dict[str, Any] = {
        "offset": offset,
        "leader_epoch": leader,
        "metadata": metadata,
        "commit_timestamp": at(time),
    }
    version = 3
    if expires is not None:
        version, fields["expire_timestamp"] = 1, at(expires)
    if topic is not None:
        version, fields["topic_id"] = 4, topic_id(topic)
    return op(key_version, commit_key(partition, group), fields, version)


def deletion(partition: str, group: str = "g") -> Op:
    return op(1, commit_key(partition, group), None)


def commit_key(partition: str, group: str) -> dict[str, Any]:
    return {"group": group, "topic": partition[0], "partition": int(partition[1:])}


# -- consumer, share and streams groups


@dataclass(frozen=True)
class Kind:
    """Record types of one kind of group. `listed`: its topics, or its topology."""

    name: str
    of_epoch: int
    listed: int
    of_member: int
    of_done: int
    of_target: int
    of_current: int

    def key(self, group: str, member: str | None = None) -> dict[str, str]:
        return {"group_id": group} | ({} if member is None else {"member_id": member})

    def epoch(self, number: int, hashed: int | None = 7, group: str = "g", **more: Any) -> Op:
        """`hashed`: of the topics that the group reads. Streams groups have more."""
        known = {} if hashed is None and self.name == "consumer" else {"metadata_hash": hashed or 0}
        return op(self.of_epoch, self.key(group), {"epoch": number, **known, **more})

    def member(
        self, member: str, topics: str = "t", *, instance: str | None = None, regex: str | None = None,
        assignor: str | None = None, timeout: int = 300_000, session: int | None = None, group: str = "g",
    ) -> Op:  # fmt: skip
        """With `session` it is one that still speaks the classic protocol."""
        fields: dict[str, Any] = {
            "instance_id": instance, "rack_id": None, "client_id": member, "client_host": HOST,
            "rebalance_timeout_ms": timeout,
        }  # fmt: skip
        if self.name == "streams":
            fields |= {"topology_epoch": 0, "process_id": member, "user_endpoint": None, "client_tags": []}
        else:
            fields |= {"subscribed_topic_names": list(topics), "subscribed_topic_regex": regex,
                       "server_assignor": assignor}  # fmt: skip
        if session is not None:
            offered = {"topics": list(topics), "user_data": None, "owned_partitions": [], "generation_id": -1,
                       "rack_id": None}  # fmt: skip
            protocols = [{"name": "range", "metadata": encode_payload(SUBSCRIPTION, 3, offered)}]
            fields["classic_member_metadata"] = {"session_timeout_ms": session, "supported_protocols": protocols}
        return op(self.of_member, self.key(group, member), fields)

    def target(self, member: str, text: str = "", group: str = "g") -> Op:
        fields = tasks(text) if self.name == "streams" else {"topic_partitions": by_id(text)}
        return op(self.of_target, self.key(group, member), fields)

    def done(self, number: int, group: str = "g") -> Op:
        """The record that completes the targets of an epoch."""
        return op(self.of_done, self.key(group), {"assignment_epoch": number})

    def owns(
        self, member: str, epoch: int, text: str = "", *, revoking: str = "", previous: int | None = None,
        state: str | None = None, group: str = "g",
    ) -> Op:  # fmt: skip
        number = STATES.index(state or ("unrevoked" if revoking else "stable"))
        fields: dict[str, Any] = {
            "member_epoch": epoch,
            "previous_member_epoch": epoch if previous is None else previous,
        }
        if self.name == "streams":
            # Its states are numbered from one.
            fields |= {"state": number + 1, **tasks(text), **tasks(revoking, "_pending_revocation")}
        else:
            fields |= {"state": number, "assigned_partitions": by_id(text)}
            fields |= {"partitions_pending_revocation": by_id(revoking)}
        return op(self.of_current, self.key(group, member), fields)

    def waits(self, member: str, epoch: int, text: str = "", previous: int | None = None) -> Op:
        return self.owns(member, epoch, text, previous=previous, state="unreleased")

    def topics(self, *, set_up: str = "", deleting: str = "", **counts: int) -> Op:
        """Topics of a consumer group, to 4.0, or the initialized ones of a share group, with so many partitions.
        `set_up`: partitions whose share state is being set up."""
        named = [{"topic_id": topic_id(name), "topic_name": name} for name in counts]
        if self.name == "consumer":
            rows = [{**each, "num_partitions": counts[each["topic_name"]], "partition_metadata": []} for each in named]
            return op(self.listed, self.key("g"), {"topics": rows})
        rows = [{**each, "partitions": list(range(counts[each["topic_name"]]))} for each in named]
        fields: dict[str, Any] = {
            "initializing_topics": [{**each, "topic_name": each["topic_id"][0]} for each in by_id(set_up)],
            "initialized_topics": rows,
            "deleting_topics": [{"topic_id": topic_id(name), "topic_name": name} for name in deleting],
        }
        return op(self.listed, self.key("g"), fields)

    def topology(self, number: int, *sources: str) -> Op:
        """Of the subtopologies 0, 1, …; what stands in brackets is a repartition topic: "t [u]"."""
        parts = [
            {
                "subtopology_id": str(part), "source_topics": [each for each in text.split() if each[0] != "["],
                "source_topic_regex": [], "state_changelog_topics": [], "repartition_sink_topics": [],
                "repartition_source_topics": [
                    {"name": each[1:-1], "partitions": 1, "replication_factor": 1, "topic_configs": []}
                    for each in text.split() if each[0] == "["
                ],
                "copartition_groups": [],
            }
            for part, text in enumerate(sources)
        ]  # fmt: skip
        return op(self.listed, self.key("g"), {"epoch": number, "subtopologies": parts})

    def pattern(self, regex: str, topics: str) -> Op:
        """What a regular expression of a consumer group's members matches."""
        key = {"group_id": "g", "regular_expression": regex}
        return op(16, key, {"topics": list(topics), "version": 7, "timestamp": 0})

    def gone(self, number: int, member: str | None = None, group: str = "g") -> Op:
        key = {"group_id": group, "regular_expression": member} if number == 16 else self.key(group, member)
        return op(number, key, None)

    def left(self, member: str, group: str = "g") -> list[Op]:
        return [self.gone(each, member, group) for each in (self.of_current, self.of_target, self.of_member)]

    def deleted(self, group: str = "g") -> list[Op]:
        numbers = (self.of_done, self.listed, self.of_epoch)
        return [self.gone(each, group=group) for each in (numbers if self.name != "streams" else (*numbers[::2], 23))]


def tasks(text: str, suffix: str = "") -> dict[str, Lists]:
    result: dict[str, Lists] = {}
    for role, some in zip(ROLES, [*text.split("/"), "", "", ""], strict=False):
        by_part: dict[str, list[int]] = {}
        for each in some.split():
            part, _, partition = each.partition("_")
            by_part.setdefault(part, []).append(int(partition))
        result[f"{role}_tasks{suffix}"] = [
            {"subtopology_id": part, "partitions": all_} for part, all_ in by_part.items()
        ]
    return result


consumer: Final = Kind("consumer", 3, 4, 5, 6, 7, 8)
share: Final = Kind("share", 11, 15, 10, 12, 13, 14)
streams: Final = Kind("streams", 17, 23, 19, 20, 21, 22)
KINDS: Final[Sequence[Kind]] = (consumer, share, streams)
