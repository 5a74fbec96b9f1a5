"""One step of a classic group, from one value to the next, as the modules of the replay pass it on."""

from dataclasses import dataclass, field

from udfs.groups.readers.classic_records import NOTHING, ClassicMember, Tps
from udfs.groups.readers.records import Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.group import Group


@dataclass(slots=True)
class Round:
    group: Group
    # None: there was no group, or nothing is known of it.
    before: Classic | None
    now: Classic
    # The record of the newest value.
    record: Record
    at: Moment
    # The end of the join phase. By then members gave up what they do not claim.
    stop: int | None
    # Whether the value records that moment.
    has_stop: bool
    # No record of the group can be missing between the two values.
    is_exact: bool
    # Old id to new id, of static members that came back under another id.
    replaced: dict[str, str]
    # Generations of values in between, in the same operation.
    passed: frozenset[int] = frozenset()
    members_before: dict[str, ClassicMember] = field(default_factory=dict)
    members_now: dict[str, ClassicMember] = field(default_factory=dict)
    # First record that shows it.
    first_offset: int = 0

    @property
    def had(self) -> Tps:
        """Partitions assigned to any member by the previous value."""
        return NOTHING if self.before is None else self.before.assigned_partitions

    def previous(self, member_id: str) -> Tps | None:
        """What the previous value assigned to the member."""
        member = self.members_before.get(member_id)
        return NOTHING if member is None else member.assigned


def replaced_ids(before: dict[str, ClassicMember], now: dict[str, ClassicMember]) -> dict[str, str]:
    """Old id to new id, of static members of which only the id changed."""
    if before.keys() == now.keys():
        return {}
    fresh = {
        member.group_instance_id: member.member_id
        for member in now.values()
        if member.group_instance_id is not None and member.member_id not in before
    }
    if not fresh:
        return {}
    return {
        member.member_id: fresh[member.group_instance_id]
        for member in before.values()
        if member.group_instance_id in fresh and member.member_id not in now
    }


def milliseconds(first: int | None, last: int | None) -> int | None:
    return None if first is None or last is None else max(0, last - first) // 1000
