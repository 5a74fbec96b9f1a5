"""Stores the state of a consumer, share or streams group between runs, as JSON."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from schemas.words.records import GroupType
from udfs.assignors.questions import Topic
from udfs.groups.history import change_details
from udfs.groups.history.change_details import Change
from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.history.unclear_details import HowLeft, settle_detail
from udfs.groups.modern.notes import count_assignor, count_member
from udfs.groups.modern.owners import place_partitions, set_stop, together
from udfs.groups.readers.modern_values import About, BeingSetUp, Topics, Topology
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Share, Tasks, has_some
from udfs.groups.states.modern import Base, Cause, Member, Modern, Placed, Rebalance, Standing, Start, Stop
from udfs.topics.partition_codes import TopicCodes

# Fields that JSON can store as they are.
PLAIN = (
    "group_type", "epoch", "target_epoch", "metadata_hash", "validated_topology_epoch", "is_partial", "is_created",
    "former_type", "assignor", "generation", "reported_target", "assignment_offset", "causes", "carried", "incomplete",
)  # fmt: skip
# Names in stored states, where they differ: states of older releases must stay readable.
STORED_NAMES = {"reported_target": "told_target"}
STORED = {name: STORED_NAMES.get(name, name) for name in PLAIN}
OF_REBALANCE = tuple(field.name for field in fields(Rebalance))
NO_TEXTS: Mapping[int, str | None] = {}


def plain(now: Modern, topics: TopicCodes) -> dict[str, Any]:
    counts = {} if now.topics is None else now.topics.counts()
    return {
        **{stored: getattr(now, name) for name, stored in STORED.items()},
        "topology": now.topology,
        "topics": [list(counts), list(counts.values())],
        "being_set_up": [] if now.topics is None else now.topics.being_set_up,
        "configs": now.configs,
        "patterns": now.patterns,
        "members": {each: plain_member(now, member, topics) for each, member in now.members.items()},
        "targets": {each: plain_roles(share, topics) for each, share in now.targets.items()},
        "base": {
            each: [base.group_instance_id, topics.plain(base.assigned), base.is_restarted]
            for each, base in now.base.items()
        },
        "start": now.start,
        "rebalance": None if now.rebalance is None else {each: getattr(now.rebalance, each) for each in OF_REBALANCE},
        "stops": [[topics.plain(tps), role, *stop] for role, tps, stop in together(now.stops.items())],
    }


def from_plain(state: dict[str, Any], topics: TopicCodes) -> Modern:
    now = Modern(
        GroupType[state["group_type"].upper()],
        **{name: state[stored] for name, stored in STORED.items() if name != "group_type"},
    )
    if state["topology"] is not None:
        epoch, sources = state["topology"]
        now.topology = Topology(epoch, {each: tuple(names) for each, names in sources.items()})
    now.topics = Topics(
        tuple(Topic(name, count or 0) for name, count in zip(*state["topics"], strict=True)),
        # States of older releases have none.
        being_set_up=tuple(
            BeingSetUp(topic, topic_id, tuple(numbers)) for topic, topic_id, numbers in state.get("being_set_up", ())
        ),
    )
    now.configs = None if state["configs"] is None else tuple((name, value) for name, value in state["configs"])
    now.carried = [change_details.from_plain(each) for each in now.carried]
    now.causes = [
        Cause(epoch, trigger, Start(*start), [change_details.from_plain(each) for each in changes])
        for epoch, trigger, start, changes in now.causes
    ]
    now.patterns = {each: tuple(names) for each, names in state["patterns"].items()}
    now.targets = {each: from_plain_roles(share, topics) for each, share in state["targets"].items()}
    now.base = {
        each: Base(instance, topics.from_plain(tps), is_restarted)
        for each, (instance, tps, is_restarted) in state["base"].items()
    }
    now.start = None if state["start"] is None else Start(*state["start"])
    if state["rebalance"] is not None:
        now.rebalance = Rebalance(**{**state["rebalance"], "start": Start(*state["rebalance"]["start"])})
    for tps, role, *values in state["stops"]:
        stop = Stop(*values)
        set_stop(now, role, topics.from_plain(tps), stop._replace(end=ReadingEnd(*stop.end)))
    now.members = {each: from_plain_member(now, member, topics) for each, member in state["members"].items()}
    count(now)
    return now


def count(now: Modern) -> None:
    """Restores what is counted as records are read."""
    now.assignors = Counter()
    for member_id, member in now.members.items():
        count_assignor(now, member.about, 1)
        count_member(now, member_id, member)
    now.with_tasks = {member_id for member_id, share in now.targets.items() if has_some(share)}


def plain_member(now: Modern, member: Member, topics: TopicCodes) -> dict[str, Any]:
    return {
        "about": member.about,
        "epoch": member.epoch,
        "state": member.state,
        "since": member.since,
        "before_gone": member.before_gone,
        "assigned": plain_roles(member.assigned, topics),
        "pending": plain_roles(member.pending, topics),
        # If records are missing, other members may own what its own record names.
        "shown": None
        if member.shown == place_partitions(now, member, topics)
        else [[*key, topics.plain(tps)] for key, tps in member.shown.items()],
    }


def from_plain_member(now: Modern, state: dict[str, Any], topics: TopicCodes) -> Member:
    gone = state["before_gone"]
    member = Member(
        about=None if state["about"] is None else about_from_plain(state["about"]),
        epoch=state["epoch"],
        state=state["state"],
        since=state["since"],
        assigned=from_plain_roles(state["assigned"], topics),
        pending=from_plain_roles(state["pending"], topics),
        before_gone=None if gone is None else Standing(*gone),
    )
    shown: Placed = {(phase, role): topics.from_plain(tps) for phase, role, tps in state["shown"] or ()}
    member.shown = place_partitions(now, member, topics) if state["shown"] is None else shown
    return member


def about_from_plain(values: Iterable[Any]) -> About:
    about = About(*values)
    return about._replace(topics=None if about.topics is None else tuple(about.topics))


def with_answers(state: str, left: HowLeft, details: Mapping[int, str | None] = NO_TEXTS) -> str:
    """Adds to a stored state what no later run can find out: how members left, and `details` that commits changed."""
    stored = json.loads(state)
    now = stored["now"]
    if stored["kind"] == "classic":
        now["idle"] = [[settled_end(end, left), tps] for end, tps in now["idle"]]
    elif stored["kind"] == "modern":
        now["stops"] = [[tps, role, *settled_stop(Stop(*stop), left)] for tps, role, *stop in now["stops"]]
        now["carried"] = settled_changes(now["carried"], left)
        now["causes"] = [[*of, settled_changes(changes, left)] for *of, changes in now["causes"]]
        rebalance = now["rebalance"]
        if rebalance is not None and rebalance["assignment_offset"] in details:
            rebalance["detail"] = details[rebalance["assignment_offset"]]
    return json.dumps(stored, separators=(",", ":"))


def settled_stop(stop: Stop, left: HowLeft) -> Stop:
    """`stop`: in the form for JSON."""
    return stop._replace(end=settled_end(stop.end, left))


def settled_end(values: Iterable[Any], left: HowLeft) -> ReadingEnd:
    end = ReadingEnd(*values)
    if end.silent_id is None or end.silent_offset is None:
        return end
    return end.settle(left.get((end.silent_id, end.silent_offset)))


def settled_changes(changes: Iterable[list[Any]], left: HowLeft) -> list[Change]:
    return [settle_detail(change_details.from_plain(each), left) for each in changes]


def plain_roles(by_role: ByRole, topics: TopicCodes) -> list[Any]:
    """Tasks are stored by subtopology and partition, partitions by topic."""
    return [
        [role, share.plain(topics) if isinstance(share, Partitions) else share.listed]
        for role, share in by_role.items()
    ]


def from_plain_roles(roles: list[Any], topics: TopicCodes) -> ByRole:
    return {role: share_of(role, listed, topics) for role, listed in roles}


def share_of(role: str | None, listed: list[Any], topics: TopicCodes) -> Share:
    if role is None:
        return Partitions.from_plain(listed, topics)
    return Tasks((subtopology, partition) for subtopology, partition in listed)
