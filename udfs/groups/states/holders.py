"""Which members own each partition of a consumer, share or streams group: one, except in share groups, for standby
tasks, and where a log contradicts itself."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from udfs.groups.history.intervals import OwnerStretch

NOBODY: tuple[str, ...] = ()


@dataclass(slots=True)
class Holders:
    # By role and partition, in the order in which they got it.
    by_role: dict[str | None, dict[int, tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, stretches: Iterable[OwnerStretch]) -> "Holders":
        holders = cls()
        for each in stretches:
            holders.add(each.role, each.tp, each.member_id)
        return holders

    def add(self, role: str | None, tps: Iterable[int], member_id: str) -> None:
        of_role, only = self.by_role.setdefault(role, {}), (member_id,)
        for tp in tps:
            before = of_role.get(tp)
            of_role[tp] = only if before is None else before + only

    def remove(self, role: str | None, tps: Iterable[int], member_id: str) -> None:
        of_role, only = self.by_role.get(role, {}), (member_id,)
        for tp in tps:
            before = of_role.pop(tp, NOBODY)
            if before != only and (others := tuple(each for each in before if each != member_id)):
                of_role[tp] = others

    def others(self, role: str | None, tp: int, member_id: str) -> list[str]:
        return [each for each in self.by_role.get(role, {}).get(tp, NOBODY) if each != member_id]

    def held(self, role: str | None, tps: frozenset[int], member_id: str) -> frozenset[int]:
        """Those of these partitions that the member owns."""
        of_role = self.by_role.get(role, {})
        return frozenset(tp for tp in tps if member_id in of_role.get(tp, NOBODY))

    def unheld(self, role: str | None, tps: frozenset[int]) -> frozenset[int]:
        """Those of these partitions that no member owns."""
        return tps.difference(self.by_role.get(role, ()))
