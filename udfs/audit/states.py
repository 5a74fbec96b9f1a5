"""How the audit stores groups between runs: in `recomputed_groups.state`, a JSON object with a format number and a part
for each fold that remembers the group."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.words.history import TaskRole
from udfs.audit.checks.results import Trial
from udfs.audit.classic_generations import KEPT, Before, Generation
from udfs.audit.modern.group import ModernGroup, Watch
from udfs.audit.upgrades import ClassicMemberSummary, ClassicValueSummary, State
from udfs.groups.readers.client_libraries import ANY_LIBRARY
from udfs.groups.readers.modern_values import About, Topics
from udfs.groups.readers.recorded_lists import ByRole, Partitions, Tasks, partitions_of
from udfs.groups.states.modern import Member
from udfs.stored.codec import Codec, Form
from udfs.topics.partition_codes import TopicCodes

# Count it up if a stored form changes by more than fields with defaults, and convert the form before. The basis of a
# run (`STATE` in jobs/recomputing) is another thing: it makes the next run begin anew.
FORMAT = 1
FORMAT_FIELD = "format"
# By part of a state, what its fold remembers of a group.
PARTS: Mapping[str, type] = {"classic": Before, "modern": ModernGroup, "upgrades": State}
PLAIN_OF_MODERN = (
    *("group_type", "missing", "epoch", "metadata_hash", "target_epoch", "names", "inferred", "is_cut", "room"),
    *("targets", "patterns", "variant", "newest"),
)
STORED: Mapping[type, Sequence[str]] = {
    Generation: KEPT,
    ModernGroup: (*PLAIN_OF_MODERN, "watch", "members", "base", "topics", "inputs", "trials"),
    Watch: ("renamed", "issues", "faults"),
    Member: ("about", "epoch", "assigned", "pending"),
    About: ("group_instance_id", "rack_id", "topics", "regex", "assignor", "is_classic"),
    Topics: ("topics", "assignable", "is_early"),
    Trial: ("num_equal", "num_unequal"),
}

Plain = dict[str, Any]


class NewerFormat(Exception):
    """A newer release stored the state."""


def group_codec(codes: TopicCodes) -> Codec:
    """`codes`: of the fold that follows the group."""
    return Codec(
        stored=STORED,
        forms={ByRole: Form(lambda share: plain_share(share, codes), lambda plain: share_of(plain, codes))},
        once=(About, ByRole, Topics),
    )


def plain_share(share: ByRole, codes: TopicCodes) -> Any:
    """Topics by id with their partitions, in the record's order; of streams groups the active tasks."""
    tasks = share.get(TaskRole.ACTIVE)
    if isinstance(tasks, Tasks):
        return {"tasks": tasks.listed}
    return [[topic_id, partitions] for _, topic_id, partitions in partitions_of(share).plain(codes)]


def share_of(plain: Any, codes: TopicCodes) -> ByRole:
    if isinstance(plain, Mapping):
        return {TaskRole.ACTIVE: Tasks((subtopology, partition) for subtopology, partition in plain["tasks"])}
    return {None: Partitions.from_plain([(None, topic_id, partitions) for topic_id, partitions in plain], codes)}


def text_of(parts: Mapping[str, Plain]) -> str:
    return json.dumps({FORMAT_FIELD: FORMAT, **parts}, separators=(",", ":"))


def parts_of(group_id: str, text: str) -> dict[str, Plain]:
    parts: dict[str, Plain] = json.loads(text)
    number: Any = parts.pop(FORMAT_FIELD, 0)
    if number > FORMAT:
        raise NewerFormat(
            f"group {group_id}: a newer release stored its state, in format {number}; this one reads formats up to "
            f"{FORMAT}. Use the newer release, or recompute everything: groupscope assignments --full"
        )
    if not number:
        return {part: CONVERSIONS[part](group_id, plain) for part, plain in parts.items()}
    return parts


class GroupStates:
    """The states that earlier runs stored, by group id. Each fold reads its own part, of the groups that it meets."""

    def __init__(self, texts: Mapping[str, str], codes: TopicCodes) -> None:
        """`codes`: of the fold that follows consumer, share and streams groups."""
        self.texts = texts
        self.codec = group_codec(codes)
        self.read: dict[str, dict[str, Plain]] = {}

    def parts(self, group_id: str) -> dict[str, Plain]:
        if group_id not in self.read:
            self.read[group_id] = parts_of(group_id, self.texts[group_id]) if group_id in self.texts else {}
        return self.read[group_id]

    def of_fold(self, part: str) -> "StatesOfFold":
        return StatesOfFold(self, part)

    def texts_after(self, states: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
        """`states`: by part, of the groups that its fold met. What a fold remembers of a group stays until it meets the
        group. None: nothing is left to remember."""
        texts: dict[str, str | None] = {}
        for group_id in sorted({group_id for each in states.values() for group_id in each}):
            before, parts = self.parts(group_id), {}
            for part, kind in PARTS.items():
                met = states.get(part, {})
                if group_id not in met and part in before:
                    parts[part] = before[part]
                elif met.get(group_id) is not None:
                    parts[part] = self.codec.plain(kind, met[group_id])
            texts[group_id] = text_of(parts) if parts else None
        return texts


@dataclass
class StatesOfFold(Mapping[str, Any]):
    """Of groups that have this part."""

    states: GroupStates
    part: str

    def __getitem__(self, group_id: str) -> Any:
        return self.states.codec.value(PARTS[self.part], self.states.parts(group_id)[self.part])

    def get(self, group_id: str, default: Any = None) -> Any:
        """The mapping's own would take a state that cannot be read for one that is not there."""
        return self[group_id] if self.part in self.states.parts(group_id) else default

    def __iter__(self) -> Iterator[str]:
        return (group_id for group_id in self.states.texts if self.part in self.states.parts(group_id))

    def __len__(self) -> int:
        return sum(1 for _ in self)


# Format 0, without a number.


def classic_of_0(group_id: str, plain: Plain) -> Plain:
    ids, instances, racks, versions, classes = list(zip(*plain["members"], strict=True)) or [()] * 5
    generation = {
        "group_id": group_id,
        **{name: plain[name] for name in ("offset", "time", "protocol_type", "protocol", "topics")},
        **{"number": plain["generation"], "members": list(ids), "instances": list(instances), "racks": list(racks)},
        **{"versions": versions, "class_of_member": classes, "topics_of_class": plain["subscriptions"]},
        "assigned": dict(zip(("members", "topics", "partitions"), plain["assigned"], strict=True)),
    }
    kept = {name: plain[name] for name in ("counts", "source", "line", "reason", "is_repeat")}
    return {"generation": generation, **kept}


def modern_of_0(group_id: str, plain: Plain) -> Plain:
    """What was equal to the group's present state was None. Older releases stored no inputs and no trials."""
    targets, patterns, topics = plain["targets"], plain["patterns"], topics_of_0(plain["listed"])
    members = {each: dict(zip(STORED[Member], values, strict=True)) for each, *values in plain["members"]}

    def as_now(of: Mapping[str, Any]) -> Plain:
        return {each: targets[each] if target is None else target for each, target in of.items()}

    return {
        **{name: plain[name] for name in PLAIN_OF_MODERN if name in plain},
        "watch": dict(zip(STORED[Watch], plain["watch"], strict=True)),
        "members": members,
        "base": as_now(plain["base"]),
        "topics": topics,
        "inputs": [
            [
                epoch,
                {each: members[each]["about"] if about is None else about[0] for each, about in abouts},
                *own[:3],
                as_now(own[3]),
                patterns if own[4] is None else own[4],
                topics if own[5] is None else topics_of_0(own[5][0]),
            ]
            for epoch, abouts, *own in plain.get("inputs", ())
        ],
        "trials": {
            name: dict(zip(STORED[Trial], numbers, strict=True)) for name, numbers in plain.get("trials", {}).items()
        },
    }


def topics_of_0(plain: Any) -> Any:
    if plain is None:
        return None
    names = ("name", "partitions", "topic_id", "racks")
    return [[dict(zip(names, topic, strict=True)) for topic in plain[0]], *plain[1:]]


def upgrades_of_0(group_id: str, plain: Plain) -> Plain:
    """Releases before that stored a flag in the place of the libraries."""
    if plain["classic"] is not None:
        at = ClassicMemberSummary._fields.index("libraries")
        for member in plain["classic"][ClassicValueSummary._fields.index("members")]:
            if isinstance(member[at], bool):
                member[at] = int(ANY_LIBRARY)
    return plain


CONVERSIONS: Mapping[str, Callable[[str, Plain], Plain]] = {
    "classic": classic_of_0,
    "modern": modern_of_0,
    "upgrades": upgrades_of_0,
}
