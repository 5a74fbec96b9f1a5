"""A classic group as its newest value has it, and what is remembered of it between operations."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue, Tps
from udfs.groups.states.kip429_sets import union
from udfs.topics.partition_codes import TopicCodes

GROUP_TYPE = "classic"


@dataclass
class Classic:
    """The known state of a classic group: its newest value."""

    value: ClassicValue
    offset: int
    leader_epoch: int
    # History time.
    time: int | None = None
    # For partitions without an owner that had one: when that one stopped reading.
    idle: dict[int, ReadingEnd] = field(default_factory=dict)
    # By member: partitions that it still owns and was asked to give up.
    revoking: dict[str, Tps] = field(default_factory=dict)
    # A conversion wrote the value, without a join phase.
    is_copied: bool = False

    group_type: ClassVar[str] = GROUP_TYPE

    @cached_property
    def members(self) -> dict[str, ClassicMember]:
        """By id."""
        return {member.member_id: member for member in self.value.members}

    @cached_property
    def assigned_partitions(self) -> Tps:
        """Partitions assigned to any member."""
        return union([member.assigned for member in self.value.members])

    def plain(self, topics: TopicCodes) -> dict[str, Any]:
        """In the form for JSON. Claims matter only to their own rebalance, and the ledger has the clients."""
        members = [
            (each.member_id, each.group_instance_id, each.rebalance_timeout_ms, each.session_timeout_ms, each.topics,
             None if each.assigned is None else topics.plain(each.assigned))
            for each in self.value.members
        ]  # fmt: skip
        idle: dict[ReadingEnd, list[int]] = {}
        for tp, end in self.idle.items():
            idle.setdefault(end, []).append(tp)
        return {
            "value": [*self.value[:-1], members],
            "offset": self.offset,
            "leader_epoch": self.leader_epoch,
            "time": self.time,
            "idle": [(end, topics.in_order(tps)) for end, tps in idle.items()],
            "revoking": {member_id: topics.plain(tps) for member_id, tps in self.revoking.items()},
            "is_copied": self.is_copied,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any], topics: TopicCodes) -> "Classic":
        *head, plain_members = plain["value"]
        members = []
        for member_id, instance_id, rebalance_timeout_ms, session_timeout_ms, names, assigned in plain_members:
            members.append(
                ClassicMember(
                    member_id=member_id,
                    group_instance_id=instance_id,
                    client_id=None,
                    client_host=None,
                    rebalance_timeout_ms=rebalance_timeout_ms,
                    session_timeout_ms=session_timeout_ms,
                    topics=None if names is None else tuple(names),
                    claimed=None,
                    generation_id=None,
                    rack_id=None,
                    assigned=None if assigned is None else topics.from_plain(assigned),
                )
            )
        idle = {
            tp: end for values, tps in plain["idle"] for end in [ReadingEnd(*values)] for tp in topics.from_plain(tps)
        }
        value = ClassicValue._make([*head, tuple(members)])
        revoking = {member_id: topics.from_plain(tps) for member_id, tps in plain["revoking"].items()}
        return cls(value, plain["offset"], plain["leader_epoch"], plain["time"], idle, revoking, plain["is_copied"])
