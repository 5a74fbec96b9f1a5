"""Follows who owns what in a consumer group, record by record, and finds signs of known defects in between."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from udfs.audit.defects.member_records.record_defects import (
    changed_assignor,
    classic_alone,
    cleared_pattern,
    inherited_instance,
    kept_pattern,
    owned_twice,
    unsubscribed_defect,
    waits_for_itself,
)
from udfs.groups.readers.modern_values import UNRELEASED, About, Current
from udfs.groups.readers.recorded_lists import ByRole, partitions_of
from udfs.topics.partition_codes import TopicCodes

MOST_KEPT = 10


@dataclass
class Watch:
    # It follows from what the members have, so it need not be stored.
    owners: dict[int, set[str]] = field(default_factory=dict)
    # Static ids that members changed, by the member that had them.
    renamed: dict[str, str] = field(default_factory=dict)
    # Since the newest target: issues, and partitions that two members owned at the same time.
    issues: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def move(self, member_id: str, had: Iterable[int], has: Iterable[int]) -> None:
        for tp in had:
            self.owners.get(tp, set()).discard(member_id)
        for tp in has:
            self.owners.setdefault(tp, set()).add(member_id)

    def note(self, issue: str | None) -> None:
        if issue is not None and issue not in self.issues:
            self.issues.append(issue)

    def forget(self) -> None:
        self.issues.clear()
        self.faults.clear()


@dataclass
class Change:
    """A member's type 5 record in an operation: its previous subscription, and the static member that it replaces."""

    before: About | None
    replaced: About | None


def watch_changes(
    watch: Watch, changes: Mapping[str, Change], abouts: Mapping[str, About | None], is_bumped: bool
) -> None:
    for member_id, change in changes.items():
        now = abouts.get(member_id)
        if now is None:
            continue
        watch.note(kept_pattern(now))
        watch.note(cleared_pattern(change.before, now, is_bumped))
        watch.note(changed_assignor(change.replaced, now, is_bumped))
        watch.note(classic_alone(change.replaced, now, list(abouts.values())))
        if change.before is None:
            watch.note(inherited_instance(watch.renamed, member_id, now, abouts))
        elif change.before.group_instance_id not in (None, now.group_instance_id):
            watch.renamed[str(change.before.group_instance_id)] = member_id


def watch_owned(
    watch: Watch,
    member_id: str,
    owned: Current,
    had: Iterable[int],
    epoch_of: Callable[[str], int | None],
    codes: TopicCodes,
) -> None:
    """`had`: what the member had before; `epoch_of`: the epochs of the group's members."""
    for tp in sorted(all_partitions(owned.assigned, owned.pending).difference(had)):
        for other in sorted(watch.owners[tp] - {member_id}):
            epoch = epoch_of(other)
            if epoch is not None and len(watch.faults) < MOST_KEPT:
                watch.faults.append(f"{codes.partition_text(tp)}: owned by {other} and {member_id} at once")
                watch.note(owned_twice(owned.epoch, epoch))


def watch_needs(
    watch: Watch, member_id: str, owned: Current, about: About | None, target: ByRole, names: Iterable[str | None]
) -> None:
    """`names`: of the topics that it was assigned. A state that is inferred proves no defect."""
    watch.note(unsubscribed_defect(list(names), about))
    if owned.state == UNRELEASED and not owned.is_state_inferred:
        missing = all_partitions(target) - all_partitions(owned.assigned)
        owners = [owner for tp in missing for owner in watch.owners.get(tp) or (None,)]
        watch.note(waits_for_itself(owned.state, owners, member_id))


def all_partitions(*shares: ByRole) -> frozenset[int]:
    """All partitions of them. Streams groups have none."""
    return frozenset().union(*(partitions_of(share).tps for share in shares))
